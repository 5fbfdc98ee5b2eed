extension [ChatMessage] {
    /// The conversation for a model whose template has no tools. Calls are written into the answers' text in the format
    /// of the Hermes and Qwen families, and results are messages of the user.
    package var withSpelledTools: [ChatMessage] {
        guard contains(where: { $0.role == .tool || !$0.toolCalls.isEmpty }) else { return self }
        var result: [ChatMessage] = []
        var follows = false
        for message in self {
            let isResult = message.role == .tool
            if isResult {
                let text = SpelledTools.result(message.content)
                if follows, let last = result.indices.last {
                    result[last].content += "\n" + text.content
                } else {
                    result.append(text)
                }
            } else {
                var plain = message
                plain.toolCalls = []
                for call in message.toolCalls {
                    // The call's original text continues the message exactly.
                    let separator = call.spelling != nil || plain.content.isEmpty ? "" : "\n"
                    plain.content += separator + (call.spelling ?? call.spelled)
                }
                result.append(plain)
            }
            follows = isResult
        }
        return result
    }
}

extension ToolCall {
    fileprivate var spelled: String {
        let arguments = arguments.isEmpty ? "{}" : arguments
        return
            "\(SpelledTools.opening)\n{\"name\": \(JSONSchema.quoted(name)), \"arguments\": \(arguments)}\n\(SpelledTools.closing)"
    }
}

/// The marks of tool calls and results in plain text, in the format of the Hermes and Qwen families.
package enum SpelledTools {
    package static let opening = "<tool_call>"
    package static let closing = "</tool_call>"

    private static let resultOpening = "<tool_response>\n"
    private static let resultClosing = "\n</tool_response>"

    /// The message with a tool's result, as templates of those families write it.
    package static func result(_ text: String) -> ChatMessage {
        ChatMessage(.user, resultOpening + text + resultClosing)
    }

    /// Whether a message has that form of a result.
    package static func isResult(_ message: ChatMessage) -> Bool {
        message.role == .user && message.images.isEmpty && message.content.hasPrefix(resultOpening)
            && message.content.hasSuffix(resultClosing)
    }
}
