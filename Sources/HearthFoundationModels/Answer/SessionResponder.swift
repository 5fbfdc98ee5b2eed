import HearthBase
import HearthInference

/// Answers the requests of sessions with an engine.
///
/// ```
///  request ── work ──> engine ── events ──> writer ── actions ──> channel
///     schema and tools: the engine first decides whether to call one. At the first word of free text it is stopped, and
///     answers again in the shape of the schema. That prompt describes no tools, and is computed apart.
/// ```
package struct SessionResponder: Sendable {
    private let engine: any InferenceEngine
    private let timeout: Duration

    /// - Parameter timeout: the time of one answer, which a session's request does not have.
    package init(_ engine: any InferenceEngine, timeout: Duration) {
        self.engine = CheckedCallEngine(TextToolEngine(engine))
        self.timeout = timeout
    }

    /// Answers a request, and sends its actions one after the other.
    /// - Throws: ``RequestFailure``, other errors of the engine; `CancellationError`.
    package func respond(
        to request: SessionRequest, _ writer: AnswerWriter, _ send: @Sendable (ChannelAction) async -> Void
    ) async throws {
        let window = try await engine.modelInformation.contextLength
        do {
            let work = try request.work(try await engine.capabilities, timeout: timeout)
            let summary = try await perform(work, writer, send)
            if let failure = Self.failure(of: summary, window: window) { throw failure }
        } catch {
            throw RequestFailure.of(error, window: window, pictures: request.pictures)
        }
    }

    /// Loads the model and computes the known part of the next prompt. Errors are those of the next answer.
    package func prepare(_ entries: [TranscriptEntry]) async {
        do {
            let abilities = try await engine.capabilities
            var messages = try TranscriptReader.messages(of: entries, readsPictures: abilities.contains(.vision))
            if messages.last?.role != .user { messages.append(ChatMessage(.user, "")) }
            var options = GenerationOptions()
            for case .instructions(_, let tools) in entries.map(\.content) { options.tools = tools }
            try await engine.reader.prepare(messages, options: options)
        } catch {
            Log.write(.debug, "session", "could not prepare an answer: \(error)")
        }
    }

    private func perform(
        _ work: SessionRequest.Work, _ writer: AnswerWriter, _ send: @Sendable (ChannelAction) async -> Void
    ) async throws -> GenerationSummary {
        var writer = writer
        var options = work.options
        if let shape = work.shapeAfterCalls {
            let summary = try await pass(work.messages, options, &writer, send, stopsAtText: true)
            if let summary, writer.hasCalls { return summary }
            options.tools = []
            options.constraint = shape
            if writer.hasReasoning { options.thinking.isEnabled = false }
        }
        guard let summary = try await pass(work.messages, options, &writer, send, stopsAtText: false) else {
            throw CancellationError()
        }
        return summary
    }

    /// One run of the engine.
    /// - Parameter stopsAtText: whether the run ends at the first word of free text, which is not sent.
    /// - Returns: the facts of the answer; `nil` if the run was ended for its text.
    private func pass(
        _ messages: [ChatMessage], _ options: GenerationOptions, _ writer: inout AnswerWriter,
        _ send: @Sendable (ChannelAction) async -> Void, stopsAtText: Bool
    ) async throws -> GenerationSummary? {
        let (events, feed) = AsyncThrowingStream<GenerationEvent, any Error>.makeStream()
        let run = Task { [engine] in
            do {
                feed.yield(.finish(try await engine.generate(messages, options: options) { feed.yield($0) }))
                feed.finish()
            } catch {
                feed.finish(throwing: error)
            }
        }
        feed.endsWithItsReader { run.cancel() }
        var summary: GenerationSummary?
        for try await event in events {
            if stopsAtText {
                if case .text(let piece) = event {
                    if piece.allSatisfy(\.isWhitespace) { continue }
                    run.cancel()
                    // The next run begins when this one has left the engine.
                    await run.value
                    try Task.checkCancellation()
                    return nil
                }
                if case .finish = event, !writer.hasCalls { return nil }
            }
            if case .finish(let facts) = event { summary = facts }
            for action in try writer.actions(for: event) { await send(action) }
        }
        try Task.checkCancellation()
        return summary
    }

    /// The failure of an answer that a limit or a filter ended; `nil` for one that may be used.
    private static func failure(of summary: GenerationSummary, window: Int) -> (any Error)? {
        switch summary.reason {
        case .timedOut: RequestFailure.timeout("the answer took too long")
        case .contextFull:
            RequestFailure.contextSizeExceeded(
                size: window, tokens: summary.usage.promptTokens + summary.usage.generatedTokens,
                "the answer does not fit into the context window")
        case .contentFilter: RequestFailure.guardrailViolation("a filter of the provider ended the answer")
        case .interrupted:
            LLMError(.answerInterrupted, "the answer broke off", disposition: .tryLater)
        default: nil
        }
    }
}

extension SessionRequest {
    /// The places of the entries with pictures.
    fileprivate var pictures: [Int] {
        entries.indices.filter { place in
            switch entries[place].content {
            case .instructions(let segments, _), .prompt(let segments, _), .response(let segments),
                .toolOutput(let segments, _, _):
                segments.contains { if case .picture = $0 { true } else { false } }
            case .reasoning, .toolCalls, .other: false
            }
        }
    }
}
