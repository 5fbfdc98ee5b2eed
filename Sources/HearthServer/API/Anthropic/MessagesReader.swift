import HearthBase
import HearthInference

/// Reads the messages and blocks of Anthropic's API.
struct MessagesReader {
    private var pictures = 0
    /// The tools of earlier calls by the id of the call.
    private var toolNames: [String: String] = [:]
    /// The tools that results refer to, so that the model may call them from then on.
    private(set) var references: [String] = []

    /// One message while its blocks are read.
    private struct Turn {
        var role: ChatRole
        /// The messages that come before the rest: results of tools, and what an answer said before them.
        var done: [ChatMessage] = []
        var texts: [String] = []
        var images: [ChatImage] = []
        var calls: [ToolCall] = []
        var thinking = ""
        /// A block that is left out.
        var lost: Fields?

        var isEmpty: Bool { texts.isEmpty && images.isEmpty && calls.isEmpty && thinking.isEmpty }

        var message: ChatMessage {
            ChatMessage(
                role, texts.joined(separator: "\n"), thinking: thinking, images: images, toolCalls: calls)
        }

        /// Ends what the answer said before the result of a tool that a server ran.
        mutating func flush() {
            if !isEmpty { done.append(message) }
            (texts, images, calls, thinking) = ([], [], [], "")
        }
    }

    /// The instructions: a text, or blocks of text.
    mutating func system(_ fields: Fields) throws(APIFailure) -> String? {
        guard let value = fields.value("system", .text) else { return nil }
        if let text = value.string { return text }
        var texts: [String] = []
        for block in try fields.objects("system", atMost: 10_000) ?? [] {
            let type = try block.requiredString("type")
            guard let text = try block.string("text") else {
                block.leaveOut(type)
                continue
            }
            if !SteadyPrompt.isBilling(text) { texts.append(text) }
        }
        return texts.joined(separator: "\n")
    }

    /// The messages for one of the API's: the results of tools are messages of their own.
    mutating func messages(_ fields: Fields) throws(APIFailure) -> [ChatMessage] {
        let name = try fields.requiredWord(
            "role", of: ["user", "assistant", "system", "developer"], "user or assistant")
        let role = ChatRole(rawValue: name) ?? .system
        fields.require("content")
        guard let value = fields.value("content", .text) else {
            throw .invalid(fields.name("content"), "a text or blocks")
        }
        if let text = value.string { return [ChatMessage(role, text)] }
        var turn = Turn(role: role)
        guard value.items != nil else { throw .invalid(fields.name("content"), "a text or blocks") }
        for block in try fields.objects("content", atMost: 10_000) ?? [] { try take(block, &turn) }
        if let lost = turn.lost, turn.isEmpty, turn.done.isEmpty {
            guard role != .user else { throw lost.isAllOf("the message") }
            return []
        }
        // A message of results alone has no text of its own.
        return turn.isEmpty && !turn.done.isEmpty ? turn.done : turn.done + [turn.message]
    }

    private mutating func take(_ block: Fields, _ turn: inout Turn) throws(APIFailure) {
        let type = try block.requiredString("type")
        if turn.role == .user, try takeContent(block, type, &turn.texts, &turn.images) { return }
        switch (turn.role, type) {
        case (_, "text"): turn.texts.append(try block.requiredString("text"))
        case (.user, "tool_result"): turn.done.append(try result(block))
        case (.assistant, "tool_use"), (.assistant, "server_tool_use"), (.assistant, "mcp_tool_use"):
            turn.calls.append(try call(block))
        case (.assistant, _) where type.hasSuffix("tool_result"):
            // A server ran the tool within the answer.
            turn.flush()
            turn.done.append(try result(block))
        case (.assistant, "thinking"):
            let thinking = try block.string("thinking") ?? ""
            turn.thinking += thinking.isEmpty ? KeptThinking.text(try block.string("signature")) ?? "" : thinking
        case (.assistant, "redacted_thinking"): break
        case (_, "compaction"): if let text = try block.string("content") { turn.texts.append(text) }
        default:
            block.leaveOut(type)
            turn.lost = block
        }
    }

    /// Takes a block that the results of tools have as well.
    /// - Returns: whether its kind is known.
    private mutating func takeContent(
        _ block: Fields, _ type: String, _ texts: inout [String], _ images: inout [ChatImage]
    ) throws(APIFailure) -> Bool {
        switch type {
        case "text": texts.append(try block.requiredString("text"))
        case "image": images.append(try picture(block))
        case "document": texts.append(try document(block, &images))
        case "search_result":
            var parts = [try block.string("title"), try block.string("source")].compactMap(\.self)
            try takeParts(block, "content", &parts, &images)
            texts.append(parts.joined(separator: "\n"))
        case "tool_reference":
            let name = try block.requiredString("tool_name")
            if !references.contains(name) { references.append(name) }
            texts.append("The tool \(name) can be called now.")
        default: return false
        }
        return true
    }

    /// Takes the blocks of a field that is a text or a list of blocks; unknown ones are left out.
    private mutating func takeParts(
        _ fields: Fields, _ key: String, _ texts: inout [String], _ images: inout [ChatImage]
    ) throws(APIFailure) {
        guard let value = fields.value(key, .text) else { return }
        if let text = value.string { return texts.append(text) }
        // What a server's tool gave can have any form.
        guard let items = value.items else { return texts.append(value.line) }
        guard items.allSatisfy({ $0.members != nil }) else { return texts.append(value.line) }
        for part in try fields.objects(key, atMost: 10_000) ?? [] {
            let type = try part.string("type") ?? "text"
            if try takeContent(part, type, &texts, &images) { continue }
            if let page = Self.page(part.json) {
                texts.append(page.json.line)
            } else {
                part.leaveOut(type)
                texts.append("(a part that cannot be shown here)")
            }
        }
    }

    /// The page of a search that this server ran in an earlier answer.
    private static func page(_ block: JSONValue) -> WebPage? {
        guard block["type"] == "web_search_result", var page = WebPage(block) else { return nil }
        page.excerpt = KeptThinking.text(block["encrypted_content"]?.string) ?? ""
        return page
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
        try takeParts(block, "content", &texts, &images)
        let failed = try block.flag("is_error") ?? false
        let text = texts.joined(separator: "\n")
        var message = ChatMessage(.tool, failed ? "Error: \(text)" : text, images: images)
        message.toolCallID = id
        message.toolName = toolNames[id] ?? ""
        return message
    }

    /// The text of a document, after its title and context.
    private mutating func document(_ block: Fields, _ images: inout [ChatImage]) throws(APIFailure) -> String {
        guard let source = try block.object("source") else { throw .invalid(block.name("source"), "an object") }
        var texts = [try block.string("title"), try block.string("context")].compactMap(\.self)
        let type = try source.requiredString("type")
        switch type {
        case "text": texts.append(try source.requiredString("data"))
        case "content": try takeParts(source, "content", &texts, &images)
        case "base64":
            texts.append(
                try FileText.text(
                    base64: source.requiredString("data"), type: source.string("media_type") ?? "",
                    field: source.name("data")))
        default: throw .notServed(source.name("type"), "`\(type.prefix(60))` is not served: send the document's text")
        }
        return texts.joined(separator: "\n")
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
