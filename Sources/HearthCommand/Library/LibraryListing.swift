import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthTransfer

/// The rows of a library as a table, for listings and screens.
struct LibraryTable: Sendable {
    /// The columns, from left to right.
    enum Column: Sendable, CaseIterable { case mark, family, name, size, memory, badges, state }

    /// The mark before the default model.
    static let defaultMark = "*"

    let columns: [Column]
    private var table: Table

    /// A table with some of the columns.
    init(_ columns: [Column] = Column.allCases) {
        self.columns = columns
        table = Table(columns: columns.map { ($0.title, $0.alignment) })
    }

    /// The header, then one line for each row.
    var lines: [String] { table.lines }

    /// Adds a row.
    /// - Parameters:
    ///   - cursor: the text before the mark of the default model.
    ///   - nameWidth: the maximum columns of a name.
    mutating func add(_ row: LibraryRow, cursor: String = "", nameWidth: Int = .max) {
        table.add(
            cells: columns.map { column in
                switch column {
                case .mark: cursor + (row.isDefault ? Self.defaultMark : " ")
                case .family: row.id.name
                case .name: TerminalText.truncated(TerminalText.singleLine(row.model.displayName), to: nameWidth)
                case .size: row.model.sizeText
                case .memory: row.model.memoryText
                case .badges: row.badges.map(\.text).joined(separator: ", ")
                case .state: row.stateText
                }
            })
    }
}

extension LibraryTable.Column {
    fileprivate var title: String {
        switch self {
        case .mark: ""
        case .family: "FAMILY"
        case .name: "NAME"
        case .size: "SIZE"
        case .memory: "MEMORY"
        case .badges: "BADGES"
        case .state: "STATE"
        }
    }

    fileprivate var alignment: Table.Alignment { self == .size || self == .memory ? .right : .left }
}

/// A row in `hearth models --format json`; absent values are `null`.
struct LibraryEntry: Encodable, Sendable {
    private let row: LibraryRow

    init(_ row: LibraryRow) { self.row = row }

    private enum CodingKeys: CodingKey {
        case family, version, variant, name, summary, role, state, progress, code, detail, action, presence, installed
        case update, rollback, sizeBytes, receivedBytes, memoryBytes, badges, isDefault, isSelected
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        let model = row.model
        try container.encode(row.id.name, forKey: .family)
        try container.encode(model.identity.version.name, forKey: .version)
        try container.encode(model.identity.variant?.name, forKey: .variant)
        try container.encode(model.displayName, forKey: .name)
        try container.encode(model.summary, forKey: .summary)
        try container.encode(model.role.rawValue, forKey: .role)
        try container.encode(row.state.word, forKey: .state)
        try container.encode(row.progress, forKey: .progress)
        try container.encode(row.detailCode, forKey: .code)
        try container.encode(row.detailText, forKey: .detail)
        try container.encode(row.primaryAction?.rawValue, forKey: .action)
        try container.encode(row.presence.rawValue, forKey: .presence)
        try container.encode(row.local?.model.identity.version.name, forKey: .installed)
        try container.encode(row.update?.version.name, forKey: .update)
        try container.encode(row.rollback?.version.name, forKey: .rollback)
        try container.encode(model.size, forKey: .sizeBytes)
        try container.encode(row.reading?.completedBytes, forKey: .receivedBytes)
        try container.encode(model.requiredMemory, forKey: .memoryBytes)
        try container.encode(row.badges.map(\.rawValue), forKey: .badges)
        try container.encode(row.isDefault, forKey: .isDefault)
        try container.encode(row.isSelected, forKey: .isSelected)
    }
}

extension ModelLibrary {
    /// Notices about the whole list: cached lists in use, and what could not be asked or read.
    var notices: [String] {
        cachedLists.map(\.sentence)
            + [homeProblem, offerProblem].compactMap { $0.map { "\($0.message) [\($0.code)]" } }
    }
}
