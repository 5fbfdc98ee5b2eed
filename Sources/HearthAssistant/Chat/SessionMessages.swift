/// The messages of a session, and the branch that it shows.
package struct SessionMessages: Sendable {
    private var messages: [AssistantMessage]
    private var positions: [String: Int] = [:]
    /// The last message of the shown branch.
    package private(set) var leaf: String?

    /// - Parameter messages: all messages, by date.
    package init(_ messages: [AssistantMessage] = [], leaf: String? = nil) {
        self.messages = messages
        index()
        self.leaf = leaf.flatMap { positions[$0] == nil ? nil : $0 } ?? tree.newestLeaf(below: nil)
    }

    package subscript(id: String) -> AssistantMessage? { positions[id].map { messages[$0] } }

    package var all: [AssistantMessage] { messages }

    package var tree: ConversationTree { ConversationTree(messages) }

    /// The shown branch, the first message first.
    package var branch: [AssistantMessage] { tree.branch(to: leaf) }

    /// Adds a message at the end of the shown branch.
    package mutating func append(_ message: AssistantMessage) {
        positions[message.id] = messages.count
        messages.append(message)
        leaf = message.id
    }

    /// Replaces a message, if it still exists.
    package mutating func update(_ message: AssistantMessage) {
        if let index = positions[message.id] { messages[index] = message }
    }

    /// Shows the newest branch through a message.
    package mutating func show(_ id: String) { leaf = tree.newestLeaf(below: id) }

    /// Removes a message with all that follow it.
    package mutating func remove(_ id: String) {
        let tree = tree
        let removed = Set(tree.descendants(of: id))
        leaf = tree.leaf(leaf, afterRemoving: id)
        messages.removeAll { removed.contains($0.id) }
        index()
    }

    private mutating func index() {
        positions = [:]
        for (index, message) in messages.enumerated() { positions[message.id] = index }
    }
}
