import HearthBase

/// Answers, with the tools the model calls on the way.
extension LanguageModelSession {
    /// Lets the model answer, and run tools before if it wants to.
    func talk(
        _ messages: inout [ChatMessage], _ options: GenerationOptions, _ yield: (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        guard !toolBox.isEmpty, options.constraint == nil else {
            return try await speak(&messages, options, describing: ToolBox([]), yield).summary
        }
        if await model.callsTools { return try await talkCalling(&messages, options, yield) }
        let options = try toolBox.constraining(options)
        var left = Self.maximumToolCalls
        while true {
            let start = messages.count
            let (summary, call) = try await speak(&messages, options, describing: toolBox, yield)
            guard let call else { return summary }
            do {
                guard left > 0 else { throw Self.tooManyCalls }
                left -= 1
                messages.append(ToolBox.result(try await toolBox.run(spelled: call)))
            } catch {
                // No call is left without its result: what was said before it stays.
                let said = ToolBox.withoutCall(messages[start].content)
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

    /// With an engine that knows how its model calls tools.
    private func talkCalling(
        _ messages: inout [ChatMessage], _ options: GenerationOptions, _ yield: (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        var options = options
        options.tools = try toolBox.definitions
        var left = Self.maximumToolCalls
        while true {
            let start = messages.count
            let (summary, calls) = try await speakCalling(&messages, options, yield)
            if calls.isEmpty { return summary }
            do {
                guard calls.count <= left else { throw Self.tooManyCalls }
                left -= calls.count
                for call in calls { messages.append(ChatMessage(result: try await toolBox.run(call), of: call)) }
            } catch {
                // Templates want a result for each call: what was said stays, and the calls are forgotten.
                let said = messages[start].content
                messages.removeSubrange(start...)
                if !said.isEmpty { messages.append(ChatMessage(.assistant, said)) }
                throw error
            }
        }
    }

    /// One message of the model, added to the others; also what there is of one that failed.
    private func speakCalling(
        _ messages: inout [ChatMessage], _ options: GenerationOptions, _ yield: (GenerationEvent) -> Void
    ) async throws -> (summary: GenerationSummary, calls: [ToolCall]) {
        var said = ChatMessage(.assistant, "")
        var summary: GenerationSummary?
        defer { if !said.content.isEmpty || !said.toolCalls.isEmpty { messages.append(said) } }
        do {
            for try await event in model.generate(messages, options: options) {
                switch event {
                case .text(let piece):
                    said.content += piece
                    yield(event)
                case .toolCall(let call):
                    said.toolCalls.append(call)
                    yield(event)
                case .finish(let facts): summary = facts
                case .phase, .truncated, .picturesLeftOut, .thinking: yield(event)
                }
            }
            // A cancelled task sees its stream end early rather than throw.
            guard let summary else { throw CancellationError() }
            return (summary, said.toolCalls)
        } catch {
            said.toolCalls = []
            throw error
        }
    }

    /// One message of the model, added to the others; also what there is of one that failed, but never a part of a call.
    /// - Returns: its facts, and what it calls. A call that a limit cut short is none.
    private func speak(
        _ messages: inout [ChatMessage], _ options: GenerationOptions, describing box: ToolBox,
        _ yield: (GenerationEvent) -> Void
    ) async throws -> (summary: GenerationSummary, call: String?) {
        var said = ""
        var call: String?
        defer {
            if !box.isEmpty, call == nil { said = ToolBox.withoutCall(said) }
            if !said.isEmpty { messages.append(ChatMessage(.assistant, said)) }
        }
        var calls = StopStringMatcher(box.isEmpty ? [] : [ToolBox.opening])
        var summary: GenerationSummary?
        for try await event in model.generate(try box.describing(in: messages), options: options) {
            switch event {
            case .text(let piece):
                said += piece
                let shown = calls.append(piece)
                if !shown.isEmpty { yield(.text(shown)) }
            case .finish(let facts): summary = facts
            // What was thought is shown and then forgotten: templates want answers in the history, not drafts.
            case .phase, .truncated, .picturesLeftOut, .thinking, .toolCall: yield(event)
            }
        }
        // A cancelled task sees its stream end early rather than throw.
        guard let summary else { throw CancellationError() }
        let rest = calls.finish()
        if !rest.isEmpty { yield(.text(rest)) }
        guard [.stopString, .endOfGeneration].contains(summary.reason), calls.matched != nil,
            let place = said.firstRange(of: ToolBox.opening)
        else { return (summary, nil) }
        call = String(said[place.upperBound...])
        if summary.reason == .stopString { said += ToolBox.closing }
        return (summary, call)
    }
}
