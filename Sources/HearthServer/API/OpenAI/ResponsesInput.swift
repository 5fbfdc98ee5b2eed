import HearthBase
import HearthInference

/// Reads `input`: a text, or a list of items.
struct ResponsesInput {
    /// Finds the message that an item of an earlier response stands for.
    typealias Stored = (_ id: String) -> ChatMessage?

    private let names: ToolNames
    private let stored: Stored
    private var messages: [ChatMessage] = []
    private var thinking = ""
    private var pictures = 0
    /// The tools of earlier calls by the id of the call.
    private var toolNames: [String: String] = [:]
    /// An item that is left out.
    private var lost: Fields?

    static func read(
        _ fields: Fields, _ names: ToolNames = ToolNames(), stored: @escaping Stored = { _ in nil }
    ) throws(APIFailure) -> [ChatMessage] {
        fields.require("input")
        guard let value = fields.value("input", .text) else { throw .invalid("input", "a text or a list of items") }
        if let text = value.string { return [ChatMessage(.user, text)] }
        guard value.items != nil, let items = try fields.objects("input", atMost: APIRequest.maximumMessages)
        else { throw .invalid("input", "a text or a list of items") }
        var reader = ResponsesInput(names: names, stored: stored)
        for item in items { try reader.take(item) }
        if let lost = reader.lost, reader.messages.isEmpty, fields.value("previous_response_id") == nil {
            throw lost.isAllOf("the input")
        }
        return reader.messages
    }

    private init(names: ToolNames, stored: @escaping Stored) {
        self.names = names
        self.stored = stored
    }

    private mutating func take(_ item: Fields) throws(APIFailure) {
        let type = try item.string("type") ?? (item.value("role") == nil ? "item_reference" : "message")
        switch type {
        case "agent_message":
            let (text, images) = try content(item, "content", isRequired: false)
            messages.append(ChatMessage(.user, text, images: images))
        case "message":
            var message = try message(item)
            if message.role == .assistant { (message.thinking, thinking) = (thinking, "") }
            messages.append(message)
        case "reasoning": try takeThinking(item)
        case "additional_tools": break
        case "item_reference": try takeReference(item)
        case _ where type.hasSuffix("_call_output") || type == "tool_search_output":
            guard let id = try item.firstString("call_id", "id") else { return leaveOut(item, type) }
            messages.append(try result(item, type, id))
        case _ where type.hasSuffix("_call"):
            guard let call = try call(item, type) else { return leaveOut(item, type) }
            append(call)
            // A server ran the tool, and its result is in the same item.
            if item.value("output") != nil { messages.append(try result(item, type, call.id)) }
        default: leaveOut(item, type)
        }
    }

    private mutating func leaveOut(_ item: Fields, _ type: String) {
        item.leaveOut(type)
        lost = item
    }

    /// The calls of one answer are one message.
    private mutating func append(_ call: ToolCall) {
        toolNames[call.id] = call.name
        if let last = messages.last, last.role == .assistant {
            messages[messages.count - 1].toolCalls.append(call)
        } else {
            messages.append(ChatMessage(.assistant, "", thinking: thinking, toolCalls: [call]))
            thinking = ""
        }
    }

    private mutating func takeThinking(_ item: Fields) throws(APIFailure) {
        var text = ""
        for part in try item.objects("content", atMost: 1000) ?? [] { text += try part.string("text") ?? "" }
        if text.isEmpty { text = KeptThinking.text(try item.string("encrypted_content")) ?? "" }
        thinking += text
    }

    private mutating func takeReference(_ item: Fields) throws(APIFailure) {
        guard let message = stored(try item.requiredString("id")) else { return leaveOut(item, "item_reference") }
        thinking += message.thinking
        guard message.toolCalls.isEmpty else { return message.toolCalls.forEach { append($0) } }
        guard !message.content.isEmpty || message.role != .assistant else { return }
        var said = message
        (said.thinking, thinking) = (thinking, "")
        messages.append(said)
    }

