import Foundation

/// The text of a .docx file: paragraphs as lines, headings with `#`, list items with `-`, the rows of tables between `|`.
struct WordText {
    private(set) var text = ""
    private(set) var isCut = false

    private struct Paragraph {
        var text = ""
        var style = ""
        var listLevel: Int?
    }

    private struct Table {
        var rows: [[String]] = []
        /// The most bytes of its lines.
        var bytes = 0
    }

    private let limit: Int
    private let headings: [String: Int]
    private var paragraphs: [Paragraph] = []
    private var tables: [Table] = []
    /// The bytes of all open tables.
    private var tableBytes = 0
    /// The elements within properties, and within what is a copy for older programs.
    private var properties = 0
    private var copies = 0
    private var isText = false

    /// Reads an archive. Blocks.
    /// - Parameter limit: the most bytes of the text.
    /// - Throws: ``AssistantError``.
    init(_ data: Data, limit: Int) throws {
        self.limit = limit
        let package = try WordPackage(data)
        headings = try Self.headings(package.styles)
        try XMLEvents.read(package.body) { event, attribute in
            take(event, attribute)
            return !isCut
        }
        // What was read of the tables before the cut.
        while !tables.isEmpty { endTable() }
        text = text.trimmingCharacters(in: .newlines)
        guard text.contains(where: { !$0.isWhitespace }) else { throw DocumentReader.unknown("it has no text") }
    }

    /// The levels of headings by the ids of their styles, which differ between languages; their names do not.
    private static func headings(_ styles: Data) throws -> [String: Int] {
        guard !styles.isEmpty else { return [:] }
        var levels: [String: Int] = [:]
        var style: String?
        try XMLEvents.read(styles) { event, attribute in
            switch event {
            case .begin("style", _): style = attribute("styleId")
            case .begin("name", _):
                guard let id = style, let name = attribute("val")?.lowercased() else { break }
                if name == "title" { levels[id] = 1 }
                if name.hasPrefix("heading "), let level = Int(name.dropFirst(8)) { levels[id] = min(6, max(1, level)) }
            case .end("style"): style = nil
            default: break
            }
            return true
        }
        return levels
    }

    private mutating func take(_ event: XMLEvents.Event, _ attribute: (String) -> String?) {
        switch event {
        case .begin(let name, let isEmpty): begin(name, isEmpty: isEmpty, attribute)
        case .end(let name): end(name)
        case .text(let words): if isText, copies == 0 { append(words) }
        }
    }

    private mutating func begin(_ name: String, isEmpty: Bool, _ attribute: (String) -> String?) {
        switch name {
        case "Fallback" where !isEmpty: copies += 1
        case _ where copies > 0: break
        case "p":
            paragraphs.append(Paragraph())
            if isEmpty { endParagraph() }
        case "pPr" where !isEmpty: properties += 1
        case "pStyle": change { $0.style = attribute("val") ?? "" }
        case "ilvl": change { $0.listLevel = min(8, max(0, attribute("val").flatMap { Int($0) } ?? 0)) }
        case "numId": change { $0.listLevel = attribute("val") == "0" ? nil : $0.listLevel ?? 0 }
        case "t": isText = !isEmpty
        case "tab" where properties == 0: append("\t")
        case "br", "cr": if properties == 0 { append("\n") }
        case "noBreakHyphen": append("-")
        case "tbl" where !isEmpty: tables.append(Table())
        case "tr": changeTable(adding: Self.rowBytes) { $0.rows.append([]) }
        case "tc":
            changeTable(adding: Self.cellBytes) { if !$0.rows.isEmpty { $0.rows[$0.rows.count - 1].append("") } }
        default: break
        }
    }

    private mutating func end(_ name: String) {
        switch name {
        case "Fallback": copies = max(0, copies - 1)
        case _ where copies > 0: break
        case "p": endParagraph()
        case "pPr": properties = max(0, properties - 1)
        case "t": isText = false
        case "tbl": endTable()
        default: break
        }
    }

    private mutating func change(_ body: (inout Paragraph) -> Void) {
        if !paragraphs.isEmpty { body(&paragraphs[paragraphs.count - 1]) }
    }

    /// The signs around a row and a cell. They bound how many of these a text has.
    private static let (rowBytes, cellBytes) = (7, 3)

    private mutating func changeTable(adding bytes: Int, _ body: (inout Table) -> Void) {
        guard !tables.isEmpty, hasRoom(for: bytes) else { return }
        tableBytes += bytes
        tables[tables.count - 1].bytes += bytes
        body(&tables[tables.count - 1])
    }

    /// Whether the text may grow by so many bytes; it is cut otherwise.
    private mutating func hasRoom(for bytes: Int) -> Bool {
        guard text.utf8.count + tableBytes + bytes < limit else {
            isCut = true
            return false
        }
        return true
    }

    private mutating func append(_ words: String) { change { $0.text += words } }

    private mutating func endParagraph() {
        guard let paragraph = paragraphs.popLast() else { return }
        var line = paragraph.text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !line.isEmpty else { return }
        if let level = headings[paragraph.style] {
            line = String(repeating: "#", count: level) + " " + line
        } else if let level = paragraph.listLevel {
            line = String(repeating: "  ", count: level) + "- " + line
        }
        write(line, isItem: paragraph.listLevel != nil)
    }

    private mutating func endTable() {
        guard let table = tables.popLast() else { return }
        tableBytes -= table.bytes
        let rows = table.rows.filter { !$0.isEmpty }.map { "| " + $0.joined(separator: " | ") + " |" }
        if !rows.isEmpty { write(rows.joined(separator: tables.isEmpty ? "\n" : " ; ")) }
    }

    /// Writes a line into the present cell, or into the text.
    private mutating func write(_ line: String, isItem: Bool = false) {
        // The counts alone: a second reference to the rows would copy them with each line.
        let column = (tables.last?.rows.last?.count ?? 0) - 1
        if column >= 0 {
            let cell = line.split(whereSeparator: \.isNewline).joined(separator: " ").replacing("|", with: "¦")
            changeTable(adding: cell.utf8.count + 1) { table in
                let last = table.rows.count - 1
                table.rows[last][column] += (table.rows[last][column].isEmpty ? "" : " ") + cell
            }
            return
        }
        guard hasRoom(for: line.utf8.count) else { return }
        text += line + (isItem ? "\n" : "\n\n")
    }
}
