import Foundation

/// A conversation in a list.
public struct ConversationSummary: Sendable, Hashable, Codable, Identifiable {
    public let id: String
    /// The user's title, or the beginning of the first question.
    public var title: String
    public var created: Date
    public var changed: Date
    /// The number of messages of all branches.
    public var messageCount = 0
    /// The last message of the shown branch; `nil` without messages.
    public var leaf: String?
    /// The conversation's own settings; `nil` without any.
    package var settings: ConversationSettings?
}

/// A message found by a search.
package struct ConversationHit: Sendable, Hashable {
    package var conversation: ConversationSummary
    package var messageID: String
    /// The text around the first found word, at most 160 characters.
    package var excerpt: String
    package var date: Date
}

/// Keeps conversations.
package protocol ConversationStore: Sendable {
    /// The conversations changed last first.
    func conversations(limit: Int, offset: Int) async throws -> [ConversationSummary]

    /// The conversation with an id; `nil` if there is none.
    func conversation(_ id: String) async throws -> ConversationSummary?

    /// The messages of all branches, by date. None of them `isThinking`: what was thinking when the process ended has ended.
    func messages(of conversation: String) async throws -> [AssistantMessage]

    /// Creates a conversation, or changes its title, leaf and settings. While the title is empty, the first question becomes it.
    func save(_ conversation: ConversationSummary) async throws

    /// Saves a message; one of the same id is replaced. A missing conversation is created.
    ///
    /// A new message becomes the conversation's leaf, and its date the conversation's. Replacing one changes neither, so that
    /// the card of an old message can change. The cost depends on the message alone: save it as often as it grows.
    func save(_ message: AssistantMessage, in conversation: String) async throws

    /// Removes a message with all that follow it.
    func removeMessage(_ id: String, in conversation: String) async throws

    func removeConversation(_ id: String) async throws

    /// The messages with all of the words, newest first, at most 50: whole words, or beginnings from three letters on; accents
    /// and case do not count. Any text is a search; one without letters and digits finds nothing.
    func search(_ words: String, limit: Int) async throws -> [ConversationHit]

    /// Removes everything, from the disk too.
    func eraseAll() async throws
}
