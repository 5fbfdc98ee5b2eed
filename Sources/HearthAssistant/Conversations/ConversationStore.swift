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
    /// Whether lists show the conversation before the others.
    public var pinned = false
    /// Whether lists leave the conversation out unless archived ones are asked for.
    public var archived = false
    /// The name of the folder, at most 60 characters; `nil` outside of folders.
    public var folder: String?
}

extension ConversationSummary {
    /// Reads a conversation; one of an earlier version has no pin, archive or folder.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try container.decode(String.self, forKey: .id),
            title: try container.decode(String.self, forKey: .title),
            created: try container.decode(Date.self, forKey: .created),
            changed: try container.decode(Date.self, forKey: .changed),
            messageCount: try container.decodeIfPresent(Int.self, forKey: .messageCount) ?? 0,
            leaf: try container.decodeIfPresent(String.self, forKey: .leaf),
            settings: try container.decodeIfPresent(ConversationSettings.self, forKey: .settings),
            pinned: try container.decodeIfPresent(Bool.self, forKey: .pinned) ?? false,
            archived: try container.decodeIfPresent(Bool.self, forKey: .archived) ?? false,
            folder: try container.decodeIfPresent(String.self, forKey: .folder))
    }

    /// Where the conversation stands in lists.
    package var place: ConversationPlace {
        get { ConversationPlace(pinned: pinned, archived: archived, folder: folder) }
        set { (pinned, archived, folder) = (newValue.pinned, newValue.archived, newValue.folder) }
    }
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

    /// A part of the list: pinned conversations first, then the others, those changed last first.
    func page(_ query: ConversationQuery) async throws -> ConversationPage

    /// The folders by name, and the number of archived conversations.
    func folders() async throws -> ConversationFolders

    /// The conversation with an id; `nil` if there is none.
    func conversation(_ id: String) async throws -> ConversationSummary?

    /// The messages of all branches, by date. None of them `isThinking`: what was thinking when the process ended has ended.
    func messages(of conversation: String) async throws -> [AssistantMessage]

    /// Moves a conversation in lists. A missing one stays missing.
    func arrange(_ id: String, _ place: ConversationPlace) async throws

    /// Adds a conversation of a document in one step, or the messages of it that are missing here. Messages that are here
    /// stay as they are. The leaf follows new messages only if they continue the shown branch.
    func add(_ document: ConversationExport) async throws -> ConversationAddition

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

    /// A part of the conversations whose title or messages have all of the words, as in ``search(_:limit:)``: those with the
    /// newest found message first, archived ones too.
    func find(_ search: ConversationSearch) async throws -> ConversationFinds

    /// Brings the indexes up to date and reads them once, so that the first search is as fast as later ones.
    func prepareSearch() async throws

    /// Removes everything, from the disk too.
    func eraseAll() async throws
}
