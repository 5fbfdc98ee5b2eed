import HearthBase

/// The refusal of an action that cannot be planned, with the records that it may mean.
struct ActionRefusal: Error {
    let error: AssistantError
    var items: [ActionCard.Item] = []
    var itemsForModel: [ActionCard.Item]?
    /// Where the texts of the items are from, if others wrote them.
    var outsideSource: String?

    static func missing(_ field: String) -> AssistantError {
        PayloadDecoder.unusable("\(field) is missing", field: field)
    }

    static func unknown(_ kind: String) -> AssistantError {
        AssistantError(.noSuchRecord, "no \(kind) fits the description")
    }
}

extension RecordStore {
    /// The record that a payload means: the one with the id, or the one whose title fits.
    /// - Parameters:
    ///   - isOpen: the condition of a record that is found by its title; `nil` for none.
    ///   - item: a record on the card, or as the model sees it.
    func meant(
        _ id: String?, _ title: String?, _ kind: String, isOpen: ((Record) -> Bool)? = nil,
        item: (Record, _ isForModel: Bool) -> ActionCard.Item
    ) async throws -> Record {
        if let id {
            guard let record = try await record(id), isOpen?(record) ?? true else { throw ActionRefusal.unknown(kind) }
            return record
        }
        guard let title else { throw ActionRefusal.missing("title") }
        let all = try await records(matching: title, limit: isOpen == nil ? 6 : .max)
        let found = Array(all.lazy.filter { isOpen?($0) ?? true }.prefix(6))
        let wanted = SearchText.folded(title)
        let exact = found.filter { SearchText.folded($0.displayName) == wanted }
        let fitting = exact.isEmpty ? found : exact
        if let only = fitting.first, fitting.count == 1 { return only }
        if found.isEmpty { throw ActionRefusal.unknown(kind) }
        let items = fitting.map { item($0, false) }
        let names = items.map { $0.detail.isEmpty ? $0.title : "\($0.title) (\($0.detail))" }
        throw ActionRefusal(
            error: AssistantError(.ambiguousRecord, "several \(kind)s fit: \(names.joined(separator: "; "))"),
            items: items, itemsForModel: fitting.map { item($0, true) },
            outsideSource: fitting.outsideSource)
    }
}

extension [ActionCard.Field] {
    /// The values that are given: the name, the label and the text of each.
    init(_ rows: (name: String, label: String, value: String?)...) {
        self = rows.compactMap { row in row.value.map { .init(name: row.name, label: row.label, value: $0) } }
    }

    /// The fields with the values that programs read, by name.
    func raw(_ values: [String: String?]) -> Self {
        map { field in
            var field = field
            field.raw = values[field.name] ?? nil
            return field
        }
    }
}
