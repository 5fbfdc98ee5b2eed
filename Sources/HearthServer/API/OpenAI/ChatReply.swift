import HearthBase
import HearthInference
import HearthRouting

/// The reply of `/v1/chat/completions` as one body.
enum ChatReply {
    static func body(_ run: APIRun, _ answers: [APIAnswer], id: String, form: ChatRequest) -> JSONValue {
        var choices: [JSONValue] = []
        for (index, answer) in answers.enumerated() {
            choices.append([
                "index": .integer(index), "message": message(answer, run.request, form),
                "logprobs": run.request.tokenReports == nil ? .null : TokenLogBody.chat(answer.tokens),
                "finish_reason": .string(form.reason(answer.summary.reason)),
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
            if form.extras.isVerbose { body["__verbose"] = LlamaFacts.body(run, first, index: 0) }
        }
        return body
    }

    /// Identifies this engine; seeds repeat answers under one fingerprint.
    static let fingerprint = "b-hearth"

    private static func message(_ answer: APIAnswer, _ request: APIRequest, _ form: ChatRequest) -> JSONValue {
        let calls = request.shown(answer.toolCalls)
        var message: JSONValue = [
            "role": "assistant",
            "content": answer.text.isEmpty && !calls.isEmpty ? .null : .string(answer.text),
            "refusal": .null, "annotations": [],
        ]
        if !answer.thinking.isEmpty {
            message["reasoning_content"] = .string(answer.thinking)
            message["reasoning"] = .string(answer.thinking)
        }
        if form.usesFunctions {
            message["function_call"] = calls.first.map { function($0, request.toolNames) }
        } else if !calls.isEmpty {
            message["tool_calls"] = .array(calls.map { call($0, request.toolNames) })
        }
        return message
    }

    static func call(_ call: ToolCall, _ names: ToolNames, index: Int? = nil) -> JSONValue {
        let client = names.client(call.name)
        var body: JSONValue =
            client.kind == .custom
            ? [
                "id": .string(call.id), "type": "custom",
                "custom": ["name": .string(client.name), "input": .string(ClientTool.text(of: call))],
            ]
            : ["id": .string(call.id), "type": "function", "function": function(call, names).marked(call)]
        if let index { body["index"] = .integer(index) }
        return body
    }

    static func function(_ call: ToolCall, _ names: ToolNames) -> JSONValue {
        ["name": .string(names.client(call.name).name), "arguments": .string(call.arguments)]
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

extension ChatRequest {
    /// The reason in the words of the form that the request uses.
    func reason(_ reason: FinishReason) -> String {
        usesFunctions && reason == .toolCalls ? "function_call" : reason.openAI
    }
}

extension APIRequest {
    /// The calls that the client runs: one, if the request forbids several, and none that this server has run.
    func shown(_ calls: [ToolCall]) -> [ToolCall] {
        let own = calls.filter { toolNames.client($0.name).kind != .webSearch }
        return callsInParallel ? own : Array(own.prefix(1))
    }
}
