import HearthBase

/// The places of the values in a YAML text: block mappings and lists, and texts of one line.
///
/// Other values are opaque: their bytes are their value. Texts with several documents, directives and keys of several lines
/// are refused.
struct YAMLOutline {
    /// A value with its place.
    struct Node {
        var kind: Kind
        var value: JSONValue
        /// From its first to its last byte; empty where a value could stand.
        var range: Range<Int>
        /// The column of its entries.
        var indentation = 0
        var entries: [Entry] = []

        enum Kind { case scalar, opaque, mapping, list }

        /// The place of the entry of a step.
        func place(of step: ConfigurationStep) -> Int? {
            switch step {
            case .key(let key): kind == .mapping ? entries.firstIndex { $0.key == key } : nil
            case .item(let key, let text):
                kind == .list ? entries.firstIndex { $0.node.value[key]?.string == text } : nil
            }
        }
    }

    /// A pair of a mapping or an item of a list.
    struct Entry {
        /// `nil` in a list.
        var key: String?
        /// The beginning of the key, or the dash.
        var start: Int
        var node: Node
    }

    let bytes: [UInt8]
    private(set) var root = Node(kind: .scalar, value: .null, range: 0..<0)

    /// A line without its end.
    struct Line {
        var start: Int
        var end: Int
        /// The place of its first character after the indentation.
        var text: Int
        var indentation: Int { text - start }
    }

    private(set) var lines: [Line] = []
    var index = 0

    var value: JSONValue { root.value }

    /// - Throws: ``ConfigurationTextError``
    init(_ bytes: [UInt8]) throws(ConfigurationTextError) {
        self.bytes = bytes
        var start = 0
        while start < bytes.count {
            let next = bytes[start...].firstIndex(of: 10) ?? bytes.count
            let end = next > start && bytes[next - 1] == 13 ? next - 1 : next
            let text = bytes[start..<end].firstIndex { $0 != 32 } ?? end
            lines.append(Line(start: start, end: end, text: text))
            start = next + 1
        }
        skipEmpty()
        if let line = line, line.indentation == 0, Array(bytes[line.start..<line.end].prefix(3)) == Array("---".utf8) {
            guard isEmpty(line.start + 3, line.end) else {
                throw unsafe("it begins in the line of its mark", line.start)
            }
            index += 1
            skipEmpty()
        }
        guard let first = line else { return }
        root = try node(at: first.text, column: first.indentation, depth: 0)
        skipEmpty()
        if let rest = line { throw broken("the line belongs to nothing", rest.text) }
    }

    var line: Line? { index < lines.count ? lines[index] : nil }

    /// Whether a range has only white space, or a comment after white space or at its beginning.
    func isEmpty(_ start: Int, _ end: Int) -> Bool {
        guard let first = bytes[start..<end].firstIndex(where: { $0 != 32 && $0 != 9 }) else { return true }
        return bytes[first] == UInt8(ascii: "#")
    }

    private mutating func skipEmpty() {
        while let line, isEmpty(line.text, line.end) { index += 1 }
    }

    // MARK: Nodes

    /// The node that begins at a place of the present line.
    private mutating func node(at place: Int, column: Int, depth: Int) throws(ConfigurationTextError) -> Node {
        guard depth < JSONValue.maximumDepth, let line else { throw unsafe("it is nested too deep", place) }
        guard bytes[place] != 9 else { throw broken("a tab cannot indent", place) }
        if column == 0, let mark = ["---", "...", "%"].first(where: { bytes[place...].starts(with: $0.utf8) }) {
            throw unsafe("it has the mark \(mark)", place)
        }
        if isDash(place, line.end) { return try list(column: column, at: place, depth: depth) }
        if try key(at: place, line.end) != nil { return try mapping(column: column, at: place, depth: depth) }
        return try scalar(at: place, parent: column - 1)
    }

    private func isDash(_ place: Int, _ end: Int) -> Bool {
        bytes[place] == UInt8(ascii: "-") && (place + 1 == end || bytes[place + 1] == 32)
    }

