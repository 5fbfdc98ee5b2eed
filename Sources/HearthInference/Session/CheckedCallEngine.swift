import HearthBase

/// Checks the finished calls of an engine's model against the schemas of their tools, where the model's grammar could
/// not hold them. A model whose call does not meet its schema is asked once more; a call that still does not is
/// delivered with the reason (``ToolCall/invalid``).
package struct CheckedCallEngine: InferenceEngine, ForwardingTokenReader {
    private let engine: any InferenceEngine
    private let time: TimeSource

    package init(_ engine: any InferenceEngine, time: TimeSource = .system) {
        self.engine = engine
        self.time = time
    }

    package var modelInformation: ModelInformation { get async throws { try await engine.modelInformation } }
    package var capabilities: EngineCapabilities { get async throws { try await engine.capabilities } }

    package func reading<Value: Sendable>(_ ask: (any TokenReader) async throws -> Value) async throws -> Value {
        try await ask(engine.reader)
    }

    package func generate(
        _ messages: [ChatMessage], options: GenerationOptions,
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        guard !options.tools.isEmpty else {
            return try await engine.generate(messages, options: options, onEvent: onEvent)
        }
        let watch = time.stopwatch()
        let said = Locked(ChatMessage(.assistant, ""))
        let first = try await engine.generate(messages, options: options) { event in
            switch event {
            case .toolCall(let call): said.withLock { $0.toolCalls.append(call) }
            case .text(let text):
                said.withLock { $0.content += text }
                onEvent(event)
            default: onEvent(event)
            }
        }
        var answer = said.withLock { $0 }
        let flaws = await CallCheck.flaws(of: answer.toolCalls, options.tools)
        guard !flaws.isEmpty else {
            for call in answer.toolCalls { onEvent(.toolCall(call)) }
            return first
        }
        let second = try await corrections(of: answer, flaws, messages, options, watch)
        var summary = first
        if let second {
            summary = first.followed(by: second.summary)
            summary.reason = first.reason
        }
        var others = second?.calls ?? []
        for index in answer.toolCalls.indices {
            guard let flaw = flaws[index] else { continue }
            let name = answer.toolCalls[index].name
            if let place = others.firstIndex(where: { $0.name == name }) {
                answer.toolCalls[index].arguments = others.remove(at: place).arguments
                answer.toolCalls[index].spelling = nil
            } else {
                answer.toolCalls[index].invalid = flaw
            }
        }
        for call in answer.toolCalls { onEvent(.toolCall(call)) }
        return summary
    }

    /// Asks the model for the calls with flaws again.
    /// - Returns: calls that meet their schemas; `nil` if the model could not be asked.
    private func corrections(
        of answer: ChatMessage, _ flaws: [Int: String], _ messages: [ChatMessage], _ options: GenerationOptions,
        _ watch: Stopwatch
    ) async throws -> (calls: [ToolCall], summary: GenerationSummary)? {
        var asked = answer
        asked.toolCalls = flaws.keys.sorted().map { answer.toolCalls[$0] }
        var options = options
        options.timeout -= watch.elapsed
        guard options.timeout > .zero else { return nil }
        options.toolChoice = asked.toolCalls.count == 1 ? .named(asked.toolCalls[0].name) : .required
        options.thinking.isEnabled = false
        options.continuesLastMessage = false
        options.tokenReports = nil
        // A seed would draw the same call again.
        options.sampling.seed = options.sampling.seed.map { $0 &+ 0x9E37_79B9 }
        let results = flaws.keys.sorted().map { index in
            let call = answer.toolCalls[index]
            return ChatMessage(
                result: ToolBox.failure("\(flaws[index] ?? ""). Call again with other arguments."), of: call)
        }
        let calls = Locked<[ToolCall]>([])
        do {
            // The beginning of an answer that was continued is part of that answer.
            let history = messages.last?.role == .assistant ? messages.dropLast() : messages
            let summary = try await engine.generate(history + [asked] + results, options: options) { event in
                if case .toolCall(let call) = event { calls.withLock { $0.append(call) } }
            }
            let found = calls.withLock { $0 }
            let again = await CallCheck.flaws(of: found, options.tools)
            return (found.enumerated().filter { again[$0.offset] == nil }.map(\.element), summary)
        } catch let error as CancellationError {
            throw error
        } catch {
            Log.write(.info, "tools", "the model could not be asked again for a call: \(error)")
            return nil
        }
    }
}

/// The check of finished calls.
enum CallCheck {
    /// The flaws of calls by their places: the reason why each one does not meet its tool's schema.
    static func flaws(of calls: [ToolCall], _ tools: [ToolDefinition]) async -> [Int: String] {
        guard !calls.isEmpty else { return [:] }
        // An expression may need some hundredths of a second.
        return await blocking {
            var flaws: [Int: String] = [:]
            for (index, call) in calls.enumerated() {
                guard let tool = tools.first(where: { $0.name == call.name }) else { continue }
                flaws[index] = flaw(of: call, tool)
            }
            return flaws
        }
    }

    private static func flaw(of call: ToolCall, _ tool: ToolDefinition) -> String? {
        let arguments = call.arguments.isEmpty ? "{}" : call.arguments
        // The model is told what is wrong, not at which byte.
        guard (try? JSONValue(parsing: arguments))?.members != nil else { return "the arguments are no JSON object" }
        guard let flaw = SchemaCheck(tool.parameters)?.flaw(in: arguments) else { return nil }
        let place = flaw.place.isEmpty ? "the arguments do" : "the value at \(flaw.place) does"
        return "\(place) not meet `\(flaw.keyword)` of the tool's schema"
    }
}
