import HearthBase
import HearthHTTP
import HearthInference

/// Chat completions as OpenAI defined them, from any server.
struct OpenAIDialect: CloudDialect {
    let model: String
    /// Whether the server is OpenAI's own, whose names of some fields others do not know.
    let isVendor: Bool
    private let prefix: String
    let capabilities: EngineCapabilities

    /// - Parameters:
    ///   - isUpstream: whether raw prompts are continued too.
    ///   - path: the path of the server's address; `/v1` is added where it has none.
    init(model: String, isVendor: Bool, isUpstream: Bool = false, path: String) {
        self.model = model
        self.isVendor = isVendor
        let common: EngineCapabilities = [.vision, .thinking, .tools, .schema, .seed]
        capabilities = isUpstream ? common.union(.rawPrompt) : common
        prefix = path.isEmpty || path == "/" ? "/v1" : ""
    }

    var path: String { prefix + "/chat/completions" }
    var healthPath: String { prefix + "/models" }

    func path(of request: CloudRequest) -> String {
        request.options.usesChatTemplate ? path : prefix + "/completions"
    }

    func headers(key: Secret?) -> [(name: String, value: String)] {
        key.map { [("Authorization", "Bearer \($0.value)")] } ?? []
    }

    // MARK: Request

    func body(_ request: CloudRequest) throws -> JSONValue {
        let options = request.options
        var body: JSONValue = ["model": .string(model)]
        if options.usesChatTemplate {
            body["messages"] = .array(try messages(request))
        } else {
            body["prompt"] =
                options.promptTokens.map { .array($0.map { .integer($0) }) }
                ?? .string(request.messages.map(\.content).joined())
        }
        body["stream"] = true
        body["stream_options"] = ["include_usage": true]
        let limit = isVendor && options.usesChatTemplate ? "max_completion_tokens" : "max_tokens"
        body[limit] = request.limit.map { .integer($0) }
        set(request, in: &body)
        if !options.stopStrings.isEmpty { body["stop"] = .array(options.stopStrings.prefix(4).map { .string($0) }) }
        guard options.usesChatTemplate else { return body }
        if !options.tools.isEmpty {
            let tools = request.tools(schemaKey: "parameters")
            body["tools"] = .array(tools.map { ["type": "function", "function": $0] })
            switch options.toolChoice {
            case .automatic: break
            case .required: body["tool_choice"] = "required"
            case .named(let name):
                body["tool_choice"] = ["type": "function", "function": ["name": .string(name)]]
            }
        }
        if let schema = request.schema {
            body["response_format"] = [
                "type": "json_schema", "json_schema": ["name": "answer", "schema": .object(parsing: schema)],
            ]
        }
        // Known to llama.cpp, vLLM and SGLang; others ignore it. OpenAI refuses names it does not know.
        if !isVendor, !options.thinking.isEnabled { body["chat_template_kwargs"] = ["enable_thinking": false] }
        return body
    }

    private func messages(_ request: CloudRequest) throws -> [JSONValue] {
        let messages = try request.messages.map(message)
        return request.system.isEmpty
            ? messages : [["role": "system", "content": .string(request.system)]] + messages
    }

    private func set(_ request: CloudRequest, in body: inout JSONValue) {
        let sampling = request.options.sampling
        body["seed"] = sampling.seed.map { .integer(Int($0)) }
        // The vendor's models since these always think, and refuse the choice of tokens.
        if isVendor, !["gpt-3", "gpt-4", "chatgpt-4", "ft:gpt-4"].contains(where: model.hasPrefix) { return }
        body["temperature"] = request.temperature.map { .number($0) }
        body["top_p"] = sampling.topP.map { .number($0) }
        body["frequency_penalty"] = sampling.frequencyPenalty.map { .number($0) }
        body["presence_penalty"] = sampling.presencePenalty.map { .number($0) }
        if isVendor { return }
        body["top_k"] = sampling.topK.map { .integer($0) }
        body["min_p"] = sampling.minP.map { .number($0) }
        body["repetition_penalty"] = sampling.repeatPenalty.map { .number($0) }
    }

