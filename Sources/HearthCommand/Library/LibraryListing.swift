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

extension ModelLibrary {
    /// Notices about the whole list: cached lists in use, and what could not be asked or read.
    var notices: [String] {
        cachedLists.map(\.sentence) + expiring.map(\.sentence)
            + [homeProblem, offerProblem].compactMap { $0.map { "\($0.message) [\($0.code)]" } }
    }
}
