import Foundation

/// The block `NOTE_ACTION`: creates, appends to and finds notes.
package struct NoteAction: AssistantAction {
    package let tag = ActionTag.note
    package let purpose = "The user's notes, in Markdown."
    let store: any NoteStore

    static let shape = PayloadSchema(
        fields: [
            .text("id", atMost: 64, about: "the id of the note, from an earlier result"),
            .text("title", atMost: 60, about: "the title; in append it finds the note"),
            .text("body", atMost: 280, about: "Markdown"),
            .text("query", atMost: 60, about: "the words to search for"),
        ],
        forms: [
            .init("create", required: ["title", "body"]),
            .init("append", required: ["title", "body"], optional: ["id"]),
            .init("search", required: ["query"]),
        ])

    package var schema: String { Self.shape.block }
    package var toolSchema: String { Self.shape.tool }

    package func plan(_ payload: NotePayload, in context: ActionContext) async throws -> ActionPlan {
        switch payload.action {
        case .create: try await creation(payload, context)
        case .append: try await appending(payload, context)
        case .search: try search(payload)
        }
    }

    private func creation(_ payload: NotePayload, _ context: ActionContext) async throws -> ActionPlan {
        guard payload.title != nil || payload.body != nil else { throw ActionRefusal.missing("title") }
        let change = try await store.creation(
            of: Note(
                id: context.key, title: payload.title ?? "", body: payload.body ?? "", created: context.now,
                changed: context.now))
        return ActionPlan(
            title: "New note", code: "new-note",
            fields: .init(("title", "Title", payload.title), ("body", "Text", payload.body)),
            effect: .changes, changes: [change])
    }

    private func appending(_ payload: NotePayload, _ context: ActionContext) async throws -> ActionPlan {
        guard let body = payload.body else { throw ActionRefusal.missing("body") }
        let note = try await store.meant(payload.id, payload.title, "note") { note, _ in Self.item(note) }
        let change = try await store.appending(body, to: note.id, at: context.now)
        return ActionPlan(
            title: "Add to a note", code: "append-note",
            fields: .init(("title", "Note", note.title), ("body", "Text", body)),
            effect: .changes, changes: [change])
    }

    private func search(_ payload: NotePayload) throws -> ActionPlan {
        guard let query = payload.query ?? payload.title else { throw ActionRefusal.missing("query") }
        return ActionPlan(
            title: "Search notes", code: "search-notes", fields: [.init(name: "query", label: "Query", value: query)],
            effect: .reads
        ) { [store] in
            let found = try await store.records(matching: query, limit: 8)
            return ActionPlan.Result(
                items: found.map(Self.item), note: found.isEmpty ? "No note fits." : nil,
                noteCode: "no-notes",
                outsideSource: found.outsideSource)
        }
    }

    private static func item(_ note: Note) -> ActionCard.Item {
        let body = PayloadText.cleaned(String(note.body.prefix(200)))
        return ActionCard.Item(
            id: note.id, title: note.title.isEmpty ? String(body.prefix(40)) : PayloadText.cleaned(note.title),
            detail: note.body.count > 200 ? body + "…" : body)
    }
}
