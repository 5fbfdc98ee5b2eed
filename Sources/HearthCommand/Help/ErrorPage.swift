import CDocuments
import Foundation

/// What the document of errors says about a code: the parts of Hearth that use it, each with the cause and the cure.
struct ErrorPage: Sendable {
    private struct Row: Sendable {
        let code: String
        /// The heading above the row, without the name of the Swift type.
        let part: String
        let cause: String
        let cure: String
    }

    private let code: String
    private let rows: [Row]

    /// The page of a code; `nil` for one that the document does not have.
    init?(code: String) {
        let rows = Self.all.filter { $0.code == code }
        guard !rows.isEmpty else { return nil }
        (self.code, self.rows) = (code, rows)
    }

    /// All codes, in the order of the document.
    static var codes: [String] {
        var seen: Set<String> = []
        return all.map(\.code).filter { seen.insert($0).inserted }
    }

    /// The page as text of 80 columns.
    var text: String {
        "\(code)\n"
            + rows.map { row in
                "\n\(row.part.uppercased())\n" + HelpText.row("Cause", row.cause, column: 9)
                    + HelpText.row("Cure", row.cure, column: 9)
            }
            .joined()
    }

    /// The rows of docs/errors.md, which is compiled into the program.
    private static let all: [Row] = {
        let bytes = UnsafeRawBufferPointer(start: hearth_errors(), count: hearth_errors_length())
        var part = ""
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            if line.hasPrefix("## ") {
                part = line.dropFirst(3).prefix { $0 != "`" }.trimmingCharacters(in: [" ", ":"])
            }
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard line.hasPrefix("| `"), cells.count == 3 else { return nil }
            return Row(code: cells[0].filter { $0 != "`" }, part: part, cause: plain(cells[1]), cure: plain(cells[2]))
        }
    }()

    /// A cell without the addresses of links.
    private static func plain(_ cell: String) -> String {
        cell.replacing(/\[([^\]]*)\]\([^)]*\)/) { String($0.1) }
    }
}
