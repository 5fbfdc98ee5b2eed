import Foundation
import HearthBase
import HearthHTTP
import HearthInference

/// Gemini's `streamGenerateContent`, from Google or through a relay that takes the same body.
struct GeminiDialect: CloudDialect {
    private let model: String
    private let isRelay: Bool

    init(model: String, isRelay: Bool) {
        // Google lists its models with a folder's name before them.
        self.model = model.hasPrefix("models/") ? String(model.dropFirst("models/".count)) : model
        self.isRelay = isRelay
    }

    let capabilities: EngineCapabilities = [.vision, .thinking, .tools, .schema, .seed]

    // Relays may send `data:` lines without empty lines between; the standard form has one such line an event too.
    var mode: ServerSentEventParser.Mode { isRelay ? .lines : .standard }

    var path: String { isRelay ? "/ai/chat" : "/v1beta/models/\(name):streamGenerateContent?alt=sse" }
    var healthPath: String { isRelay ? "/agent/health" : "/v1beta/models/\(name)" }

    /// The model in a path.
    private var name: String {
        let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
        return model.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    }

    func headers(key: Secret?) -> [(name: String, value: String)] {
        guard let key else { return [] }
        return [isRelay ? ("Authorization", "Bearer \(key.value)") : ("x-goog-api-key", key.value)]
    }

    // MARK: Request

    func body(_ request: CloudRequest) throws -> JSONValue {
        var body: JSONValue = ["contents": .array(try request.turns.map(content))]
        if !request.system.isEmpty {
            body["systemInstruction"] = ["parts": [["text": .string(request.system)]]]
        }
        if !request.options.tools.isEmpty {
            body["tools"] = [["functionDeclarations": .array(request.tools(schemaKey: "parametersJsonSchema"))]]
        }
        if request.mustCall {
            var calling: JSONValue = ["mode": "ANY"]
            if case .named(let name) = request.options.toolChoice {
                calling["allowedFunctionNames"] = [.string(name)]
            }
            body["toolConfig"] = ["functionCallingConfig": calling]
        }
        body["generationConfig"] = configuration(request)
        return body
    }

    private func configuration(_ request: CloudRequest) -> JSONValue {
        let options = request.options
        let sampling = options.sampling
        var result: JSONValue = [:]
        result["temperature"] = request.temperature.map { .number($0) }
        result["maxOutputTokens"] = request.limit.map { .integer($0) }
        result["topK"] = sampling.topK.map { .integer($0) }
        result["topP"] = sampling.topP.map { .number($0) }
        // The field is a signed number of 32 bits.
        result["seed"] = sampling.seed.map { .integer(Int($0 & 0x7FFF_FFFF)) }
        result["frequencyPenalty"] = sampling.frequencyPenalty.map { .number($0) }
        result["presencePenalty"] = sampling.presencePenalty.map { .number($0) }
        if !options.stopStrings.isEmpty {
            result["stopSequences"] = .array(options.stopStrings.prefix(5).map { .string($0) })
        }
        if let schema = request.schema {
            result["responseMimeType"] = "application/json"
            result["responseJsonSchema"] = .object(parsing: schema)
        }
        result["thinkingConfig"] = thinking(request)
        return result
    }

    /// The bounds of thinking, for the models that know them.
    private func thinking(_ request: CloudRequest) -> JSONValue? {
        guard !model.hasPrefix("gemini-1"), !model.hasPrefix("gemini-2.0") else { return nil }
        var bounds: JSONValue = ["includeThoughts": .boolean(request.thinkingTokens != nil)]
        if model.hasPrefix("gemini-2.5") {
            // Only Flash can be kept from thinking.
            // Without a limit of the answer, the model sets its own budget.
            let isFree = request.limit == nil && request.options.thinking.maximumTokens == nil
            bounds["thinkingBudget"] =
                request.thinkingTokens.map { .integer(isFree ? -1 : $0) } ?? (model.contains("flash") ? 0 : nil)
        } else if (request.thinkingTokens ?? 0) < 1024 {
            // Later models take a level in place of a number.
            bounds["thinkingLevel"] = "LOW"
        }
        return bounds
    }

    private func content(_ turn: [ChatMessage]) throws -> JSONValue {
        let isModel = turn.first?.role == .assistant
        return ["role": isModel ? "model" : "user", "parts": .array(try turn.flatMap(parts))]
    }

    private func parts(_ message: ChatMessage) throws -> [JSONValue] {
        if message.role == .tool {
            var response: JSONValue = ["name": .string(message.toolName ?? "")]
            response["id"] = message.toolCallID.map { .string($0) }
            response["response"] = ["result": .string(message.content)]
            return [["functionResponse": response]]
        }
        var parts = try message.images.map { image -> JSONValue in
            let type = try image.mediaType(for: "Gemini")
            return ["inlineData": ["mimeType": .string(type), "data": .base64(image.bytes)]]
        }
        if !message.content.isEmpty { parts.append(["text": .string(message.content)]) }
        for call in message.toolCalls {
            parts.append([
                "functionCall": [
                    "id": .string(call.id), "name": .string(call.name), "args": .object(parsing: call.arguments),
                ]
            ])
        }
        // A turn without parts is refused.
        return parts.isEmpty ? [["text": ""]] : parts
    }

    // MARK: Answer

    func read(_ piece: JSONValue, into answer: inout CloudAnswer) throws {
        if let usage = piece["usageMetadata"] {
            answer.usage.promptTokens = usage["promptTokenCount"]?.count ?? answer.usage.promptTokens
            answer.usage.cachedTokens = usage["cachedContentTokenCount"]?.count ?? answer.usage.cachedTokens
            let generated = (usage["candidatesTokenCount"]?.count, usage["thoughtsTokenCount"]?.count)
            if generated != (nil, nil) { answer.usage.generatedTokens = (generated.0 ?? 0) + (generated.1 ?? 0) }
        }
        if let block = piece["promptFeedback"]?["blockReason"]?.string, block != "BLOCK_REASON_UNSPECIFIED" {
            answer.reason = .contentFilter
        }
        // A piece without candidates holds usage or feedback only.
        guard let candidate = piece["candidates"]?.items?.first else { return }
        for part in candidate["content"]?["parts"]?.items ?? [] {
            if let call = part["functionCall"] {
                answer.calls[answer.calls.count] = CloudAnswer.PartialCall(
                    id: call["id"]?.string, name: call["name"]?.string ?? "",
                    arguments: call["args"].map(\.line) ?? "{}")
            } else if part["thought"]?.flag == true {
                answer.add(thinking: part["text"]?.string)
            } else {
                answer.add(text: part["text"]?.string)
            }
        }
        if let reason = candidate["finishReason"]?.string { answer.reason = try finish(reason, answer) }
    }

    private func finish(_ reason: String, _ answer: CloudAnswer) throws -> FinishReason? {
        switch reason {
        case "FINISH_REASON_UNSPECIFIED": return answer.reason
        case "STOP": return answer.calls.isEmpty ? .endOfGeneration : .toolCalls
        case "MAX_TOKENS": return .maximumNewTokens
        case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY":
            return .contentFilter
        case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL":
            throw LLMError(.generateFailed, "the model wrote a tool call that Gemini could not read")
        default: return FinishReason(rawValue: reason.lowercased().replacing("_", with: "-"))
        }
    }
}
