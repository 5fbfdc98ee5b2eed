import Foundation
import HearthBase
import HearthInference
import HearthRouting

/// The objects of Ollama's `/api/chat` and `/api/generate`, streamed as lines of JSON or joined to one.
struct OllamaStream: StreamEncoder {
    static let contentType = "application/x-ndjson"

    private let run: APIRun
    private let kind: OllamaRequest.Kind
    private var loadSeconds = 0.0
    private var tokens: [TokenReport] = []

    init(_ run: APIRun, _ kind: OllamaRequest.Kind) {
        self.run = run
        self.kind = kind
    }

    mutating func take(_ event: APIEvent) -> [UInt8] {
        switch event {
        case .event(_, .text(let text)): return line(piece(text: text))
        case .event(_, .thinking(let text)): return line(piece(thinking: text))
        case .event(_, .toolCall(let call)): return line(piece(calls: [call]))
        case .event(_, .token(let report)):
            tokens.append(report)
            return []
        case .event(_, .phase(.prefill)):
            if loadSeconds == 0 { loadSeconds = run.watch.elapsed.seconds }
            return []
        case .event: return []
        case .finished(_, let summary):
            return line(Self.last(piece(), run, summary, loadSeconds: loadSeconds))
        }
    }

    mutating func fail(_ failure: APIFailure) -> [UInt8] { line(OllamaFailure.body(failure)) }

    private func line(_ body: JSONValue) -> [UInt8] { body.bytes + [UInt8(ascii: "\n")] }

    private mutating func piece(text: String = "", thinking: String = "", calls: [ToolCall] = []) -> JSONValue {
        defer { tokens = [] }
        return Self.object(
            run.model.name, kind, text: text, thinking: thinking, calls: calls, names: run.request.toolNames,
            tokens: run.request.tokenReports == nil ? nil : tokens)
    }

    /// The whole answer as one object.
    static func body(_ run: APIRun, _ kind: OllamaRequest.Kind, _ answer: APIAnswer) -> JSONValue {
        let object = object(
            run.model.name, kind, text: answer.text, thinking: answer.thinking, calls: answer.toolCalls,
            names: run.request.toolNames, tokens: run.request.tokenReports == nil ? nil : answer.tokens)
        return last(object, run, answer.summary, loadSeconds: 0)
    }

    static func object(
        _ model: String, _ kind: OllamaRequest.Kind, text: String, thinking: String = "", calls: [ToolCall] = [],
        names: ToolNames = ToolNames(), tokens: [TokenReport]? = nil
    ) -> JSONValue {
        var body: JSONValue = ["model": .string(model), "created_at": .string(APITime.text(Date()))]
        switch kind {
        case .chat:
            var message: JSONValue = ["role": "assistant", "content": .string(text)]
            if !thinking.isEmpty { message["thinking"] = .string(thinking) }
            if !calls.isEmpty { message["tool_calls"] = .array(calls.enumerated().map { call($1, names, index: $0) }) }
            body["message"] = message
        case .generate:
            body["response"] = .string(text)
            if !thinking.isEmpty { body["thinking"] = .string(thinking) }
        }
        if let tokens, !tokens.isEmpty {
            body["logprobs"] = .array(tokens.map(TokenLogBody.report))
        }
        body["done"] = false
        return body
    }

    private static func call(_ call: ToolCall, _ names: ToolNames, index: Int) -> JSONValue {
        let function: JSONValue = [
            "index": .integer(index), "name": .string(names.client(call.name).name),
            "arguments": .object(parsing: call.arguments),
        ]
        return ["id": .string(call.id), "function": function.marked(call)]
    }

    /// Makes an object the last one: with its reason, counts and times in nanoseconds.
    private static func last(
        _ object: JSONValue, _ run: APIRun, _ summary: GenerationSummary, loadSeconds: Double
    ) -> JSONValue {
        let usage = summary.usage
        let prompt = GenerationSummary.milliseconds(
            usage.promptTokens - usage.cachedTokens, summary.timings.prefillTokensPerSecond)
        let answer = GenerationSummary.milliseconds(
            max(0, usage.generatedTokens - 1), summary.timings.decodeTokensPerSecond)
        func nanoseconds(_ milliseconds: Double) -> JSONValue { .integer(Int(min(milliseconds * 1e6, 1e18))) }
        var body = object
        body["done"] = true
        body["done_reason"] = .string(summary.reason.isComplete ? "stop" : "length")
        body["total_duration"] = nanoseconds(run.watch.elapsed.seconds * 1000)
        body["load_duration"] = nanoseconds(loadSeconds * 1000)
        body["prompt_eval_count"] = .integer(usage.promptTokens)
        body["prompt_eval_duration"] = nanoseconds(prompt)
        body["eval_count"] = .integer(usage.generatedTokens)
        body["eval_duration"] = nanoseconds(answer)
        return body
    }
}

/// The error form of Ollama's API.
enum OllamaFailure {
    static func body(_ failure: APIFailure) -> JSONValue {
        guard failure.lengths != nil else { return ["error": .string(failure.message)] }
        return ["error": .string("the input length exceeds the context length: \(failure.message)")]
    }
}
