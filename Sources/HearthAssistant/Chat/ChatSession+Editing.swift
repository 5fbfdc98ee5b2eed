import Foundation
import HearthInference

extension ChatSession {
    /// Deletes a message with all that follow it. A running answer among them ends.
    public func delete(_ id: String) async {
        messagesKept.remove(id)
        if let turn, messagesKept[turn.message.id] == nil { stop() }
        await saver.remove(id)
    }

    /// The alternatives of a message with itself, the oldest first.
    public func alternatives(to id: String) -> [AssistantMessage] {
        let tree = messagesKept.tree
        guard let message = tree.message(id) else { return [] }
        return tree.children(of: message.parent)
    }

    /// Shows the branch of a message, to its newest end.
    public func show(_ id: String) async {
        guard turn == nil, messagesKept[id] != nil else { return }
        messagesKept.show(id)
        conversation.leaf = messagesKept.leaf
        await saver.save(summaryToKeep)
    }

    /// Names the conversation; an empty title is the first words of the first question again.
    public func rename(_ title: String) async {
        conversation.title = title
        await saver.save(summaryToKeep)
    }

    /// Moves the conversation in lists.
    package func arrange(_ place: ConversationPlace) async {
        conversation.place = place
        await saver.arrange(summaryToKeep)
    }

    /// Ends a conversation that is being removed: its answer stops, and nothing of it is kept any more.
    package func end() async {
        let reading = preparation
        endReading()
        stop()
        // What was read early can be forgotten once nothing reads it.
        await reading?.value
        await saver.end()
    }

    /// The conversation as a document: the shown branch, or all branches.
    package func export(allBranches: Bool = false) -> ConversationExport {
        ConversationExport(summary, messages: allBranches ? tree.messages : messages)
    }

    /// The conversation for the store. The beginning of the first question is its title unless the user named it.
    var summaryToKeep: ConversationSummary {
        var kept = conversation
        kept.leaf = messagesKept.leaf
        if kept.title.isEmpty, let question = messagesKept.all.first(where: { $0.role == .user }) {
            kept.title = ConversationTitle.derived(from: question.content)
        }
        return kept
    }
}