    /// The call of an item; `nil` for one without an id, whose result is not in the conversation either.
    private func call(_ item: Fields, _ type: String) throws(APIFailure) -> ToolCall? {
        let namespace = try item.string("namespace")
        switch type {
        case "function_call":
            let given = item.value("arguments", .object)
            return ToolCall(
                id: try item.requiredString("call_id"),
                name: names.name(try item.requiredString("name"), namespace: namespace),
                arguments: given?.members == nil ? try item.string("arguments") ?? "" : given?.line ?? "")
        case "custom_tool_call":
            return ToolCall(
                id: try item.requiredString("call_id"),
                name: names.name(try item.requiredString("name"), namespace: namespace),
                arguments: ClientTool.arguments(text: try item.string("input") ?? ""))
        default:
            let hasResult = item.value("output") != nil
            guard let id = try hasResult ? item.firstString("call_id", "id") : item.string("call_id") else {
                return nil
            }
            let name = try item.string("name") ?? String(type.dropLast("_call".count))
            return ToolCall(id: id, name: names.name(name), arguments: Self.arguments(item, id))
        }
    }

    /// The arguments of a call with a form of its own: what the client would run.
    private static func arguments(_ item: Fields, _ id: String) -> String {
        for key in ["arguments", "action", "operation", "input"] {
            guard let value = item.value(key) else { continue }
            if let text = value.string { return (try? JSONValue(parsing: text))?.members == nil ? "{}" : text }
            if var members = value.members {
                if members["type"] == "exec" { members["type"] = nil }
                return JSONValue.object(members.filter { $0.value != .null }).line
            }
        }
        return "{}"
    }

    private mutating func message(_ item: Fields) throws(APIFailure) -> ChatMessage {
        let word = try item.requiredWord(
            "role", of: ["user", "assistant", "system", "developer"], "user, assistant or system")
        let role = ChatRole(rawValue: word) ?? .system
        let (text, images) = try content(item, "content", isRequired: role == .user)
        return ChatMessage(role, text, images: images)
    }

    private mutating func result(_ item: Fields, _ type: String, _ id: String) throws(APIFailure) -> ChatMessage {
        var (text, images) = try content(item, "output", isRequired: false)
        if type == "tool_search_output" {
            let found = (item.value("tools")?.items ?? []).compactMap { $0["name"]?.string }
            text =
                found.isEmpty ? "No tool was found." : "These tools can be called now: " + found.joined(separator: ", ")
        }
        var message = ChatMessage(.tool, text, images: images)
        message.toolCallID = id
        message.toolName = toolNames[id] ?? ""
        return message
    }

    /// The text and the pictures of a field that is a text, a list of parts, or anything else that a tool gave.
    private mutating func content(
        _ item: Fields, _ key: String, isRequired: Bool
    ) throws(APIFailure) -> (String, [ChatImage]) {
        guard let value = item.value(key, .text) else {
            guard !isRequired else { throw .invalid(item.name(key), "a text or a list of parts") }
            return ("", [])
        }
        if let text = value.string { return (text, []) }
        if value.members?["type"] == "computer_screenshot" {
            guard let part = try item.object(key) else { return ("", []) }
            return ("", [try picture(part)])
        }
        guard let items = value.items, items.allSatisfy({ $0["type"]?.string != nil }) else {
            guard !isRequired else { throw .invalid(item.name(key), "a text or a list of parts") }
            return (value.line, [])
        }
        var texts: [String] = []
        var images: [ChatImage] = []
        var lost: Fields?
        for part in try item.objects(key, atMost: 10_000) ?? [] {
            switch try part.requiredString("type") {
            case "input_text", "output_text", "text", "reasoning_text", "summary_text":
                texts.append(try part.requiredString("text"))
            case "refusal": texts.append(try part.requiredString("refusal"))
            case "input_image", "computer_screenshot": images.append(try picture(part))
            case "input_file": texts.append(try FileText.text(part))
            case "input_audio", "input_video":
                throw .notServed(part.name("type"), "is not served: text and images are")
            case let type:
                part.leaveOut(type)
                lost = part
            }
        }
        if let lost, texts.isEmpty, images.isEmpty {
            guard !isRequired else { throw lost.isAllOf("the message") }
            texts.append("(a part that cannot be shown here)")
        }
        return (texts.joined(separator: "\n"), images)
    }

    private mutating func picture(_ part: Fields) throws(APIFailure) -> ChatImage {
        pictures += 1
        guard pictures <= PictureData.maximumCount else {
            throw .invalid("input", "a conversation with at most \(PictureData.maximumCount) images")
        }
        let isObject = part.value("image_url")?.members != nil
        guard let address = try isObject ? part.object("image_url")?.string("url") : part.string("image_url") else {
            throw .notServed(part.name("file_id"), "is not served; send `image_url`")
        }
        return try PictureData.picture(address: address, field: part.name("image_url"))
    }
}
