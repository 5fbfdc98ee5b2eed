import HearthBase
import HearthInference

/// Reads the messages of `/v1/chat/completions`.
struct OpenAIMessages {
    private var messages: [ChatMessage] = []
    private var pictures = 0
    /// The tools of earlier calls by the id of the call.
    private var toolNames: [String: String] = [:]
    /// The last call of each function of the older form.
    private var lastCalls: [String: String] = [:]
    private let names: ToolNames

    private init(_ names: ToolNames) { self.names = names }

    /// The conversation of a body, whose tools have these names.
    static func read(_ fields: Fields, _ names: ToolNames = ToolNames()) throws(APIFailure) -> [ChatMessage] {
        fields.require("messages")
        guard let list = try fields.objects("messages", atMost: APIRequest.maximumMessages) else {
            throw .invalid("messages", "a list of messages")
        }
        guard !list.isEmpty else { throw .invalid("messages", "a list of at least one message") }
        var reader = OpenAIMessages(names)
        for message in list { try reader.append(message) }
        let ending = reader.messages.suffix(2)
        guard ending.count < 2 || !ending.allSatisfy({ $0.role == .assistant }) else {
            throw .invalid("messages", "a conversation that ends with at most one assistant message")
        }
        return reader.messages
    }

    private mutating func append(_ fields: Fields) throws(APIFailure) {
        let role = try fields.requiredWord(
            "role", of: ["system", "developer", "user", "assistant", "tool", "function"],
            "system, developer, user, assistant or tool")
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
        default:
            // The older form of a result names its function, and answers its last call.
            let name = names.name(try fields.requiredString("name"))
            var message = ChatMessage(.tool, try required(try content(fields).0, fields))
            (message.toolCallID, message.toolName) = (lastCalls[name] ?? "", name)
            messages.append(message)
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
        var (text, images) = try content(fields)
        if text == nil { text = try fields.string("refusal") }
        var calls: [ToolCall] = []
        for call in try fields.objects("tool_calls", atMost: 1000) ?? [] {
            calls.append(try toolCall(call))
        }
        if let function = try fields.object("function_call") {
            let name = names.name(try function.requiredString("name"))
            let id = ToolCall.id(number: toolNames.count)
            (toolNames[id], lastCalls[name]) = (name, id)
            calls.append(ToolCall(id: id, name: name, arguments: try function.string("arguments") ?? ""))
        }
        guard text != nil || !calls.isEmpty else {
            throw .invalid(fields.name("content"), "a text, if the message has no tool calls")
        }
        let thinking = try fields.firstString("reasoning_content", "reasoning") ?? ""
        messages.append(
            ChatMessage(.assistant, text ?? "", thinking: thinking, images: images, toolCalls: calls))
    }

    private mutating func toolCall(_ fields: Fields) throws(APIFailure) -> ToolCall {
        let id = try fields.string("id") ?? ToolCall.id(number: toolNames.count)
        if let custom = try fields.object("custom") {
            let name = names.name(try custom.requiredString("name"))
            toolNames[id] = name
            return ToolCall(id: id, name: name, arguments: ClientTool.arguments(text: try custom.string("input") ?? ""))
        }
        guard let function = try fields.object("function") else {
            throw .invalid(fields.name("function"), "an object")
        }
        let name = names.name(try function.requiredString("name"))
        // Some clients send the arguments as an object.
        let given = function.value("arguments", .object)
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
        guard let value = fields.value("content", .text) else { return (nil, []) }
        if let text = value.string { return (text, []) }
        guard value.items != nil, let parts = try fields.objects("content", atMost: 10_000) else {
            throw .invalid(fields.name("content"), "a text or a list of parts")
        }
        var texts: [String] = []
        var images: [ChatImage] = []
        var lost: Fields?
        for part in parts {
            switch try part.requiredString("type") {
            case "text", "input_text", "output_text": texts.append(try part.requiredString("text"))
            case "refusal": texts.append(try part.requiredString("refusal"))
            case "image_url", "input_image": images.append(try picture(part))
            case "file", "input_file": texts.append(try FileText.text(try part.object("file") ?? part))
            case "input_audio", "input_video", "audio_url", "video_url":
                throw .notServed(part.name("type"), "is not served: text and images are")
            case let type:
                part.leaveOut(type)
                lost = part
            }
        }
        if let lost, texts.isEmpty, images.isEmpty {
            // What earlier answers and tools said is history: the question goes on without it.
            guard fields.value("role")?.string != "user" else { throw lost.isAllOf("the message") }
            texts.append("(a part that cannot be shown here)")
        }
        return (texts.joined(separator: "\n"), images)
    }

    private mutating func picture(_ part: Fields) throws(APIFailure) -> ChatImage {
        pictures += 1
        guard pictures <= PictureData.maximumCount else {
            throw .invalid("messages", "a conversation with at most \(PictureData.maximumCount) images")
        }
        if part.text("image_url") != nil {
            return try PictureData.picture(
                address: part.requiredString("image_url"), field: part.name("image_url"))
        }
        guard let picture = try part.object("image_url") else {
            throw .invalid(part.name("image_url"), "an object with a url")
        }
        return try PictureData.picture(address: picture.requiredString("url"), field: picture.name("url"))
    }
}
