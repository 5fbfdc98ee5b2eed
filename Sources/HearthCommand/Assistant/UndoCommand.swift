import Foundation
import HearthAssistant
import HearthBase

/// `hearth undo`
struct Undo: Command {
    @Argument(
        "ID", .word, arity: .optional, "The action's id, or its beginning; without it, the last one that can be undone."
    ) var key: String?
    @Flag("list", "Show the last actions instead.") var lists
    @Option(.limit) var limit: Int
    @Option(.listing) var format: ListingFormat

    static let declaration = CommandDeclaration(
        "undo", summary: "Take an action back", isDestructive: true,
        """
        Actions of the assistant, and of the commands that add, change and import records, can be undone for 30 days. If
        another program has changed the record since, nothing is undone.

        With --list and --format json, an array of objects with id, tag, title, state, canUndo, created, conversation,
        fields and note.

        hearth undo  # Take the last action back.
        hearth undo --list  # See what was done, and what can be undone.
        hearth undo 3f2a91c0  # Take a certain action back.
        """)

    /// An action in a listing.
    struct Entry: Encodable {
        let id: String
        let tag: String
        let title: String
        let state: String
        let canUndo: Bool
        let created: String
        let conversation: String
        let fields: [ActionCard.Field]
        @OrNull var note: String?

        init(_ entry: ActionEntry) {
            id = entry.id
            (tag, title, state) = (entry.card.tag.rawValue, entry.card.title, entry.card.state.rawValue)
            canUndo = entry.canBeUndone
            created = RecordText.json(entry.created)
            conversation = entry.conversation
            fields = entry.card.fields
            note = entry.card.note
        }
    }

    func run(in context: CommandContext) async throws {
        try await context.withRecords { records in
            let entries = try await records.actions(limit: 1000)
            if lists { return try list(Array(entries.prefix(limit)), context) }
            let card = try await records.undo(try chosen(entries).id)
            switch format {
            case .json: try context.console.print(JSON.text(["id": card.id, "state": card.state.rawValue]))
            case .table: context.console.say("Undone: \(TerminalText.singleLine(card.line))")
            }
        }
    }

    private func chosen(_ entries: [ActionEntry]) throws -> ActionEntry {
        if let key {
            return try RecordText.only(key, among: entries, id: \.id, kind: "action", listing: "hearth undo --list")
        }
        guard let last = entries.first(where: \.canBeUndone) else {
            throw AssistantError(
                .noSuchRecord, "no action can be undone",
                context: ErrorContext(remedy: "`hearth undo --list` shows the last actions."))
        }
        return last
    }

    private func list(_ entries: [ActionEntry], _ context: CommandContext) throws {
        let ids = entries.map(\.id)
        try context.console.list(
            entries, format, json: JSON.pretty(entries.map(Entry.init)), empty: "No action is recorded.",
            [
                .left("ID") { RecordText.short($0.id, among: ids) },
                .left("WHEN") { RecordText().moment($0.created) }, .left("STATE") { $0.card.state.rawValue },
                .left("UNDO") { $0.canBeUndone ? "yes" : "-" }, .left("ACTION") { $0.card.line },
            ])
    }
}

extension ActionEntry {
    fileprivate var canBeUndone: Bool { state == .done && !changes.isEmpty }
}

extension ActionCard {
    /// The title with the first values.
    fileprivate var line: String {
        let values = fields.prefix(2).map(\.value).joined(separator: ", ")
        return values.isEmpty ? title : "\(title): \(values)"
    }
}
