import HearthBase
import HearthInference

/// A request of Anthropic's `/v1/messages`.
package struct MessagesRequest: Sendable {
    package var request: APIRequest

    private static let notServed: [String: [JSONValue]] = [
        "container": [], "mcp_servers": [], "context_management": [],
    ]

    /// Reads a body.
    /// - Parameter counts: whether only the tokens are counted, so that no limit is needed.
    package static func decode(_ fields: Fields, counts: Bool = false) throws(APIFailure) -> MessagesRequest {
        guard try fields.string("model") != nil else { throw .invalid("model", "the name of a model") }
        try fields.refuse(notServed)
        var reader = MessagesReader()
        var messages: [ChatMessage] = []
        if let system = try reader.system(fields) { messages.append(ChatMessage(.system, system)) }
        guard let list = try fields.objects("messages", atMost: APIRequest.maximumMessages) else {
            throw .invalid("messages", "a list of messages")
        }
        for message in list { messages += try reader.messages(message) }
        var request = APIRequest(.chat(messages), model: try fields.string("model"))
        request.sampling = try fields.samplingFields()
        request.maximumNewTokens = try fields.integer("max_tokens", in: 1...Int(Int32.max))
        guard counts || request.maximumNewTokens != nil else {
            throw .invalid("max_tokens", "a whole number above 0")
        }
        request.stopStrings = try fields.stopStrings("stop_sequences")
        request.streams = try fields.flag("stream") ?? false
        request.thinking = try thinking(fields)
        try takeTools(fields, &request)
        request.constraint = try constraint(fields)
        if let last = messages.last, last.role == .assistant, last.toolCalls.isEmpty {
            request.continuesLastMessage = true
        }
        return MessagesRequest(request: request)
    }

    private static func thinking(_ fields: Fields) throws(APIFailure) -> ThinkingFields {
        // Without the field, Anthropic's models do not think.
        guard let object = try fields.object("thinking") else { return ThinkingFields(isEnabled: false) }
        switch try object.requiredString("type") {
        case "disabled": return ThinkingFields(isEnabled: false)
        case "enabled", "adaptive":
            let budget = try object.integer("budget_tokens", in: 1...Int(Int32.max))
            return ThinkingFields(isEnabled: true, maximumTokens: budget)
        default: throw .invalid(object.name("type"), "enabled, adaptive or disabled")
        }
    }

    private static func takeTools(_ fields: Fields, _ request: inout APIRequest) throws(APIFailure) {
        for tool in try fields.objects("tools", atMost: 1000) ?? [] {
            if let type = try tool.string("type"), type != "custom" {
                throw .notServed(tool.name("type"), "`\(type.prefix(60))` is a tool of Anthropic's servers")
            }
            request.tools.append(try tool.tool(parameters: "input_schema"))
        }
        try request.checkTools()
        guard let choice = try fields.object("tool_choice") else { return }
        request.callsInParallel = try !(choice.flag("disable_parallel_tool_use") ?? false)
        switch try choice.requiredString("type") {
        case "auto": break
        case "none": request.tools = []
        case "any": try request.require(.required)
        case "tool": try request.require(.named(choice.requiredString("name")))
        default: throw .invalid(choice.name("type"), "auto, any, tool or none")
        }
    }

    private static func constraint(_ fields: Fields) throws(APIFailure) -> OutputConstraint? {
        var format = try fields.object("output_config")?.object("format")
        if format == nil { format = try fields.object("output_format") }
        guard let format else { return nil }
        guard try format.requiredString("type") == "json_schema", let schema = try format.schema("schema") else {
            throw .invalid(format.name("type"), "json_schema with a schema")
        }
        return try .checked(schema: schema, field: format.name("schema"))
    }
}

/// Reads the messages and blocks of Anthropic's API.
struct MessagesReader {
    private var pictures = 0
    /// The tools of earlier calls by the id of the call.
    private var toolNames: [String: String] = [:]

