import HearthBase
import HearthInference

/// Reads the messages of `/v1/chat/completions`.
struct OpenAIMessages {
    private var messages: [ChatMessage] = []
    private var pictures = 0
    /// The tools of earlier calls by the id of the call.
    private var toolNames: [String: String] = [:]

    /// The conversation of a body.
    static func read(_ fields: Fields) throws(APIFailure) -> [ChatMessage] {
        guard let list = try fields.objects("messages", atMost: APIRequest.maximumMessages) else {
            throw .invalid("messages", "a list of messages")
        }
        guard !list.isEmpty else { throw .invalid("messages", "a list of at least one message") }
        var reader = OpenAIMessages()
        for message in list { try reader.append(message) }
        let ending = reader.messages.suffix(2)
        guard ending.count < 2 || !ending.allSatisfy({ $0.role == .assistant }) else {
            throw .invalid("messages", "a conversation that ends with at most one assistant message")
        }
        return reader.messages
    }

    private mutating func append(_ fields: Fields) throws(APIFailure) {
        let role = try fields.requiredString("role")
        switch role {
        case "system", "developer": try appendSystem(fields)
        case "user":
            let (text, images) = try content(fields)
            messages.append(ChatMessage(.user, try required(text, fields), images: images))
        case "assistant": try appendAnswer(fields)
        case "tool":
            let (text, images) = try content(fields)
            var message = ChatMessage(.tool, try required(text, fields), images: images)
            message.toolCallID = try fields.requiredString("tool_call_id")
            message.toolName = message.toolCallID.flatMap { toolNames[$0] } ?? ""
            messages.append(message)
        case "function": throw .notServed(fields.name("role"), "`function` is not served; use tools")
        default: throw .invalid(fields.name("role"), "system, developer, user, assistant or tool")
        }
    }

    /// Instructions at the beginning are joined, since most templates know one system message.
    private mutating func appendSystem(_ fields: Fields) throws(APIFailure) {
        let (text, images) = try content(fields)
        guard images.isEmpty else { throw .invalid(fields.name("content"), "text") }
        let said = try required(text, fields)
        if messages.count == 1, messages[0].role == .system {
            messages[0].content += "\n\n" + said
        } else {
            messages.append(ChatMessage(.system, said))
        }
    }

    private mutating func appendAnswer(_ fields: Fields) throws(APIFailure) {
        let (text, images) = try content(fields)
        var calls: [ToolCall] = []
        for call in try fields.objects("tool_calls", atMost: 1000) ?? [] {
            calls.append(try toolCall(call))
        }
        guard text != nil || !calls.isEmpty else {
            throw .invalid(fields.name("content"), "a text, if the message has no tool calls")
        }
        let thinking = try fields.firstString("reasoning_content", "reasoning") ?? ""
        messages.append(
            ChatMessage(.assistant, text ?? "", thinking: thinking, images: images, toolCalls: calls))
    }

    private mutating func toolCall(_ fields: Fields) throws(APIFailure) -> ToolCall {
        guard let function = try fields.object("function") else {
            throw .invalid(fields.name("function"), "an object")
        }
        let id = try fields.string("id") ?? ToolCall.nextID(after: messages)
        let name = try function.requiredString("name")
        // Some clients send the arguments as an object.
        let given = function.value("arguments")
        let arguments =
            given?.members == nil ? try function.string("arguments") ?? "" : given?.line ?? ""
        toolNames[id] = name
        return ToolCall(id: id, name: name, arguments: arguments)
    }

    private func required(_ text: String?, _ fields: Fields) throws(APIFailure) -> String {
        guard let text else { throw .invalid(fields.name("content"), "a text or a list of parts") }
        return text
    }

    /// The texts of a message, joined by line breaks, and its pictures; no text for an absent content.
    private mutating func content(_ fields: Fields) throws(APIFailure) -> (String?, [ChatImage]) {
        guard let value = fields.value("content") else { return (nil, []) }
        if let text = value.string { return (text, []) }
        guard value.items != nil, let parts = try fields.objects("content", atMost: 10_000) else {
            throw .invalid(fields.name("content"), "a text or a list of parts")
        }
        var texts: [String] = []
        var images: [ChatImage] = []
        for part in parts {
            switch try part.requiredString("type") {
            case "text", "input_text", "output_text": texts.append(try part.requiredString("text"))
            case "refusal": texts.append(try part.requiredString("refusal"))
            case "image_url": images.append(try picture(part))
            case "input_audio", "file": throw .notServed(part.name("type"), "is not served: text and images are")
            default: throw .invalid(part.name("type"), "text or image_url")
            }
        }
        return (texts.joined(separator: "\n"), images)
    }

    private mutating func picture(_ part: Fields) throws(APIFailure) -> ChatImage {
        pictures += 1
        guard pictures <= PictureData.maximumCount else {
            throw .invalid("messages", "a conversation with at most \(PictureData.maximumCount) images")
        }
        if part.value("image_url")?.string != nil {
            return try PictureData.picture(
                address: part.requiredString("image_url"), field: part.name("image_url"))
        }
        guard let picture = try part.object("image_url") else {
            throw .invalid(part.name("image_url"), "an object with a url")
        }
        return try PictureData.picture(address: picture.requiredString("url"), field: picture.name("url"))
    }
}
