/// A record that is not kept as another program wrote it, or that Hearth does not show as that program does.
public struct RecordProblem: Sendable, Hashable, Codable {
    /// The kind of the problem, such as `unreadable-start`.
    public var code: String
    /// The line of the imported file where the record begins, from 1; `nil` for a problem of the store.
    public var line: Int?
    /// The UID; empty for one that is not known.
    public var id: String
    public var title: String
    /// The reason in a sentence.
    public var reason: String
    /// The file in the home folder, such as `calendar/.unreadable/1f0c….ics`; `nil` for a record of an imported file that is
    /// not stored yet.
    public var file: String?
}

extension RecordProblem {
    /// The kinds of problems. Those of unreadable records come first.
    enum Code: String {
        /// An event without a start.
        case noStart = "no-start"
        case unreadableStart = "unreadable-start"
        /// Another time of a record that other programs cannot read past.
        case unreadableTime = "unreadable-time"
        /// A contact without a name, number and address.
        case emptyContact = "empty-contact"
        /// A record of more bytes than a file may have.
        case largeRecord = "large-record"
        /// A file of a collection that cannot be read.
        case unreadableFile = "unreadable-file"
        /// A changed occurrence that cannot be read; its series is kept.
        case unreadableOccurrence = "unreadable-occurrence"

        /// An end or length that cannot be read; the record is kept without it.
        case unreadableEnd = "unreadable-end"
        /// Whole days that end at a time of day.
        case mixedEnd = "mixed-end"
        case endBeforeStart = "end-before-start"
        /// A zone that no definition, database or offset explains; the device's counts.
        case unknownZone = "unknown-zone"
        /// A recurrence that is listed once.
        case notExpanded = "not-expanded"
        /// A second record under a UID; it has one of its own.
        case sameID = "same-id"
        /// A line that is no property; it is kept under a name of Hearth's.
        case unreadableLine = "unreadable-line"
        /// An unreadable record that can be read now.
        case readable
    }

    init(_ code: Code, line: Int? = nil, id: String, title: String = "", _ reason: String, file: String? = nil) {
        self.init(
            code: code.rawValue, line: line, id: String(id.prefix(200)), title: String(title.prefix(200)),
            reason: reason,
            file: file)
    }
}

/// Components of a file that an import of another kind takes, or that no import takes.
public struct OtherComponents: Sendable, Hashable, Codable {
    /// The name, such as `VTODO`.
    public var component: String
    public var count: Int
    /// The kind of records that takes them, such as `reminders`; `nil` where none does.
    public var store: StoreKind?
}

/// The changes that import a file, and what else it has. Nothing is written yet.
package struct RecordImportPlan: Sendable {
    /// One for each record that can be read.
    package var changes: [RecordChange] = []
    /// Those that keep the bytes of what cannot be read.
    package var kept: [RecordChange] = []
    /// The number of records that cannot be read.
    package var unreadable = 0
    package var other: [OtherComponents] = []
    package var problems: [RecordProblem] = []

    /// - Parameter changes: of a file in which everything can be read.
    package init(_ changes: [RecordChange] = []) { self.changes = changes }

    /// Whether the file has no record of the kind.
    var isEmpty: Bool { changes.isEmpty && kept.isEmpty }

    /// Counts components that the import does not take, by name.
    mutating func addOther(_ names: [String]) {
        for name in Set(names).sorted() {
            let store: StoreKind? = ["VEVENT": .calendar, "VTODO": .reminders, "VCARD": .contacts][name]
            other.append(OtherComponents(component: name, count: names.count { $0 == name }, store: store))
        }
    }
}
