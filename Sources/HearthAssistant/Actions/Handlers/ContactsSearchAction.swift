/// The block `CONTACTS_SEARCH`: finds contacts by name, nickname, number or mail address.
package struct ContactsSearchAction: AssistantAction {
    package let tag = ActionTag.contactsSearch
    package let purpose = "Finds people in the user's contacts."
    let store: any ContactStore

    static let shape = PayloadSchema(
        fields: [.text("query", atMost: 60, about: "a name, nickname, number or mail address")],
        forms: [.init(nil, required: ["query"])])

    package var schema: String { Self.shape.block }
    package var toolSchema: String { Self.shape.tool }

    /// The most contacts of a result.
    static let limit = 8

    package func plan(_ payload: QueryPayload, in context: ActionContext) async throws -> ActionPlan {
        ActionPlan(
            title: "Search contacts", code: "search-contacts",
            fields: [.init(name: "query", label: "Query", value: payload.query)],
            effect: .reads
        ) { [store] in
            let found = try await store.records(matching: payload.query, limit: Self.limit + 1)
            // Cards come from other people, unless the user says otherwise of an address book.
            let own = await (store as? VdirContactStore)?.ownBooks ?? []
            let isOwn = found.prefix(Self.limit).allSatisfy { $0.source == nil && own.contains($0.collection) }
            let items = found.prefix(Self.limit).map { contact in
                ActionCard.Item(
                    id: contact.id, title: PayloadText.cleaned(contact.name), detail: Self.detail(of: contact))
            }
            return ActionPlan.Result(
                items: items,
                note: found.isEmpty ? "No contact fits." : found.count > Self.limit ? "There are more." : nil,
                noteCode: found.isEmpty ? "no-contacts" : "more",
                outsideSource: items.isEmpty || isOwn ? nil : "contacts")
        }
    }

    private static func detail(of contact: Contact) -> String {
        func list(_ entries: [Contact.Entry]) -> [String] {
            entries.prefix(4).map { $0.label.isEmpty ? $0.value : "\($0.value) (\($0.label))" }
        }
        let parts =
            list(contact.numbers) + list(contact.mails) + [contact.organization, String(contact.note.prefix(120))]
        return PayloadText.cleaned(parts.filter { !$0.isEmpty }.joined(separator: ", "))
    }
}