    private mutating func list(column: Int, at place: Int, depth: Int) throws(ConfigurationTextError) -> Node {
        var node = Node(kind: .list, value: .null, range: place..<place, indentation: column)
        var start = place
        while let line {
            let inner = bytes[(start + 1)..<line.end].firstIndex { $0 != 32 } ?? line.end
            var item: Node
            if isEmpty(inner, line.end) {
                item = try nested(below: column, after: start + 1, depth: depth)
            } else {
                item = try self.node(at: inner, column: inner - line.start, depth: depth + 1)
            }
            node.range = place..<max(item.range.upperBound, start + 1)
            if item.range.isEmpty { item.range = (start + 1)..<(start + 1) }
            node.entries.append(Entry(key: nil, start: start, node: item))
            skipEmpty()
            guard let next = self.line, next.indentation == column, isDash(next.text, next.end) else { break }
            start = next.text
        }
        node.value = .array(node.entries.map(\.node.value))
        // A list may stand in the column of its key, after which another key follows.
        try checkEnd(column + 1)
        return node
    }

    private mutating func mapping(column: Int, at place: Int, depth: Int) throws(ConfigurationTextError) -> Node {
        var node = Node(kind: .mapping, value: .null, range: place..<place, indentation: column)
        var members = JSONMembers()
        var start = place
        while let line {
            guard let (key, colon) = try key(at: start, line.end) else { throw broken("a key is expected here", start) }
            guard members[key] == nil else { throw broken("the key \(key.quoted) appears twice", start) }
            let value = try value(after: colon, in: line, column: column, depth: depth)
            node.range = place..<max(value.range.upperBound, colon + 1)
            members[key] = value.value
            node.entries.append(Entry(key: key, start: start, node: value))
            skipEmpty()
            guard let next = self.line, next.indentation == column, !isDash(next.text, next.end) else { break }
            if column == 0, ["---", "...", "%"].contains(where: { bytes[next.text...].starts(with: $0.utf8) }) {
                throw unsafe("it has several documents", next.text)
            }
            start = next.text
        }
        node.value = .object(members)
        try checkEnd(column)
        return node
    }

    /// The next line belongs to an outer block.
    private func checkEnd(_ column: Int) throws(ConfigurationTextError) {
        guard let line, line.indentation >= column else { return }
        throw broken("the line belongs to nothing", line.text)
    }

    private mutating func value(
        after colon: Int, in line: Line, column: Int, depth: Int
    ) throws(ConfigurationTextError) -> Node {
        var place = colon + 1
        var hasProperties = false
        while true {
            place = bytes[place..<line.end].firstIndex { $0 != 32 && $0 != 9 } ?? line.end
            guard place < line.end, bytes[place] == UInt8(ascii: "&") || bytes[place] == UInt8(ascii: "!") else {
                break
            }
            hasProperties = true
            place = bytes[place..<line.end].firstIndex { $0 == 32 || $0 == 9 } ?? line.end
        }
        var node: Node
        if isEmpty(place, line.end), place == line.end || bytes[place - 1] == 32 || bytes[place - 1] == 9 {
            node = try nested(below: column, after: colon + 1, depth: depth, permitsLevelList: true)
        } else {
            node = try scalar(at: place, parent: column)
        }
        if hasProperties, node.kind == .scalar { node.kind = .opaque }
        return node
    }

    /// The node on the lines below, or an empty one.
    private mutating func nested(
        below column: Int, after end: Int, depth: Int, permitsLevelList: Bool = false
    ) throws(ConfigurationTextError) -> Node {
        index += 1
        skipEmpty()
        if let next = line {
            let isLevelList = permitsLevelList && next.indentation == column && isDash(next.text, next.end)
            if next.indentation > column || isLevelList {
                return try node(at: next.text, column: next.indentation, depth: depth + 1)
            }
        }
        return Node(kind: .scalar, value: .null, range: end..<end)
    }
}
