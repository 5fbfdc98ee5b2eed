/// The messages of a session, and the branch that it shows.
package struct SessionMessages: Sendable {
    package private(set) var tree: ConversationTree
    /// The last message of the shown branch.
    package private(set) var leaf: String?

    /// - Parameter messages: all messages, by date.
    package init(_ messages: [AssistantMessage] = [], leaf: String? = nil) {
        tree = ConversationTree(messages)
        self.leaf = leaf.flatMap { tree.message($0)?.id } ?? tree.newestLeaf(below: nil)
    }

    package subscript(id: String) -> AssistantMessage? { tree.message(id) }

    package var all: [AssistantMessage] { tree.messages }

    /// The shown branch, the first message first.
    package var branch: [AssistantMessage] { tree.branch(to: leaf) }

    /// Adds a message at the end of the shown branch.
    package mutating func append(_ message: AssistantMessage) {
        tree = ConversationTree(all + [message])
        leaf = message.id
    }

    /// Replaces a message, if it still exists.
    package mutating func update(_ message: AssistantMessage) {
        tree = ConversationTree(all.map { $0.id == message.id ? message : $0 })
    }

    /// Shows the newest branch through a message.
    package mutating func show(_ id: String) { leaf = tree.newestLeaf(below: id) }

    /// Removes a message with all that follow it.
    package mutating func remove(_ id: String) {
        let removed = Set(tree.descendants(of: id))
        leaf = tree.leaf(leaf, afterRemoving: id)
        tree = ConversationTree(all.filter { !removed.contains($0.id) })
    }
}
