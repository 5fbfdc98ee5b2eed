import HearthBase
import HearthInference
import HearthRouting

/// The `response` object of `/v1/responses`.
struct ResponsesReply: Sendable {
    let run: APIRun
    let form: ResponsesRequest
    let id: String
    /// Whether an answer that a limit cut counts as complete, as llama.cpp's server says.
    let cutIsComplete: Bool
    let messageID = APIIdentifier.make("msg_")
    let reasoningID = APIIdentifier.make("rs_")

    /// The object while the answer is generated, or with the complete answer.
    func body(_ answer: APIAnswer?, status: String? = nil, failure: APIFailure? = nil) -> JSONValue {
        let reason = answer?.summary.reason
        let isCut = !cutIsComplete && !(reason?.isComplete ?? true)
        let status = status ?? (answer == nil ? "in_progress" : isCut ? "incomplete" : "completed")
        let sampling = run.options.sampling
        let request = form.request
        return [
            "id": .string(id), "object": "response", "created_at": .integer(run.created),
            "completed_at": answer == nil || isCut
                ? .null : .integer(run.created + Int(run.watch.elapsed.seconds)),
            "status": .string(status), "background": false,
            "error": failure.map {
                ["code": ResponsesReply.code($0), "message": .string(OpenAIFailure.message($0))]
            } ?? .null,
            "incomplete_details": isCut
                ? ["reason": reason == .contentFilter ? "content_filter" : "max_output_tokens"] : .null,
            "instructions": form.instructions.map { .string($0) } ?? .null,
            "max_output_tokens": request.maximumNewTokens.map { .integer($0) } ?? .null,
            "max_tool_calls": form.echo["max_tool_calls"] ?? .null, "model": .string(run.model.name),
            "output": .array(answer.map(output) ?? []),
            "parallel_tool_calls": .boolean(request.callsInParallel),
            "previous_response_id": form.previous.map { .string($0) } ?? .null,
            "prompt_cache_key": form.echo["prompt_cache_key"] ?? .null,
            "reasoning": form.echo["reasoning"] ?? ["effort": .null, "summary": .null],
            "safety_identifier": form.echo["safety_identifier"] ?? .null, "service_tier": "default",
            "store": .boolean(form.isStored), "temperature": .number(sampling.temperature),
            "text": form.echo["text"] ?? ["format": ["type": "text"]],
            "tool_choice": form.echo["tool_choice"] ?? "auto", "tools": form.echo["tools"] ?? [],
            "top_logprobs": .integer(request.tokenReports?.alternatives ?? 0),
            "top_p": .number(sampling.topP ?? 1), "presence_penalty": .number(sampling.presencePenalty ?? 0),
            "frequency_penalty": .number(sampling.frequencyPenalty ?? 0),
            "truncation": request.truncates ? "auto" : "disabled",
            "usage": answer.map { usage($0.summary.usage) } ?? .null, "user": .null,
            "metadata": form.echo["metadata"] ?? [:],
        ]
    }

    /// The items of an answer: thinking, text and calls.
    func output(_ answer: APIAnswer) -> [JSONValue] {
        var items: [JSONValue] = []
        let status = cutIsComplete || answer.summary.reason.isComplete ? "completed" : "incomplete"
        if !answer.thinking.isEmpty { items.append(reasoning(answer.thinking, status: status)) }
        for search in answer.searches { items.append(self.search(search, status: "completed")) }
        let calls = run.request.shown(answer.toolCalls)
        if !answer.text.isEmpty || (calls.isEmpty && items.isEmpty) {
            items.append(message([part(answer.text, tokens: answer.tokens)], status: status))
        }
        for call in calls { items.append(ResponsesCall(call, run.request.toolNames).item(status: "completed")) }
        return items
    }

    /// What each item of an answer stands for, for requests that refer to it.
    func items(_ answer: APIAnswer) -> [String: ChatMessage] {
        var items = [
            messageID: ChatMessage(.assistant, answer.text),
            reasoningID: ChatMessage(.assistant, "", thinking: answer.thinking),
        ]
        for call in answer.toolCalls {
            items[ResponsesCall(call, run.request.toolNames).id] = ChatMessage(.assistant, "", toolCalls: [call])
        }
        return items
    }

    func reasoning(_ text: String?, status: String) -> JSONValue {
        var item: JSONValue = [
            "id": .string(reasoningID), "type": "reasoning", "summary": [],
            "content": text.map { [["type": "reasoning_text", "text": .string($0)]] } ?? [],
            "status": .string(status),
        ]
        if form.keepsThinking, let text { item["encrypted_content"] = .string(KeptThinking.sealed(text)) }
        return item
    }

    /// The item of a search that this server runs or has run.
    func search(_ search: APIAnswer.Search, status: String) -> JSONValue {
        let sources = (search.pages ?? []).map { ["type": "url", "url": .string($0.address)] as JSONValue }
        let query: JSONValue = .string(search.query)
        return [
            "id": .string("ws_" + search.call.id), "type": "web_search_call",
            "status": .string(status == "completed" && search.pages == nil ? "failed" : status),
            "action": ["type": "search", "query": query, "queries": [query], "sources": .array(sources)],
        ]
    }

    func message(_ parts: [JSONValue], id: String? = nil, status: String) -> JSONValue {
        [
            "id": .string(id ?? messageID), "type": "message", "status": .string(status), "role": "assistant",
            "content": .array(parts),
        ]
    }

    func part(_ text: String, tokens: [TokenReport] = []) -> JSONValue {
        [
            "type": "output_text", "text": .string(text), "annotations": [],
            "logprobs": .array(form.request.tokenReports == nil ? [] : Self.logs(tokens)),
        ]
    }

    static func logs(_ tokens: [TokenReport]) -> [JSONValue] {
        tokens.filter { !$0.isThinking }.map(TokenLogBody.report)
    }

    /// The code of a failure within a stream, by which clients decide whether to ask again.
    private static func code(_ failure: APIFailure) -> JSONValue {
        switch failure.reason {
        case .contextExceeded, .busy, .modelMissing: OpenAIFailure.code(failure)
        case .invalid, .notServed, .noVision, .noVisionInPlace, .tooLarge: "invalid_prompt"
        default: "server_error"
        }
    }

    private func usage(_ usage: TokenUsage) -> JSONValue {
        [
            "input_tokens": .integer(usage.promptTokens),
            "input_tokens_details": ["cached_tokens": .integer(usage.cachedTokens)],
            "output_tokens": .integer(usage.generatedTokens),
            "output_tokens_details": ["reasoning_tokens": .integer(usage.thinkingTokens)],
            "total_tokens": .integer(usage.promptTokens + usage.generatedTokens),
        ]
    }
}