    private func message(_ message: ChatMessage) throws -> JSONValue {
        switch message.role {
        case .tool:
            return [
                "role": "tool", "tool_call_id": .string(message.toolCallID ?? ""), "content": .string(message.content),
            ]
        case .assistant:
            var body: JSONValue = ["role": "assistant", "content": .string(message.content)]
            if !message.toolCalls.isEmpty {
                body["tool_calls"] = .array(
                    message.toolCalls.map { call in
                        let arguments: JSONValue = .string(call.arguments.isEmpty ? "{}" : call.arguments)
                        return [
                            "id": .string(call.id), "type": "function",
                            "function": ["name": .string(call.name), "arguments": arguments],
                        ]
                    })
            }
            return body
        case .user, .system:
            guard !message.images.isEmpty else {
                return ["role": .string(message.role.rawValue), "content": .string(message.content)]
            }
            var parts = try message.images.map { image -> JSONValue in
                // Other servers of this kind read more formats than the vendor.
                let type = isVendor || image.header.format != .bmp ? try image.mediaType(for: "OpenAI") : "image/bmp"
                let url: JSONValue = .base64(image.bytes, prefix: "data:\(type);base64,")
                return ["type": "image_url", "image_url": ["url": url]]
            }
            if !message.content.isEmpty { parts.append(["type": "text", "text": .string(message.content)]) }
            return ["role": .string(message.role.rawValue), "content": .array(parts)]
        }
    }

    // MARK: Answer

    func isEnd(_ event: ServerSentEvent) -> Bool { event.data == "[DONE]" }

    func read(_ piece: JSONValue, into answer: inout CloudAnswer) throws {
        if let usage = piece["usage"], usage != .null {
            answer.usage.promptTokens = usage["prompt_tokens"]?.count ?? answer.usage.promptTokens
            answer.usage.generatedTokens = usage["completion_tokens"]?.count ?? answer.usage.generatedTokens
            answer.usage.cachedTokens =
                usage["prompt_tokens_details"]?["cached_tokens"]?.count ?? answer.usage.cachedTokens
            answer.usage.thinkingTokens =
                usage["completion_tokens_details"]?["reasoning_tokens"]?.count ?? answer.usage.thinkingTokens
        }
        // The last piece holds usage only.
        guard let choice = piece["choices"]?.items?.first else { return }
        // A server that does not stream sends a whole message; one that continues a raw prompt sends text alone.
        let delta = choice["delta"] ?? choice["message"] ?? .null
        answer.add(text: choice["text"]?.string)
        answer.add(thinking: delta["reasoning_content"]?.string ?? delta["reasoning"]?.string)
        answer.add(text: delta["content"]?.string ?? delta["refusal"]?.string)
        for fragment in delta["tool_calls"]?.items ?? [] {
            // Servers that number no fragments send whole calls.
            let index = fragment["index"]?.count ?? answer.calls.count
            var call = answer.calls[index] ?? CloudAnswer.PartialCall()
            call.id = fragment["id"]?.string ?? call.id
            call.name += fragment["function"]?["name"]?.string ?? ""
            call.arguments += fragment["function"]?["arguments"]?.string ?? ""
            answer.calls[index] = call
        }
        if let reason = choice["finish_reason"]?.string { answer.reason = finish(reason, answer) }
    }

    private func finish(_ reason: String, _ answer: CloudAnswer) -> FinishReason {
        switch reason {
        // Some servers say `stop` after calls.
        case "stop": answer.calls.isEmpty ? .endOfGeneration : .toolCalls
        case "tool_calls", "function_call": .toolCalls
        case "length": .maximumNewTokens
        case "content_filter": .contentFilter
        default: FinishReason(rawValue: reason.replacing("_", with: "-"))
        }
    }
}
