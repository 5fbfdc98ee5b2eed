import HearthBase
import HearthInference
import HearthRouting

/// The reply of `/v1/messages` as one body.
enum MessagesReply {
    static func body(_ run: APIRun, _ answer: APIAnswer, id: String) -> JSONValue {
        var blocks: [JSONValue] = []
        if !answer.thinking.isEmpty {
            blocks.append(["type": "thinking", "thinking": .string(answer.thinking), "signature": ""])
        }
        let calls = run.request.callsInParallel ? answer.toolCalls : Array(answer.toolCalls.prefix(1))
        if !answer.text.isEmpty || calls.isEmpty {
            blocks.append(["type": "text", "text": .string(answer.text), "citations": .null])
        }
        for call in calls { blocks.append(tool(call, input: .object(parsing: call.arguments))) }
        return message(
            run, id: id, blocks: blocks, reason: .string(reason(answer.summary.reason)),
            stop: answer.summary.stopString, usage: answer.summary.usage)
    }

    static func message(
        _ run: APIRun, id: String, blocks: [JSONValue], reason: JSONValue, stop: String? = nil, usage: TokenUsage
    ) -> JSONValue {
        [
            "id": .string(id), "type": "message", "role": "assistant", "model": .string(run.model.name),
            "content": .array(blocks), "stop_reason": reason,
            "stop_sequence": stop.map { .string($0) } ?? .null, "stop_details": .null, "container": .null,
            "usage": self.usage(usage),
        ]
    }

    static func usage(_ usage: TokenUsage) -> JSONValue {
        [
            "input_tokens": .integer(usage.promptTokens - usage.cachedTokens), "cache_creation": .null,
            "cache_creation_input_tokens": 0, "cache_read_input_tokens": .integer(usage.cachedTokens),
            "output_tokens": .integer(usage.generatedTokens), "output_tokens_details": .null,
            "inference_geo": .null, "server_tool_use": .null, "service_tier": "standard",
        ]
    }

    static func tool(_ call: ToolCall, input: JSONValue) -> JSONValue {
        [
            "type": "tool_use", "id": .string(call.id), "name": .string(call.name), "input": input,
            "caller": ["type": "direct"],
        ]
    }

    /// The reason in Anthropic's words.
    static func reason(_ reason: FinishReason) -> String {
        switch reason {
        case .endOfGeneration: "end_turn"
        case .stopString: "stop_sequence"
        case .toolCalls: "tool_use"
        case .contentFilter: "refusal"
        case .contextFull: "model_context_window_exceeded"
        default: "max_tokens"
        }
    }
}

/// The models in the form of Anthropic's API.
enum AnthropicModels {
    static func body(_ model: ServedModel) -> JSONValue {
        [
            "type": "model", "id": .string(model.name), "display_name": .string(model.name),
            "created_at": .string(APITime.text(model.created)),
        ]
    }

    static func list(_ models: [ServedModel]) -> JSONValue {
        [
            "data": .array(models.map(body)), "has_more": false,
            "first_id": models.first.map { .string($0.name) } ?? .null,
            "last_id": models.last.map { .string($0.name) } ?? .null,
        ]
    }
}

/// The error form of Anthropic's API.
enum AnthropicFailure {
    static func body(_ failure: APIFailure) -> JSONValue {
        ["type": "error", "error": ["type": .string(type(failure)), "message": .string(failure.message)]]
    }

    /// llama.cpp answers 500 to pictures that its model cannot read, and its clients expect that.
    static func status(_ failure: APIFailure) -> Int { failure.reason == .noVision ? 500 : failure.status }

    private static func type(_ failure: APIFailure) -> String {
        switch failure.reason {
        case .notFound, .modelMissing: "not_found_error"
        case .busy: "rate_limit_error"
        case .forbidden: "permission_error"
        case .tooLarge: "request_too_large"
        case .failed: "api_error"
        case .invalid, .notServed, .noVision, .contextExceeded, .conflict: "invalid_request_error"
        }
    }
}
