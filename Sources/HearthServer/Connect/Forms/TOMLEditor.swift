import HearthBase

/// Changes a TOML text: pairs are replaced, put at the end of their table, or into a new one at the end of the text.
struct TOMLEditor {
    private let patch: TextPatch
    private let outline: TOMLOutline

    init(_ bytes: [UInt8]) throws(ConfigurationTextError) {
        patch = TextPatch(bytes)
        outline = try TOMLOutline(bytes)
    }

    func applying(_ edit: ConfigurationEdit) throws(ConfigurationTextError) -> [UInt8] {
        let path = try edit.path.map { (step) throws(ConfigurationTextError) in
            guard case .key(let key) = step else { throw .unsafe("lists of tables are not changed") }
            return key
        }
        guard let value = edit.value else { return try removing(path) }
        if let members = value.members {
            // A table of its own, a pair at a time.
            var bytes = patch.bytes
            for member in members {
                bytes = try TOMLEditor(bytes).applying(ConfigurationEdit(edit.path + [.key(member.key)], member.value))
            }
            return bytes
        }
        guard value.items == nil, value != .null, let last = path.last else {
            throw .unsafe("a text or a number is expected")
        }
        let pairs = outline.tables.lazy.flatMap(\.pairs)
        if let outer = pairs.first(where: { $0.path.count < path.count && path.starts(with: $0.path) }) {
            throw .unsafe(
                "\(outer.path.joined(separator: ".")) is a table in one line", at: outer.start, in: patch.bytes)
        }
        let text = value.line
        if let pair = pair(path) { return patch.replacing((pair.value, text)) }
        let parent = Array(path.dropLast())
        let line = "\(Self.key(last)) = \(text)"
        if let table = outline.tables.last(where: { $0.path == parent && !$0.isInList }), !parent.isEmpty || hasTop {
            return inserting(line, after: table)
        }
        // Pairs whose keys have points define the table already.
        for table in outline.tables where !table.isInList && !parent.isEmpty {
            guard let near = table.pairs.last(where: { $0.path.count > parent.count && $0.path.starts(with: parent) })
            else { continue }
            let keys = path.dropFirst(table.path.count).map(Self.key).joined(separator: ".")
            return inserting("\(keys) = \(text)", after: near)
        }
        guard !parent.isEmpty else { return patch.replacing((beginning, line + "\n" + separator)) }
        let end = patch.bytes.count
        let gap = patch.bytes.isEmpty ? "" : "\n"
        let header = "[" + parent.map(Self.key).joined(separator: ".") + "]"
        return patch.replacing((end..<end, "\(patch.missingLineEnd)\(gap)\(header)\n\(line)\n"))
    }

    /// Whether pairs stand before the first table.
    private var hasTop: Bool { outline.tables.first?.pairs.isEmpty == false }

    /// The place of the first pair: after comments at the beginning that an empty line ends.
    private var beginning: Range<Int> {
        var position = 0
        while position < patch.bytes.count, patch.bytes[position] == UInt8(ascii: "#") {
            position = patch.nextLine(position)
        }
        let isHead = position > 0 && position < patch.bytes.count && [10, 13].contains(patch.bytes[position])
        let start = isHead ? patch.nextLine(position) : 0
        return start..<start
    }

    /// An empty line, if something follows the first pair.
    private var separator: String { patch.bytes[beginning.lowerBound...].isEmpty ? "" : "\n" }

    private func pair(_ path: [String]) -> TOMLOutline.Pair? {
        outline.tables.lazy.filter { !$0.isInList }.flatMap(\.pairs).first { $0.path == path }
    }

    private func inserting(_ line: String, after table: TOMLOutline.Table) -> [UInt8] {
        if let last = table.pairs.last { return inserting(line, after: last) }
        let end = table.header.map { patch.nextLine($0.upperBound - 1) } ?? 0
        return inserting(line, at: end, indentation: table.header.map { patch.indentation($0.lowerBound) } ?? "")
    }

    private func inserting(_ line: String, after pair: TOMLOutline.Pair) -> [UInt8] {
        inserting(line, at: patch.nextLine(pair.value.upperBound - 1), indentation: patch.indentation(pair.start))
    }

    private func inserting(_ line: String, at end: Int, indentation: String) -> [UInt8] {
        let isLast = end == patch.bytes.count
        return patch.replacing((end..<end, (isLast ? patch.missingLineEnd : "") + indentation + line + "\n"))
    }

    /// Removes a pair, or a table without pairs.
    private func removing(_ path: [String]) throws(ConfigurationTextError) -> [UInt8] {
        if let pair = pair(path) {
            return patch.replacing((patch.lineStart(pair.start)..<patch.nextLine(pair.value.upperBound - 1), ""))
        }
        guard let table = outline.tables.first(where: { $0.path == path && !$0.isInList }), let header = table.header
        else { return patch.bytes }
        guard table.pairs.isEmpty else { throw .unsafe("the table \(path.joined(separator: ".")) is not empty") }
        var start = patch.lineStart(header.lowerBound)
        // The empty line before the header.
        if start > 0 {
            let before = patch.lineStart(start - 1)
            if patch.bytes[before..<start].allSatisfy({ $0 == 10 || $0 == 13 }) { start = before }
        }
        return patch.replacing((start..<patch.nextLine(header.upperBound - 1), ""))
    }

    private static func key(_ key: String) -> String {
        !key.isEmpty && key.utf8.allSatisfy(TOMLReader.isBare) ? key : JSONValue.string(key).line
    }
}
