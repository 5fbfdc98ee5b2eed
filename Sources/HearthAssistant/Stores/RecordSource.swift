/// Where the texts of records are from.
enum RecordSource {
    /// The names of sources together; `nil` for none.
    static func joined(_ sources: [String]) -> String? {
        var names: [String] = []
        for source in sources where !names.contains(source) { names.append(source) }
        guard !names.isEmpty else { return nil }
        let more = names.count > 3 ? " and \(names.count - 3) more" : ""
        return (names.prefix(3).joined(separator: ", ") + more).promptLine(200)
    }
}

extension Sequence where Element: UserRecord {
    /// Where the texts of others among the records are from; `nil` if all are the user's own.
    var outsideSource: String? { RecordSource.joined(compactMap(\.source)) }
}
