import HearthRouting

/// The branches of a conversation: each message names the one before it, and those with the same parent are branches.
package struct ConversationTree: Sendable {
    /// The messages by date.
    package let messages: [AssistantMessage]
    private let positions: [String: Int]
    private let children: [String?: [Int]]

    /// Makes a tree of all messages of a conversation, given by date. A parent that is missing counts as none.
    package init(_ messages: [AssistantMessage]) {
        self.messages = messages
        var positions: [String: Int] = [:]
        for (index, message) in messages.enumerated() { positions[message.id] = index }
        var children: [String?: [Int]] = [:]
        for (index, message) in messages.enumerated() {
            let parent = message.parent.flatMap { positions[$0] == nil ? nil : $0 }
            children[parent, default: []].append(index)
        }
        self.positions = positions
        self.children = children
    }

    /// The message with an id.
    package func message(_ id: String) -> AssistantMessage? { positions[id].map { messages[$0] } }

    /// The messages that follow one directly, oldest first; with `nil` the first messages.
    package func children(of id: String?) -> [AssistantMessage] { (children[id] ?? []).map { messages[$0] } }

    /// The messages from the first to a leaf; empty if the leaf is unknown.
    package func branch(to leaf: String?) -> [AssistantMessage] {
        var branch: [AssistantMessage] = []
        var next = leaf
        // A damaged conversation could name its messages in a circle.
        while let id = next, let message = message(id), branch.count < messages.count {
            branch.append(message)
            next = message.parent
        }
        return branch.reversed()
    }

    /// A message and all that follow it.
    package func descendants(of id: String) -> [String] {
        guard positions[id] != nil else { return [] }
        var found = [id]
        var seen: Set<String> = [id]
        var index = 0
        while index < found.count {
            for child in children(of: found[index]) where seen.insert(child.id).inserted { found.append(child.id) }
            index += 1
        }
        return found
    }

    /// The end of the newest branch below a message, or of the newest branch of all; `nil` without messages.
    package func newestLeaf(below id: String?) -> String? {
        var leaf = id
        for _ in messages {
            guard let next = children(of: leaf).last else { break }
            leaf = next.id
        }
        return leaf
    }

    /// The leaf to show when a message and its followers are removed: `leaf` if it stays, else the newest branch beside the
    /// removed message, or what was before it.
    func leaf(_ leaf: String?, afterRemoving id: String) -> String? {
        let removed = Set(descendants(of: id))
        guard let leaf, removed.contains(leaf) else { return leaf }
        let rest = ConversationTree(messages.filter { !removed.contains($0.id) })
        return rest.newestLeaf(below: message(id)?.parent.flatMap { rest.message($0)?.id })
    }
}

/// The title of a conversation that the user has not named.
package enum ConversationTitle {
    /// The first line of a question with text in it, at most 60 characters, cut between words.
    package static func derived(from question: String) -> String {
        // The text of a file stands before the question.
        let line =
            PromptMarks.removing(["file"], from: question).split(whereSeparator: \.isNewline)
            .map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
            .first { !$0.isEmpty } ?? ""
        guard line.count > 60 else { return line }
        let cut = line.prefix(59)
        let end = cut.lastIndex(of: " ").flatMap { cut[..<$0].count >= 30 ? $0 : nil }
        return cut[..<(end ?? cut.endIndex)] + "…"
    }
}
