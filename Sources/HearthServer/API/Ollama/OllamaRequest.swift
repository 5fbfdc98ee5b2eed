import Foundation
import HearthBase
import HearthInference

/// A request of Ollama's `/api/chat` or `/api/generate`.
package struct OllamaRequest: Sendable {
    package enum Kind: Sendable { case chat, generate }

    package var request: APIRequest
    package var kind: Kind
    /// Whether the request has nothing to answer: it only loads the model, or unloads it.
    package var onlyLoads = false

    private static let notServedOptions: [String: [JSONValue]] = [
        "mirostat": [.number("0")], "typical_p": [.number("1")], "tfs_z": [.number("1")],
    ]

    package static func decode(_ fields: Fields, _ kind: Kind) throws(APIFailure) -> OllamaRequest {
        let model = try fields.modelOrName()
        var ollama = OllamaRequest(request: APIRequest(.chat([]), model: model), kind: kind)
        switch kind {
        case .chat: try ollama.takeChat(fields)
        case .generate: try ollama.takePrompt(fields)
        }
        var request = ollama.request
        let options = try fields.object("options") ?? Fields(JSONMembers())
        try options.refuse(notServedOptions)
        request.sampling = try options.samplingFields()
        request.maximumNewTokens = try options.integer("num_predict", in: -2...Int(Int32.max)).flatMap {
            $0 > 0 ? $0 : nil
        }
        request.stopStrings = try options.stopStrings()
        request.window = try options.integer("num_ctx", in: 0...Int(Int32.max)).flatMap { $0 > 0 ? $0 : nil }
        request.streams = try fields.flag("stream") ?? true
        request.keepAlive = try KeepAlive.duration(fields)
        request.thinking = try thinking(fields)
        request.constraint = try constraint(fields)
        if try fields.flag("logprobs") ?? false {
            request.tokenReports = TokenReports(
                alternatives: try fields.integer("top_logprobs", in: 0...TokenReports.maximumAlternatives) ?? 0)
        }
        ollama.request = request
        return ollama
    }

    private mutating func takeChat(_ fields: Fields) throws(APIFailure) {
        var offered = OfferedTools()
        for tool in try fields.objects("tools", atMost: OfferedTools.maximumCount) ?? [] {
            let type = try tool.string("type") ?? "function"
            guard type == "function" else {
                tool.leaveOut(type)
                continue
            }
            guard let function = try tool.object("function") else {
                throw .invalid(tool.name("function"), "an object")
            }
            try offered.add(ClientTool(name: function.requiredString("name")), function, parameters: "parameters")
        }
        try offered.give(to: &request)
        let messages = try OllamaMessages.read(fields).renamed(request.toolNames)
        request.input = .chat(messages)
        onlyLoads = messages.isEmpty
        if let last = messages.last, last.role == .assistant, last.toolCalls.isEmpty {
            request.continuesLastMessage = true
        }
    }

    private mutating func takePrompt(_ fields: Fields) throws(APIFailure) {
        try fields.refuse(["suffix": [.string("")], "template": [.string("")], "context": []])
        let prompt = try fields.string("prompt") ?? ""
        onlyLoads = prompt.isEmpty
        if try fields.flag("raw") ?? false {
            request.input = .prompts([[.text(prompt)]])
            return
        }
        var messages: [ChatMessage] = []
        if let system = try fields.string("system"), !system.isEmpty {
            messages.append(ChatMessage(.system, system))
        }
        messages.append(ChatMessage(.user, prompt, images: try OllamaMessages.images(fields)))
        request.input = .chat(messages)
    }

    private static func thinking(_ fields: Fields) throws(APIFailure) -> ThinkingFields {
        guard let value = fields.value("think", .either(.text, .flag)) else { return ThinkingFields() }
        if let effort = value.string { return ThinkingFields(effort: effort, fields) }
        return ThinkingFields(isEnabled: try fields.flag("think"))
    }

    /// `format`: `json`, or a schema.
    private static func constraint(_ fields: Fields) throws(APIFailure) -> OutputConstraint? {
        guard let value = fields.value("format", .words("json", "")) else { return nil }
        if let word = value.string {
            guard word == "json" || word.isEmpty else { throw .invalid("format", "`json` or a JSON schema") }
            return word.isEmpty ? nil : .anyObject
        }
        guard let schema = try fields.schema("format") else { return nil }
        return try .checked(schema: schema, field: "format")
    }
}

/// Reads the messages of `/api/chat`.
enum OllamaMessages {
    static func read(_ fields: Fields) throws(APIFailure) -> [ChatMessage] {
        var messages: [ChatMessage] = []
        var count = 0
        /// The calls that have no result yet.
        var open: [ToolCall] = []
        for message in try fields.objects("messages", atMost: APIRequest.maximumMessages) ?? [] {
            let word = try message.requiredWord(
                "role", of: ["system", "user", "assistant", "tool"], "system, user, assistant or tool")
            let role = ChatRole(rawValue: word) ?? .user
            var made = ChatMessage(
                role, try message.string("content") ?? "", thinking: try message.string("thinking") ?? "",
                images: try images(message))
            for call in try message.objects("tool_calls", atMost: 1000) ?? [] {
                guard let function = try call.object("function") else {
                    throw .invalid(call.name("function"), "an object")
                }
                made.toolCalls.append(
                    ToolCall(
                        id: try call.string("id") ?? ToolCall.id(number: count),
                        name: try function.requiredString("name"),
                        arguments: try arguments(function)))
                count += 1
            }
            open += made.toolCalls
            if role == .tool {
                // Results name their tool; they answer its first call without a result.
                let name = try message.firstString("tool_name", "name") ?? ""
                let given = try message.string("tool_call_id")
                let place =
                    given.map { id in open.firstIndex { $0.id == id } }
                    ?? open.firstIndex { $0.name == name } ?? open.indices.first
                let call = place.map { open.remove(at: $0) }
                made.toolCallID = given ?? call?.id ?? ""
                made.toolName = name.isEmpty ? call?.name ?? "" : name
            }
            messages.append(made)
        }
        return messages
    }

    /// The arguments of an earlier call: an object, or its text as OpenAI's clients write it.
    private static func arguments(_ function: Fields) throws(APIFailure) -> String {
        guard let value = function.value("arguments", .either(.object, .text)) else { return "{}" }
        if value.members != nil { return value.line }
        guard let text = value.string, text.isEmpty || (try? JSONValue(parsing: text))?.members != nil else {
            throw .invalid(function.name("arguments"), "an object")
        }
        return text.isEmpty ? "{}" : text
    }

    /// `images`: pictures in base64.
    static func images(_ fields: Fields) throws(APIFailure) -> [ChatImage] {
        let texts = try fields.strings("images", atMost: PictureData.maximumCount) ?? []
        var images: [ChatImage] = []
        for (index, text) in texts.enumerated() {
            images.append(try PictureData.picture(base64: text, field: "\(fields.name("images"))[\(index)]"))
        }
        return images
    }
}
