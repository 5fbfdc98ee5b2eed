import HearthBase
import HearthInference
import HearthRouting

/// The reply of `/v1/chat/completions` as one body.
enum ChatReply {
    static func body(_ run: APIRun, _ answers: [APIAnswer], id: String, extras: LlamaExtras) -> JSONValue {
        var choices: [JSONValue] = []
        for (index, answer) in answers.enumerated() {
            choices.append([
                "index": .integer(index), "message": message(answer, callsInParallel: run.request.callsInParallel),
                "logprobs": run.request.tokenReports == nil ? .null : TokenLogBody.chat(answer.tokens),
                "finish_reason": .string(answer.summary.reason.openAI),
            ])
        }
        var body: JSONValue = [
            "id": .string(id), "object": "chat.completion", "created": .integer(run.created),
            "model": .string(run.model.name), "system_fingerprint": .string(fingerprint),
            "service_tier": "default", "choices": .array(choices),
            "usage": usage(answers.usage(copies: run.request.copies)),
        ]
        if let first = answers.first {
            body["timings"] = first.summary.timingsBody
            if extras.isVerbose { body["__verbose"] = LlamaFacts.body(run, first, index: 0) }
        }
        return body
    }

    /// Identifies this engine; seeds repeat answers under one fingerprint.
    static let fingerprint = "b-hearth"

    private static func message(_ answer: APIAnswer, callsInParallel: Bool) -> JSONValue {
        let calls = callsInParallel ? answer.toolCalls : Array(answer.toolCalls.prefix(1))
        var message: JSONValue = [
            "role": "assistant",
            "content": answer.text.isEmpty && !calls.isEmpty ? .null : .string(answer.text),
            "refusal": .null, "annotations": [],
        ]
        if !answer.thinking.isEmpty {
            message["reasoning_content"] = .string(answer.thinking)
            message["reasoning"] = .string(answer.thinking)
        }
        if !calls.isEmpty { message["tool_calls"] = .array(calls.map { call($0) }) }
        return message
    }

    static func call(_ call: ToolCall, index: Int? = nil) -> JSONValue {
        var body: JSONValue = [
            "id": .string(call.id), "type": "function",
            "function": ["name": .string(call.name), "arguments": .string(call.arguments)],
        ]
        if let index { body["index"] = .integer(index) }
        return body
    }

    static func usage(_ usage: TokenUsage) -> JSONValue {
        [
            "prompt_tokens": .integer(usage.promptTokens), "completion_tokens": .integer(usage.generatedTokens),
            "total_tokens": .integer(usage.promptTokens + usage.generatedTokens),
            "prompt_tokens_details": ["cached_tokens": .integer(usage.cachedTokens), "audio_tokens": 0],
            "completion_tokens_details": [
                "reasoning_tokens": .integer(usage.thinkingTokens), "audio_tokens": 0,
                "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
            ],
        ]
    }
}

extension FinishReason {
    /// The reason in OpenAI's words.
    var openAI: String {
        switch self {
        case .endOfGeneration, .stopString: "stop"
        case .toolCalls: "tool_calls"
        case .contentFilter: "content_filter"
        default: "length"
        }
    }
}
