import HearthInference

extension WireWriter {
    mutating func write(_ message: ChatMessage) {
        write(message.id)
        write(message.role.rawValue)
        write(message.content)
        write(message.thinking)
        write(message.images) { $0.write($1.bytes) }
        write(message.toolCalls) { $0.write($1) }
        write(message.toolCallID) { $0.write($1) }
        write(message.toolName) { $0.write($1) }
    }

    mutating func write(_ messages: [ChatMessage]) { write(messages) { $0.write($1) } }

    mutating func write(_ call: ToolCall) {
        write(call.id)
        write(call.name)
        write(call.arguments)
        write(call.spelling) { $0.write($1) }
    }
}

extension WireReader {
    mutating func message() throws(WireError) -> ChatMessage {
        let id = try text()
        let role: ChatRole = try word()
        let (content, thinking) = (try text(), try text())
        let images = try list { reader throws(WireError) in try reader.picture() }
        let calls = try list { reader throws(WireError) in try reader.toolCall() }
        var message = ChatMessage(role, content, thinking: thinking, images: images, toolCalls: calls, id: id)
        message.toolCallID = try optional { reader throws(WireError) in try reader.text() }
        message.toolName = try optional { reader throws(WireError) in try reader.text() }
        return message
    }

    mutating func messages() throws(WireError) -> [ChatMessage] {
        try list { reader throws(WireError) in try reader.message() }
    }

    /// A picture, checked again: its bytes were copied.
    private mutating func picture() throws(WireError) -> ChatImage {
        let bytes = Array(try data())
        do { return try ChatImage(bytes) } catch { throw WireError() }
    }

    /// A call of a tool. Programs read its arguments, so that their nesting is bounded here.
    mutating func toolCall() throws(WireError) -> ToolCall {
        let call = ToolCall(
            id: try text(), name: try text(), arguments: try text(),
            spelling: try optional { reader throws(WireError) in try reader.text() })
        guard !ToolCall.isTooNested(call.arguments) else { throw WireError() }
        return call
    }
}
