import Hearth
import HearthBase
import HearthDelivery

/// The rows of a library as a table: the same columns for a listing and for a screen.
struct LibraryTable: Sendable {
    /// A column, in the order in which they stand.
    enum Column: Sendable, CaseIterable { case mark, family, name, size, memory, badges, state }

    /// What stands before the model of the settings.
    static let defaultMark = "*"

    let columns: [Column]
    private var table: Table

    /// A table of some columns.
    init(_ columns: [Column] = Column.allCases) {
        self.columns = columns
        table = Table(columns: columns.map { ($0.title, $0.alignment) })
    }

    /// The header, and then one line for each row.
    var lines: [String] { table.lines }

    /// Adds a row.
    /// - Parameters:
    ///   - cursor: what stands before the mark of the settings' model.
    ///   - nameWidth: the columns a name may take.
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

/// A row as `hearth models --format json` shows it; `null` where there is nothing.
struct LibraryEntry: Encodable, Sendable {
    private let row: LibraryRow

    init(_ row: LibraryRow) { self.row = row }

    private enum CodingKeys: CodingKey {
        case family, version, variant, name, summary, role, state, progress, code, detail, action, presence, installed
        case update, sizeBytes, memoryBytes, badges, isDefault, isSelected
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
        try container.encode(model.size, forKey: .sizeBytes)
        try container.encode(model.requiredMemory, forKey: .memoryBytes)
        try container.encode(row.badges.map(\.rawValue), forKey: .badges)
        try container.encode(row.isDefault, forKey: .isDefault)
        try container.encode(row.isSelected, forKey: .isSelected)
    }
}

extension ModelLibrary {
    /// What a person has to know of the list as a whole: whose list is an old one, and what could not be asked or read.
    var notices: [String] {
        keptLists.map(\.sentence)
            + [homeProblem, offerProblem].compactMap { $0.map { "\($0.message) [\($0.code)]" } }
    }
}
