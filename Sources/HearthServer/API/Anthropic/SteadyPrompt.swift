import HearthBase
import HearthInference

/// Puts what an agent says alike in all its conversations at the beginning of a prompt, whose computed state is used again.
enum SteadyPrompt {
    /// Whether a block of instructions is Claude Code's line about its version and who pays. It tells a model nothing, and
    /// changes with the first question.
    static func isBilling(_ block: String) -> Bool {
        block.utf8.count <= 1024 && block.hasPrefix("x-anthropic-billing-header:") && !block.trimmed.contains("\n")
    }

    /// The conversation with the instructions that follow the first question, such as Claude Code's description of its
    /// surroundings, in front of it. They join the instructions at the beginning.
    static func ordered(_ messages: [ChatMessage]) -> [ChatMessage] {
        guard let first = messages.firstIndex(where: { $0.role == .user }),
            messages[..<first].allSatisfy({ $0.role == .system })
        else { return messages }
        let behind = messages[(first + 1)...].prefix { $0.role == .system }
        guard !behind.isEmpty else { return messages }
        let instructions = (messages[..<first] + behind).map(\.content).filter { !$0.isEmpty }
        return [ChatMessage(.system, instructions.joined(separator: "\n\n"))] + [messages[first]]
            + messages[behind.endIndex...]
    }
}
