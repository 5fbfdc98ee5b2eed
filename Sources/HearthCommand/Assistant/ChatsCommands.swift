import Foundation
import HearthAssistant
import HearthBase

private let listing = "hearth chats list"

/// A conversation in a listing.
private struct ChatEntry: Encodable {
    let id: String
    let title: String
    let created: String
    let changed: String
    let messages: Int

    init(_ summary: ConversationSummary) {
        (id, title, messages) = (summary.id, summary.title, summary.messageCount)
        (created, changed) = (RecordText.json(summary.created), RecordText.json(summary.changed))
    }
}

extension AssistantHome {
    /// The conversation whose id is, or begins with, a word.
    func conversation(_ word: String) async throws -> ConversationSummary {
        if let exact = try await conversations.conversation(word) { return exact }
        let all = try await conversations.conversations(limit: 100_000, offset: 0)
        return try RecordText.only(
            word, among: all, id: \.id, title: { $0.title }, kind: "conversation", listing: listing)
    }

    /// The shown branch of a conversation.
    func branch(of summary: ConversationSummary) async throws -> [AssistantMessage] {
        let messages = try await conversations.messages(of: summary.id)
        return ConversationTree(messages).branch(to: summary.leaf)
    }
}

/// `hearth chats list`
struct ChatsList: Command {
    @Option(.limit) var limit: Int
    @Option(.listing) var format: ListingFormat

    static let declaration = CommandDeclaration(
        "chats", "list", summary: "List conversations, the last one first",
        """
        With --format json, an array of objects with id, title, created, changed and messages.

        hearth chats list --limit 10  # The last ten conversations.
        """)

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let all = try await home.conversations.conversations(limit: limit, offset: 0)
            let ids = all.map(\.id)
            try context.console.list(
                all, format, json: JSON.pretty(all.map(ChatEntry.init)), empty: "There are no conversations.",
                [
                    .left("ID") { RecordText.short($0.id, among: ids) },
                    .left("LAST") { RecordText().moment($0.changed) },
                    .right("MESSAGES") { String($0.messageCount) }, .left("TITLE") { $0.title },
                ])
        }
    }
}

/// `hearth chats search`
struct ChatsSearch: Command {
    @Argument("WORDS", .word, arity: .oneOrMore, "Words that have to be found, all of them.") var words: [String]
    @Option(.listing) var format: ListingFormat

    static let declaration = CommandDeclaration(
        "chats", "search", summary: "Find words in conversations",
        """
        Finds whole words, or beginnings from three letters on, without regard to accents and case; the newest messages
        first, at most 50.

        With --format json, an array of objects with conversation, title, message, date and excerpt.

        hearth chats search train tickets  # Where both words were said.
        """)

    private struct Entry: Encodable {
        let conversation: String
        let title: String
        let message: String
        let date: String
        let excerpt: String
    }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let hits = try await home.conversations.search(words.joined(separator: " "), limit: 50)
            let entries = hits.map {
                Entry(
                    conversation: $0.conversation.id, title: $0.conversation.title, message: $0.messageID,
                    date: RecordText.json($0.date), excerpt: $0.excerpt)
            }
            let ids = hits.map(\.conversation.id)
            try context.console.list(
                hits, format, json: JSON.pretty(entries), empty: "Nothing is found.",
                [
                    .left("ID") { RecordText.short($0.conversation.id, among: ids) },
                    .left("WHEN") { RecordText().moment($0.date) }, .left("TEXT") { $0.excerpt },
                ])
        }
    }
}

/// `hearth chats show`
struct ChatsShow: Command {
    @Argument(.recordID) var id: String
    @Option(.listing) var format: ListingFormat

    static let declaration = CommandDeclaration(
        "chats", "show", summary: "Show a conversation",
        """
        Prints the shown branch, with Markdown painted at a terminal. With --format json, the document of hearth chats
        export --format json.

        hearth chats show 3f2a91c0  # Read a conversation again.
        """)

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let summary = try await home.conversation(id)
            let export = ConversationExport(summary, messages: try await home.branch(of: summary))
            switch format {
            case .json: try context.console.write(String(decoding: export.json(), as: UTF8.self) + "\n")
            case .table: try context.console.printMarkdown(export.markdown())
            }
        }
    }
}

/// `hearth chats export`
struct ChatsExport: Command {
    @Argument(
        "ID", .word, arity: .optional,
        "The id, or its beginning, as the listing shows it; or the title. Without it, all conversations as JSON.")
    var id: String?
    @Option(wrappedValue: .markdown, "format", "FORMAT", .choice, "markdown, or json with all branches.")
    var format: ChatFormat
    @Option(.exportFile) var file: String?

    static let declaration = CommandDeclaration(
        "chats", "export", summary: "Write conversations as Markdown or JSON",
        """
        JSON has every branch, the model's thinking, and pictures as base64. Without an ID all conversations are written
        as one JSON document, which hearth chats import reads.

        hearth chats export 3f2a91c0 --to trip.md  # Keep a conversation as a document.
        hearth chats export --to all.json          # Keep all conversations.
        """)

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            guard let id else { return try await context.exportAll(home, to: file) }
            let summary = try await home.conversation(id)
            try await context.export(format.data(of: summary, in: home), to: file)
        }
    }
}

/// The format of an exported conversation.
enum ChatFormat: String, CaseIterable, Sendable {
    case markdown, json

    func data(of summary: ConversationSummary, in home: AssistantHome) async throws -> Data {
        switch self {
        case .markdown:
            Data(ConversationExport(summary, messages: try await home.branch(of: summary)).markdown().utf8)
        case .json:
            try ConversationExport(
                summary, messages: try await home.conversations.messages(of: summary.id)
            ).json()
        }
    }
}

/// `hearth chats rename`
struct ChatsRename: Command {
    @Argument(.recordID) var id: String
    @Argument("TITLE", .text, "The new title; empty for the beginning of the first question.") var title: String

    static let declaration = CommandDeclaration(
        "chats", "rename", summary: "Give a conversation another title",
        """
        hearth chats rename 3f2a91c0 "Trip to Lisbon"  # Find it again more easily.
        """)

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            var summary = try await home.conversation(id)
            summary.title = title
            try await home.conversations.save(summary)
            context.console.say("Renamed.")
        }
    }
}

/// `hearth chats remove`
struct ChatsRemove: Command {
    @Argument(.recordID) var id: String

    static let declaration = CommandDeclaration(
        "chats", "remove", summary: "Remove a conversation for good", isDestructive: true,
        """
        The actions that it carried out stay. A removed conversation cannot be brought back.

        hearth chats remove 3f2a91c0  # Remove a conversation.
        """)

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let summary = try await home.conversation(id)
            try await home.conversations.removeConversation(summary.id)
            context.console.say("Removed \"\(summary.title.shownOnTerminal)\".")
        }
    }
}
