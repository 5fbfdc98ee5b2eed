import HearthInference

/// An answer whose connection broke off, with what a local engine needs to continue it.
struct Interruption: Sendable {
    var messages: [ChatMessage]
    var options: GenerationOptions
    /// The text that the caller has seen.
    var text: String

    /// The conversation that asks for the rest of the answer.
    var continuation: [ChatMessage] {
        let kept = text.withoutOpenBlock
        guard !kept.isEmpty else { return messages }
        return messages + [
            ChatMessage(.assistant, kept),
            ChatMessage(.user, RoutedEngine.continuationPrompt),
        ]
    }
}

extension String {
    /// The text before an action block or tool call that is not complete, so that no answer continues inside one.
    package var withoutOpenBlock: String {
        if let call = range(of: "<tool_call>", after: "</tool_call>") { return String(self[..<call]) }
        guard let match = matches(of: /\[[A-Z][A-Z_]*(:|$)/).last, !Self.isClosed(self[match.range.upperBound...])
        else { return self }
        return String(self[..<match.range.lowerBound])
    }

    /// The start of the last `opening` that no `closing` follows.
    private func range(of opening: String, after closing: String) -> Index? {
        guard let last = ranges(of: opening).last else { return nil }
        return self[last.upperBound...].contains(closing) ? nil : last.lowerBound
    }

    /// Whether the rest of a block, from its JSON on, contains the block's closing bracket.
    private static func isClosed(_ rest: Substring) -> Bool {
        var depth = 0
        var isQuoted = false
        var isEscaped = false
        for byte in rest.utf8 {
            if isEscaped {
                isEscaped = false
            } else if isQuoted {
                switch byte {
                case UInt8(ascii: "\\"): isEscaped = true
                case UInt8(ascii: "\""): isQuoted = false
                default: break
                }
            } else {
                switch byte {
                case UInt8(ascii: "\""): isQuoted = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    if depth == 0 { return byte == UInt8(ascii: "]") }
                    depth -= 1
                default: break
                }
            }
        }
        return false
    }
}
