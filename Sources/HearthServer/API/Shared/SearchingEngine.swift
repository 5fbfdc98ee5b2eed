import HearthBase
import HearthInference

/// Runs the searches of an answer itself: the model calls its tool, reads the pages, and goes on with the answer. Each search
/// is reported as the result of a tool.
struct SearchingEngine: Sendable {
    /// The most pages of a search.
    private static let maximumPages = 8

    let engine: any InferenceEngine
    let rules: SearchRules
    let search: WebSearch

    /// What the model said in one step.
    private struct Said {
        var text = ""
        var thinking = ""
        var calls: [ToolCall] = []
    }

    /// Generates the answer to a conversation.
    func generate(
        _ messages: [ChatMessage], options: GenerationOptions, onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        var (messages, options) = (messages, options)
        var total: GenerationSummary?
        var uses = 0
        while true {
            let said = Locked(Said())
            let summary = try await engine.generate(messages, options: options) { event in
                said.withLock { said in
                    switch event {
                    case .text(let text): said.text += text
                    case .thinking(let text): said.thinking += text
                    case .toolCall(let call): said.calls.append(call)
                    default: break
                    }
                }
                if case .toolCall(let call) = event, call.name == rules.tool { return }
                onEvent(event)
            }
            let whole = total?.followed(by: summary) ?? summary
            total = whole
            let answer = said.withLock { $0 }
            let searches = answer.calls.filter { $0.name == rules.tool }
            guard summary.reason == .toolCalls, !searches.isEmpty else { return whole }
            messages.append(
                ChatMessage(.assistant, answer.text, thinking: answer.thinking, toolCalls: answer.calls))
            for call in searches {
                uses += 1
                let content = uses > rules.maximumUses ? "no further search is allowed" : try await content(of: call)
                onEvent(.toolResult(call, content: content))
                messages.append(ChatMessage(result: content, of: call))
            }
            // The client's calls wait for their results.
            if searches.count < answer.calls.count { return whole }
            if uses >= rules.maximumUses { options.tools.removeAll { $0.name == rules.tool } }
            options.toolChoice = .automatic
            options.continuesLastMessage = false
            // A length that is not set stays so.
            if options.maximumNewTokens != GenerationOptions.windowLength {
                options.maximumNewTokens -= summary.usage.generatedTokens
            }
            guard options.maximumNewTokens > 0 else {
                var cut = whole
                cut.reason = .maximumNewTokens
                return cut
            }
        }
    }

    /// The pages for a call as JSON, or the reason why there are none.
    private func content(of call: ToolCall) async throws -> String {
        let query = JSONValue.object(parsing: call.arguments)["query"]?.string ?? ""
        guard !query.isEmpty else { return "the search needs a query" }
        do {
            let pages = try await search(String(query.prefix(400)), Self.maximumPages).filter(rules.permits)
            return JSONValue.array(pages.map(\.json)).line
        } catch let error as CancellationError {
            throw error
        } catch {
            Log.write(.info, "api", "the web cannot be searched", [.error(error)])
            return "the search failed: \((error as? any HearthFailure)?.message ?? "the server has no answer")"
        }
    }
}
