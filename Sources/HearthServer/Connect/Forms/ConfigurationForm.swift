import HearthBase

/// The form of a configuration file. Changes keep every other byte of the file: comments, order, indentation, line ends.
package enum ConfigurationForm: String, Sendable, Hashable, Codable {
    /// JSON, with comments and trailing commas where the app permits them.
    case json
    case toml, yaml

    /// The largest file.
    static let maximumBytes = 4 << 20

    /// The value of a text; `null` for an empty one.
    func value(of text: [UInt8]) throws(ConfigurationTextError) -> JSONValue {
        try reading(Self.split(text).body)
    }

    /// A text with changes, read again after each of them.
    /// - Throws: ``ConfigurationTextError``; then nothing is to be written.
    func applying(_ edits: [ConfigurationEdit], to text: [UInt8]) throws(ConfigurationTextError) -> [UInt8] {
        let (mark, body) = Self.split(text)
        var current = body
        var value = try reading(current)
        for edit in edits where value.at(edit.path) != edit.value {
            guard let wanted = value.replacing(edit.path, with: edit.value) else {
                throw .unsafe("\(edit.path.shown) leads through a value of another kind")
            }
            let next =
                switch self {
                case .json: try JSONEditor(current).applying(edit)
                case .toml: try TOMLEditor(current).applying(edit)
                case .yaml: try YAMLEditor(current).applying(edit)
                }
            let found: JSONValue
            do { found = try reading(next) } catch { throw .unsafe("\(edit.path.shown) cannot be changed safely") }
            guard found.isSame(as: wanted) else { throw .unsafe("\(edit.path.shown) cannot be changed safely") }
            (current, value) = (next, found)
        }
        return mark + current
    }

    private func reading(_ body: [UInt8]) throws(ConfigurationTextError) -> JSONValue {
        guard body.count <= Self.maximumBytes else { throw .unsafe("it is larger than such a file is") }
        guard String(validating: body, as: UTF8.self) != nil, !body.contains(0) else {
            throw ConfigurationTextError(kind: .broken, problem: "it is not a text in UTF-8")
        }
        switch self {
        case .json: return try JSONOutline(body).value
        case .toml: return try TOMLOutline(body).value
        case .yaml: return try YAMLOutline(body).value
        }
    }

    /// The byte order mark, and the text after it.
    private static func split(_ text: [UInt8]) -> (mark: [UInt8], body: [UInt8]) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        return text.starts(with: mark) ? (mark, Array(text.dropFirst(3))) : ([], text)
    }
}

extension JSONValue {
    /// Whether two values are equal; an empty container and none are the same, since not every form can write both.
    fileprivate func isSame(as other: JSONValue) -> Bool { meaning == other.meaning }

    /// The value without empty containers; `null` if nothing is left.
    private var meaning: JSONValue {
        switch self {
        case .object(let members):
            let kept = JSONMembers(members.map { ($0.key, $0.value.meaning) }).filter { $0.value != .null }
            return kept.isEmpty ? .null : .object(kept)
        case .array(let items): return items.isEmpty ? .null : .array(items.map(\.meaning))
        default: return self
        }
    }
}

/// A text that is changed at a few places.
struct TextPatch {
    let bytes: [UInt8]
    /// The line end of the text.
    let lineEnd: String

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        let first = bytes.firstIndex(of: 10)
        lineEnd = first.map { $0 > 0 && bytes[$0 - 1] == 13 } == true ? "\r\n" : "\n"
    }

    /// The text with ranges replaced, which must not overlap. Line ends of the new texts become those of the text.
    func replacing(_ changes: (range: Range<Int>, text: String)...) -> [UInt8] {
        var result = bytes
        for change in changes.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
            let text = lineEnd == "\n" ? change.text : change.text.replacing("\n", with: lineEnd)
            result.replaceSubrange(change.range, with: text.utf8)
        }
        return result
    }

    /// The beginning of the line of a place.
    func lineStart(_ position: Int) -> Int {
        (bytes[..<position].lastIndex(of: 10) ?? -1) + 1
    }

    /// The beginning of the line after a place; the end of the text for its last line.
    func nextLine(_ position: Int) -> Int {
        (bytes[position...].firstIndex(of: 10) ?? bytes.count - 1) + 1
    }

    /// The white space at the beginning of the line of a place.
    func indentation(_ position: Int) -> String {
        String(decoding: bytes[lineStart(position)...].prefix { $0 == 32 || $0 == 9 }, as: UTF8.self)
    }

    /// Whether only white space stands before a place in its line.
    func beginsLine(_ position: Int) -> Bool {
        bytes[lineStart(position)..<position].allSatisfy { $0 == 32 || $0 == 9 }
    }

    /// Whether a range has a line end.
    func hasLines(_ range: Range<Int>) -> Bool { bytes[range].contains(10) }

    /// A range as text.
    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// A line end if the text has bytes and does not end with one.
    var missingLineEnd: String { bytes.isEmpty || bytes.last == 10 ? "" : "\n" }
}
