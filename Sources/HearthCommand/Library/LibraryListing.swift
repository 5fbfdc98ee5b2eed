import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthTransfer

extension Column where Row == LibraryRow {
    /// The mark before the default model.
    static var defaultMark: String { "*" }

    static var family: Self { .left("FAMILY") { $0.id.name } }
    static var size: Self { .right("SIZE") { $0.model.sizeText } }
    static var memory: Self {
        .right("MEMORY") { row in
            row.model.memoryText + (row.model.memoryContextLength.map { ", \($0) tokens" } ?? "")
        }
    }
    static var badges: Self { .left("BADGES") { $0.badges.map(\.text).joined(separator: ", ") } }
    static var state: Self { .left("STATE") { $0.stateText } }

    /// The mark of the default model, after a text.
    static func mark(after cursor: @escaping (LibraryRow) -> String = { _ in "" }) -> Self {
        .left("") { cursor($0) + ($0.isDefault ? defaultMark : " ") }
    }

    /// The name in at most so many columns.
    static func name(width: Int = .max) -> Self {
        .left("NAME") { TerminalText.truncated(TerminalText.singleLine($0.model.displayName), to: width) }
    }
}

extension ModelLibrary {
    /// Notices about the whole list: cached lists in use, and what could not be asked or read.
    var notices: [String] {
        cachedLists.map(\.sentence) + expiring.map(\.sentence)
            + [homeProblem, offerProblem].compactMap { $0.map { "\($0.message) [\($0.code)]" } }
    }
}
