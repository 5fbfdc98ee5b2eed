import HearthBase

/// Turns with tool calls.
extension LanguageModelSession {
    /// Generates messages and runs their tool calls, until a message has none.
    /// - Parameters:
    ///   - messages: the conversation, which receives the messages of the turn, with the text of a failed one.
    ///   - watch: started with the request; the time-out and the time to the first token include its waiting.
    /// - Returns: the facts of the whole turn.
    func runTurn(
        _ messages: inout [ChatMessage], _ options: GenerationOptions, since watch: Stopwatch,
        _ yield: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        var options = options
        let timeout = options.timeout
        options.tools = options.constraint?.coversAnswer == true ? [] : try toolBox.definitions
        var turn: GenerationSummary?
        var left = Self.maximumToolCalls
        while true {
            let start = messages.count
            let waited = watch.elapsed
            options.timeout = max(.zero, timeout - waited)
            let (ended, calls) = try await generateMessage(&messages, options, yield)
            var summary = ended
            summary.timings.firstTokenSeconds += waited.seconds
            let facts = turn?.followed(by: summary) ?? summary
            if calls.isEmpty { return facts }
            turn = facts
            do {
                guard calls.count <= left else { throw Self.tooManyCalls }
                left -= calls.count
                for call in calls {
                    let result = try await decideAndRun(call)
                    messages.append(ChatMessage(result: result, of: call))
                    yield(.toolResult(call, content: result))
                }
            } catch {
                // Templates require a result for each call: the text is kept, and the calls are dropped.
                let said = messages[start].content
                messages.removeSubrange(start...)
                if !said.isEmpty { messages.append(ChatMessage(.assistant, said)) }
                throw error
            }
        }
    }

    private static var tooManyCalls: LLMError {
        LLMError(
            .tooManyToolCalls, "the model called tools more than \(Self.maximumToolCalls) times instead of answering",
            context: ErrorContext(remedy: "Ask for less at once, or say in the instructions when to stop."))
    }

    private func decideAndRun(_ call: ToolCall) async throws -> String {
        switch await approval?(call) ?? .run {
        case .run: try await toolBox.run(call)
        case .replace(let other): try await toolBox.run(other)
        case .deny(let reason): ToolBox.failure("the call was denied: \(reason)")
        }
    }

    /// Generates one message and appends it, also if the generation failed. Calls of a failed message are dropped.
    private func generateMessage(
        _ messages: inout [ChatMessage], _ options: GenerationOptions,
        _ yield: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> (summary: GenerationSummary, calls: [ToolCall]) {
        let message = Locked(ChatMessage(.assistant, ""))
        defer {
            let said = message.withLock { $0 }
            if !said.content.isEmpty || !said.toolCalls.isEmpty { messages.append(said) }
        }
        do {
            let summary = try await engine.generate(messages, options: options) { event in
                switch event {
                case .text(let piece): message.withLock { $0.content += piece }
                case .thinking(let piece): message.withLock { $0.thinking += piece }
                case .toolCall(let call): message.withLock { $0.toolCalls.append(call) }
                default: break
                }
                yield(event)
            }
            return (summary, message.withLock { $0.toolCalls })
        } catch {
            message.withLock { $0.toolCalls = [] }
            throw error
        }
    }
}