    /// The instructions: a text, or blocks of text.
    func system(_ fields: Fields) throws(APIFailure) -> String? {
        guard let value = fields.value("system") else { return nil }
        if let text = value.string { return text }
        var texts: [String] = []
        for block in try fields.objects("system", atMost: 10_000) ?? [] {
            guard try block.requiredString("type") == "text" else { throw .invalid(block.name("type"), "text") }
            texts.append(try block.requiredString("text"))
        }
        return texts.joined(separator: "\n")
    }

    /// The messages for one of the API's: the results of tools are messages of their own.
    mutating func messages(_ fields: Fields) throws(APIFailure) -> [ChatMessage] {
        let role = try fields.requiredString("role")
        guard let role = ["user": ChatRole.user, "assistant": .assistant, "system": .system][role] else {
            throw .invalid(fields.name("role"), "user or assistant")
        }
        guard let value = fields.value("content") else {
            throw .invalid(fields.name("content"), "a text or blocks")
        }
        if let text = value.string { return [ChatMessage(role, text)] }
        var message = ChatMessage(role, "")
        var results: [ChatMessage] = []
        var texts: [String] = []
        for block in try fields.objects("content", atMost: 10_000) ?? [] {
            let type = try block.requiredString("type")
            switch (role, type) {
            case (_, "text"): texts.append(try block.requiredString("text"))
            case (.user, "image"): message.images.append(try picture(block))
            case (.user, "tool_result"): results.append(try result(block))
            case (.assistant, "tool_use"): message.toolCalls.append(try call(block))
            case (.assistant, "thinking"): message.thinking += try block.requiredString("thinking")
            case (.assistant, "redacted_thinking"): break
            default: throw .notServed(block.name("type"), "`\(type.prefix(60))` is not served in this message")
            }
        }
        message.content = texts.joined(separator: "\n")
        // A message of results alone has no text of its own.
        let isEmpty = texts.isEmpty && message.images.isEmpty && !results.isEmpty
        return results + (isEmpty ? [] : [message])
    }

    private mutating func call(_ block: Fields) throws(APIFailure) -> ToolCall {
        let call = ToolCall(
            id: try block.requiredString("id"), name: try block.requiredString("name"),
            arguments: try block.schema("input") ?? "{}")
        toolNames[call.id] = call.name
        return call
    }

    private mutating func result(_ block: Fields) throws(APIFailure) -> ChatMessage {
        let id = try block.requiredString("tool_use_id")
        var texts: [String] = []
        var images: [ChatImage] = []
        if let text = block.value("content")?.string {
            texts = [text]
        } else {
            for part in try block.objects("content", atMost: 10_000) ?? [] {
                switch try part.requiredString("type") {
                case "text": texts.append(try part.requiredString("text"))
                case "image": images.append(try picture(part))
                case let type: throw .notServed(part.name("type"), "`\(type.prefix(60))` is not served")
                }
            }
        }
        let failed = try block.flag("is_error") ?? false
        let text = texts.joined(separator: "\n")
        var message = ChatMessage(.tool, failed ? "Error: \(text)" : text, images: images)
        message.toolCallID = id
        message.toolName = toolNames[id] ?? ""
        return message
    }

    private mutating func picture(_ block: Fields) throws(APIFailure) -> ChatImage {
        pictures += 1
        guard pictures <= PictureData.maximumCount else {
            throw .invalid("messages", "a conversation with at most \(PictureData.maximumCount) images")
        }
        guard let source = try block.object("source") else { throw .invalid(block.name("source"), "an object") }
        switch try source.requiredString("type") {
        case "base64":
            return try PictureData.picture(base64: source.requiredString("data"), field: source.name("data"))
        case "url":
            return try PictureData.picture(address: source.requiredString("url"), field: source.name("url"))
        default: throw .notServed(source.name("type"), "must be base64")
        }
    }
}
