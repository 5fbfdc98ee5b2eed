extension [ChatMessage] {
    /// The conversation for a model whose template knows no tools: calls stand in the answers' text as models of the Hermes and
    /// Qwen families write them, and their results are messages of the user.
    public var withSpelledTools: [ChatMessage] {
        guard contains(where: { $0.role == .tool || !$0.toolCalls.isEmpty }) else { return self }
        var result: [ChatMessage] = []
        var follows = false
        for message in self {
            let isResult = message.role == .tool
            if isResult {
                let text = ToolBox.result(message.content)
                if follows, let last = result.indices.last {
                    result[last].content += "\n" + text.content
                } else {
                    result.append(text)
                }
            } else {
                var plain = message
                plain.toolCalls = []
                let calls = message.toolCalls.map(\.spelled).joined(separator: "\n")
                if !calls.isEmpty { plain.content += plain.content.isEmpty ? calls : "\n" + calls }
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
            "\(ToolBox.opening)\n{\"name\": \(JSONSchema.quoted(name)), \"arguments\": \(arguments)}\n\(ToolBox.closing)"
    }
}
