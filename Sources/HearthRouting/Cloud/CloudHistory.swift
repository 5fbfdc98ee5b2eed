import HearthInference

/// The part of a conversation that is sent: all system messages, and the last messages from a question on.
struct CloudHistory: Sendable {
    private let system: [ChatMessage]
    private var rest: ArraySlice<ChatMessage>
    /// The messages left out.
    private(set) var dropped = 0

    /// The last `limit` messages of a conversation, or its whole last turn if that is longer.
    init(_ messages: [ChatMessage], limit: Int) {
        system = messages.filter { $0.role == .system }
        let others = messages.filter { $0.role != .system }
        rest = others[...]
        drop(others.count - limit)
    }

    var messages: [ChatMessage] { system + rest }

    /// Leaves out the older half. Returns `false` if only the last turn is left.
    mutating func cut() -> Bool {
        let before = dropped
        drop(max(1, rest.count / 2))
        return dropped > before
    }

    /// Leaves out at least `count` messages, so that the rest begins with a question; never the last turn.
    private mutating func drop(_ count: Int) {
        guard count > 0 else { return }
        let questions = rest.indices.filter { rest[$0].role == .user }
        guard let start = questions.first(where: { $0 >= rest.startIndex + count }) ?? questions.last else { return }
        dropped += start - rest.startIndex
        rest = rest[start...]
    }
}
