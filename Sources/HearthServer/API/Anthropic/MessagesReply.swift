import HearthBase
import HearthInference
import HearthRouting

/// The reply of `/v1/messages` as one body.
enum MessagesReply {
    static func body(_ run: APIRun, _ answer: APIAnswer, id: String, form: MessagesRequest) -> JSONValue {
        var blocks: [JSONValue] = []
        if !answer.thinking.isEmpty {
            blocks.append([
                "type": "thinking", "thinking": .string(form.showsThinking ? answer.thinking : ""),
                "signature": .string(form.showsThinking ? "" : KeptThinking.sealed(answer.thinking)),
            ])
        }
        for search in answer.searches { blocks += self.search(search, run.request.toolNames) }
        let calls = run.request.shown(answer.toolCalls)
        if !answer.text.isEmpty || calls.isEmpty {
            blocks.append(["type": "text", "text": .string(answer.text), "citations": .null])
        }
        for call in calls {
            blocks.append(tool(call, run.request.toolNames, input: .object(parsing: call.arguments)))
        }
        var body = message(
            run, id: id, blocks: blocks, reason: .string(reason(answer.summary.reason)),
            stop: answer.summary.stopString, usage: answer.summary.usage, searches: answer.searches.count)
        body["context_management"] = form.editReport
        return body
    }

    static func message(
        _ run: APIRun, id: String, blocks: [JSONValue], reason: JSONValue, stop: String? = nil, usage: TokenUsage,
        searches: Int = 0
    ) -> JSONValue {
        [
            "id": .string(id), "type": "message", "role": "assistant", "model": .string(run.model.name),
            "content": .array(blocks), "stop_reason": reason,
            "stop_sequence": stop.map { .string($0) } ?? .null, "stop_details": .null, "container": .null,
            "usage": self.usage(usage, searches: searches),
        ]
    }

    static func usage(_ usage: TokenUsage, searches: Int = 0) -> JSONValue {
        [
            "input_tokens": .integer(usage.promptTokens - usage.cachedTokens), "cache_creation": .null,
            "cache_creation_input_tokens": 0, "cache_read_input_tokens": .integer(usage.cachedTokens),
            "output_tokens": .integer(usage.generatedTokens), "output_tokens_details": .null,
            "inference_geo": .null,
            "server_tool_use": searches > 0 ? ["web_search_requests": .integer(searches)] : .null,
            "service_tier": "standard",
        ]
    }

    static func tool(_ call: ToolCall, _ names: ToolNames, input: JSONValue) -> JSONValue {
        let body: JSONValue = [
            "type": "tool_use", "id": .string(call.id), "name": .string(names.client(call.name).name), "input": input,
            "caller": ["type": "direct"],
        ]
        return body.marked(call)
    }

    /// The blocks of a search that this server ran: the query, and what it found.
    static func search(_ search: APIAnswer.Search, _ names: ToolNames) -> [JSONValue] {
        let id: JSONValue = .string("srvtoolu_" + search.call.id)
        let content: JSONValue =
            search.pages.map { pages in
                .array(
                    pages.map { page in
                        [
                            "type": "web_search_result", "title": .string(page.title), "url": .string(page.address),
                            "encrypted_content": .string(KeptThinking.sealed(page.excerpt)), "page_age": .null,
                        ]
                    })
            } ?? ["type": "web_search_tool_result_error", "error_code": "unavailable"]
        return [
            [
                "type": "server_tool_use", "id": id, "name": .string(names.client(search.call.name).name),
                "input": .object(parsing: search.call.arguments), "caller": ["type": "direct"],
            ],
            [
                "type": "web_search_tool_result", "tool_use_id": id, "content": content,
                "caller": ["type": "direct"],
            ],
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
        ["type": "error", "error": ["type": .string(type(failure)), "message": .string(message(failure))]]
    }

    /// A prompt that is too long is told in the words that Anthropic's clients look for, to shorten the conversation.
    private static func message(_ failure: APIFailure) -> String {
        guard let (tokens, window) = failure.lengths else { return failure.message }
        return "prompt is too long: \(tokens) tokens > \(window) maximum"
    }

    /// llama.cpp's server answers 500 to a picture for any model name, and its clients expect that of a server that answers
    /// for any name, too.
    static func status(_ failure: APIFailure) -> Int {
        failure.reason == .noVisionInPlace ? 500 : failure.status
    }

    private static func type(_ failure: APIFailure) -> String {
        switch failure.reason {
        case .notFound, .modelMissing: "not_found_error"
        case .busy: "rate_limit_error"
        case .forbidden: "permission_error"
        case .tooLarge: "request_too_large"
        case .failed, .upstream: "api_error"
        case .invalid, .notServed, .noVision, .noVisionInPlace, .contextExceeded, .conflict: "invalid_request_error"
        }
    }
}
