import HearthBase

/// The refusal of an action that cannot be planned, with the records that it may mean.
struct ActionRefusal: Error {
    let error: AssistantError
    var items: [ActionCard.Item] = []
    var itemsForModel: [ActionCard.Item]?

    static func missing(_ field: String) -> AssistantError { PayloadDecoder.unusable("\(field) is missing") }

    static func ambiguous(_ kind: String, _ items: [ActionCard.Item], forModel: [ActionCard.Item]? = nil)
        -> ActionRefusal
    {
        let names = items.map { $0.detail.isEmpty ? $0.title : "\($0.title) (\($0.detail))" }
        return ActionRefusal(
            error: AssistantError(
                .ambiguousRecord, "several \(kind) fit: \(names.joined(separator: "; "))"),
            items: items, itemsForModel: forModel)
    }

    static func unknown(_ kind: String) -> AssistantError {
        AssistantError(.noSuchRecord, "no \(kind) fits the description")
    }
}
