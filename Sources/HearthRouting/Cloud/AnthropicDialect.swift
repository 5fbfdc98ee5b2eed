import HearthBase
import HearthHTTP
import HearthInference

/// Messages as Anthropic defined them.
struct AnthropicDialect: CloudDialect {
    let model: String

    let capabilities: EngineCapabilities = [.vision, .thinking, .tools, .schema]

    let path = "/v1/messages"
    let healthPath = "/v1/models"

    func headers(key: Secret?) -> [(name: String, value: String)] {
        // The later version of the API refuses every choice of tokens.
        [("anthropic-version", isEarlier ? "2023-06-01" : "2026-10-21")] + (key.map { [("x-api-key", $0.value)] } ?? [])
    }

    // MARK: Request

    /// The fewest tokens of thinking that the API takes.
    private static let leastThinking = 1024

    /// The longest answer where none is set: the API takes no request without one, and refuses more than the model writes.
    private var longest: Int { model.hasPrefix("claude-3-") && !model.hasPrefix("claude-3-5") ? 4096 : 8192 }

    func body(_ given: CloudRequest) throws -> JSONValue {
        var request = given
        if request.limit == nil { request.options.maximumNewTokens = longest }
        let options = request.options
        var body: JSONValue = [
            "model": .string(model), "max_tokens": .integer(options.maximumNewTokens), "stream": true,
            "messages": .array(try request.turns.map(turn)),
        ]
        if !request.system.isEmpty { body["system"] = .string(request.system) }
        if !options.stopStrings.isEmpty { body["stop_sequences"] = .array(options.stopStrings.map { .string($0) }) }
        if !options.tools.isEmpty { body["tools"] = .array(request.tools(schemaKey: "input_schema")) }
        if request.mustCall {
            if case .named(let name) = options.toolChoice {
                body["tool_choice"] = ["type": "tool", "name": .string(name)]
            } else {
                body["tool_choice"] = ["type": "any"]
            }
        }
        if let schema = request.schema {
            // A call that the model has to make holds it to the schema; its arguments are the answer.
            body["tools"] = [
                ["name": "answer", "description": "Takes the answer.", "input_schema": .object(parsing: schema)]
            ]
            body["tool_choice"] = ["type": "tool", "name": "answer"]
        }
        // After a tool's result the API wants the signed thinking before the call, which conversations do not keep.
        let followsTool = request.messages.last?.role == .tool
        // The API refuses thinking before a call that has to be made.
        let isFree = !followsTool && !request.mustCall && request.schema == nil
        if let tokens = request.thinkingTokens, tokens >= Self.leastThinking, isFree {
            body["thinking"] =
                isEarlier
                ? ["type": "enabled", "budget_tokens": .integer(tokens)]
                : ["type": "adaptive", "display": "summarized"]
        } else if isEarlier {
            // The API refuses a choice of tokens beside thinking, and a temperature above 1.
            body["temperature"] = request.temperature.map { .number(min(1, $0)) }
            body["top_k"] = options.sampling.topK.map { .integer($0) }
        }
        return body
    }

    /// Whether the model is of the families up to 4.6, which take a budget of thinking and a choice of tokens.
    private var isEarlier: Bool {
        model.hasPrefix("claude-3") || ["-4-0", "-4-1", "-4-2", "-4-5", "-4-6"].contains(where: model.contains)
    }

    private func turn(_ turn: [ChatMessage]) throws -> JSONValue {
        let isModel = turn.first?.role == .assistant
        return ["role": isModel ? "assistant" : "user", "content": .array(try turn.flatMap(blocks))]
    }

    private func blocks(_ message: ChatMessage) throws -> [JSONValue] {
        if message.role == .tool {
            return [
                [
                    "type": "tool_result", "tool_use_id": .string(message.toolCallID ?? ""),
                    "content": .string(message.content),
                ]
            ]
        }
        var blocks = try message.images.map { image -> JSONValue in
            let type = try image.mediaType(for: "Anthropic")
            let source: JSONValue = [
                "type": "base64", "media_type": .string(type), "data": .base64(image.bytes),
            ]
            return ["type": "image", "source": source]
        }
        // The API refuses empty texts.
        if !message.content.isEmpty { blocks.append(["type": "text", "text": .string(message.content)]) }
        for call in message.toolCalls {
            blocks.append([
                "type": "tool_use", "id": .string(call.id), "name": .string(call.name),
                "input": .object(parsing: call.arguments),
            ])
        }
        return blocks.isEmpty ? [["type": "text", "text": "(nothing)"]] : blocks
    }

    // MARK: Answer

    func read(_ piece: JSONValue, into answer: inout CloudAnswer) throws {
        switch piece["type"]?.string {
        case "message_start":
            guard let usage = piece["message"]?["usage"] else { return }
            let cached = usage["cache_read_input_tokens"]?.count ?? 0
            let written = usage["cache_creation_input_tokens"]?.count ?? 0
            answer.usage.promptTokens = (usage["input_tokens"]?.count ?? 0) + cached + written
            answer.usage.cachedTokens = cached
        case "content_block_start":
            guard let block = piece["content_block"], let index = piece["index"]?.count else { return }
            if block["type"]?.string == "tool_use", !answer.isCall {
                answer.calls[index] = CloudAnswer.PartialCall(
                    id: block["id"]?.string, name: block["name"]?.string ?? "")
            }
            answer.add(text: block["text"]?.string)
            answer.add(thinking: block["thinking"]?.string)
        case "content_block_delta":
            let delta = piece["delta"] ?? .null
            answer.add(text: delta["text"]?.string)
            answer.add(thinking: delta["thinking"]?.string)
            guard let index = piece["index"]?.count, let fragment = delta["partial_json"]?.string else { return }
            if answer.isCall { answer.add(text: fragment) } else { answer.calls[index]?.arguments += fragment }
        case "message_delta":
            answer.usage.generatedTokens = piece["usage"]?["output_tokens"]?.count ?? answer.usage.generatedTokens
            if let reason = piece["delta"]?["stop_reason"]?.string { answer.reason = finish(reason, answer) }
        case "message_stop": answer.hasEnded = true
        // Later versions may add kinds of pieces; `ping` and `content_block_stop` say nothing.
        default: break
        }
    }

    private func finish(_ reason: String, _ answer: CloudAnswer) -> FinishReason {
        switch reason {
        case "end_turn": .endOfGeneration
        case "stop_sequence": .stopString
        case "max_tokens": .maximumNewTokens
        case "model_context_window_exceeded": .contextFull
        case "tool_use": answer.isCall ? .endOfGeneration : .toolCalls
        case "refusal": .contentFilter
        default: FinishReason(rawValue: reason.replacing("_", with: "-"))
        }
    }
}
