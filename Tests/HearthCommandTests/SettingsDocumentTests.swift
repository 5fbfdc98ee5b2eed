import Foundation
import Hearth
import HearthBase
import HearthTestSupport
import Testing

/// The table of `docs/settings.md` is that of the program.
@Suite struct SettingsDocumentTests {
    private static let path = Path(#filePath).parent.parent.parent.appending("docs").appending("settings.md")

    private static var table: String {
        let rows = Setting.table.map { row in
            "| `\(row.key)` | \(row.values) | \(row.unset.isEmpty ? "none" : row.unset) | \(row.summary) |\n"
        }
        return "| setting | value | default | meaning |\n| --- | --- | --- | --- |\n" + rows.joined()
    }

    /// `HEARTH_RECORD=1 swift test` writes the table anew.
    @Test func theTableIsThatOfTheProgram() throws {
        let document = try String(contentsOfFile: Self.path.string, encoding: .utf8)
        let start = try required(document.range(of: "| setting |")).lowerBound
        let end = document.range(of: "\n\n", range: start..<document.endIndex)?.lowerBound
        let place = start..<(end.map { document.index(after: $0) } ?? document.endIndex)
        if ProcessInfo.processInfo.environment["HEARTH_RECORD"] == "1" {
            let text = document.replacingCharacters(in: place, with: Self.table)
            return try LocalFileSystem().replaceContents(of: Self.path, with: Data(text.utf8))
        }
        #expect(document[place] == Self.table)
    }
}
