import HearthBase
import HearthInference

/// An event of one of a request's answers.
package enum APIEvent: Sendable {
    case event(choice: Int, GenerationEvent)
    /// The answer is complete.
    case finished(choice: Int, GenerationSummary)
}

/// The answers of a request while they are generated.
package struct APIRun: Sendable {
    package let request: APIRequest
    package let model: ServedModel
    package let information: ModelInformation
    /// The options of each answer.
    package let options: GenerationOptions
    /// The text of each prompt, if the request asked for it.
    let prompts: [String]
    /// The number of answers.
    package let choices: Int
    /// The time of the request, in seconds since 1970.
    package let created: Int
    /// The time from the request to its start: the load of the model and the queue.
    package let watch: Stopwatch
    package let events: AsyncThrowingStream<APIEvent, any Error>
}

extension APIRun {
    /// The prompt of an answer; empty if the request did not ask for it.
    func prompt(_ choice: Int) -> String {
        let number = choice / max(1, request.copies)
        return prompts.indices.contains(number) ? prompts[number] : ""
    }
}

/// One complete answer.
package struct APIAnswer: Sendable {
    package var text = ""
    package var thinking = ""
    package var toolCalls: [ToolCall] = []
    /// The searches of the web that this server ran.
    package var searches: [Search] = []
    /// The tokens of the answer, if the request asked for reports.
    package var tokens: [TokenReport] = []
    package var summary: GenerationSummary

    /// Joins the events of one answer.
    package init(summary: GenerationSummary = .none) { self.summary = summary }

    mutating func take(_ event: GenerationEvent) {
        switch event {
        case .text(let piece): text += piece
        case .thinking(let piece): thinking += piece
        case .toolCall(let call): toolCalls.append(call)
        case .token(let report): tokens.append(report)
        case .toolResult(let call, let content): searches.append(Search(call: call, content: content))
        case .phase, .truncated, .picturesLeftOut, .finish: break
        }
    }

    /// A search of the web that this server ran for the answer.
    package struct Search: Sendable, Hashable {
        package var call: ToolCall
        /// The pages as JSON, or the reason why there are none.
        package var content: String

        /// The pages; `nil` for a search that failed.
        package var pages: [WebPage]? {
            guard let value = try? JSONValue(parsing: content), let items = value.items else { return nil }
            return items.compactMap { WebPage($0) }
        }

        /// The words that were searched for.
        package var query: String { JSONValue.object(parsing: call.arguments)["query"]?.string ?? "" }
    }
}

extension APIRun {
    /// Waits for all answers.
    /// - Throws: ``APIFailure``; `CancellationError` after the client has left.
    package func answers() async throws -> [APIAnswer] {
        var answers = [APIAnswer](repeating: APIAnswer(), count: choices)
        for try await event in events {
            switch event {
            case .event(let choice, let event): answers[choice].take(event)
            case .finished(let choice, let summary): answers[choice].summary = summary
            }
        }
        try Task.checkCancellation()
        return answers
    }
}

extension [APIAnswer] {
    /// The counts of all answers: each prompt counts once.
    func usage(copies: Int) -> TokenUsage {
        var sum = TokenUsage.none
        for (index, answer) in enumerated() {
            let usage = answer.summary.usage
            sum.generatedTokens += usage.generatedTokens
            sum.thinkingTokens += usage.thinkingTokens
            guard index % Swift.max(1, copies) == 0 else { continue }
            sum.promptTokens += usage.promptTokens
            sum.cachedTokens += usage.cachedTokens
        }
        return sum
    }
}

extension TokenUsage {
    static let none = TokenUsage(promptTokens: 0, cachedTokens: 0, generatedTokens: 0)
}

extension GenerationSummary {
    /// The summary of an answer that has not ended.
    package static let none = GenerationSummary(
        reason: .interrupted, usage: .none,
        timings: GenerationTimings(firstTokenSeconds: 0, prefillTokensPerSecond: 0, decodeTokensPerSecond: 0))
}
