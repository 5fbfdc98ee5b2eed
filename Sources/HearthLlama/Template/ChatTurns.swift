#if Llama
import CLlamaShim
import HearthBase
import HearthInference

/// A conversation as C structures. One arena of bytes holds all texts, so that all pointers are valid at the same
/// time.
struct ChatTurns {
    private struct Turn {
        let role: Int
        let content: Int
        let length: Int
        var thinking: Int?
        var calls: Int?
        var callID: Int?
        var toolName: Int?
    }

    private var arena: [CChar] = []
    private var turns: [Turn] = []

    /// - Throws: `chat-template-failed` for calls that are nested too deeply.
    init(_ messages: [ChatMessage]) throws {
        for message in messages {
            let role = place(message.role.rawValue)
            var turn = Turn(role: role, content: place(message.content), length: message.content.utf8.count)
            if !message.thinking.isEmpty { turn.thinking = place(message.thinking) }
            if !message.toolCalls.isEmpty {
                guard !message.toolCalls.contains(where: { ToolCall.isTooNested($0.arguments) }) else {
                    throw ChatTemplate.failure("the arguments of an earlier call are nested too deep")
                }
                turn.calls = place(try JSON.text(message.toolCalls.map(\.explicit)))
            }
            if message.role == .tool {
                turn.callID = place(message.toolCallID ?? "")
                turn.toolName = place(message.toolName ?? "")
            }
            turns.append(turn)
        }
    }

    private mutating func place(_ text: String) -> Int {
        let start = arena.count
        arena += text.utf8.lazy.map { CChar(bitPattern: $0) }
        arena.append(0)
        return start
    }

    /// Passes the messages to `body`. The pointers are valid only while it runs.
    func withMessages<Result>(
        _ body: (UnsafeBufferPointer<hearth_chat_message>) throws -> Result
    ) rethrows -> Result {
        try arena.withUnsafeBufferPointer { bytes in
            let messages = bytes.baseAddress.map { base in
                turns.map { turn in
                    hearth_chat_message(
                        role: base + turn.role, content: base + turn.content, content_length: turn.length,
                        thinking: turn.thinking.map { base + $0 }, calls: turn.calls.map { base + $0 },
                        call_id: turn.callID.map { base + $0 },
                        tool_name: turn.toolName.map { base + $0 })
                }
            }
            return try (messages ?? []).withUnsafeBufferPointer(body)
        }
    }

    /// Passes the conversation with tools to `body`. The pointers are valid only while it runs.
    func withRequest<Result>(
        offering tools: [ToolDefinition], enableThinking: Bool,
        _ body: (UnsafePointer<hearth_chat_request>) throws -> Result
    ) throws -> Result {
        let offered = tools.isEmpty ? [] : Array(try Self.json(offering: tools).utf8CString)
        return try withMessages { turns in
            try offered.withUnsafeBufferPointer { offered in
                var request = hearth_chat_request(
                    messages: turns.baseAddress, count: turns.count, enable_thinking: enableThinking,
                    tools: tools.isEmpty ? nil : offered.baseAddress)
                return try withUnsafePointer(to: &request, body)
            }
        }
    }

    /// The tools as JSON.
    private static func json(offering tools: [ToolDefinition]) throws -> String {
        struct Offer: Encodable {
            let name: String
            let description: String
            let parameters: String
        }
        return try JSON.text(
            tools.map { Offer(name: $0.name, description: $0.description, parameters: $0.parameters) })
    }
}

extension ToolCall {
    /// The call with an object as its arguments, also if it has none.
    fileprivate var explicit: ToolCall {
        arguments.isEmpty ? ToolCall(id: id, name: name, arguments: "{}") : self
    }
}
#endif
