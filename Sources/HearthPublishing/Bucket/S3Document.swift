import Foundation
import HearthBase

/// An element of the XML that S3 servers answer with. Attributes, comments and processing instructions are skipped.
struct S3Document: Sendable, Hashable {
    let name: String
    private(set) var text = ""
    private(set) var children: [S3Document] = []

    /// The most elements within each other.
    static let maximumDepth = 16

    private init(name: String) { self.name = name }

    /// Parses a document; `nil` unless it is well formed as far as S3 uses XML.
    init?(_ data: Data) {
        guard let source = String(data: data, encoding: .utf8) else { return nil }
        var open = [S3Document(name: "")]
        var rest = source[...]
        while let mark = rest.firstIndex(of: "<") {
            guard let text = Self.decoded(rest[..<mark]), let end = Self.end(of: rest[mark...]) else { return nil }
            open[open.count - 1].text += text
            let tag = rest[rest.index(after: mark)..<end]
            rest = rest[rest.index(after: end)...]
            if tag.hasPrefix("?") || tag.hasPrefix("!") { continue }
            if tag.hasPrefix("/") {
                guard open.count > 1, let closed = open.popLast(),
                    closed.name == tag.dropFirst().trimmingCharacters(in: .whitespaces)
                else { return nil }
                open[open.count - 1].children.append(closed)
                continue
            }
            let isEmpty = tag.hasSuffix("/")
            let name = tag.prefix { !$0.isWhitespace && $0 != "/" }
            guard !name.isEmpty, open.count <= Self.maximumDepth else { return nil }
            if isEmpty {
                open[open.count - 1].children.append(S3Document(name: String(name)))
            } else {
                open.append(S3Document(name: String(name)))
            }
        }
        guard open.count == 1, rest.allSatisfy(\.isWhitespace), let root = open[0].children.first,
            open[0].children.count == 1
        else { return nil }
        self = root
    }

    /// The end of a tag; a comment ends with `-->`.
    private static func end(of tag: Substring) -> String.Index? {
        if tag.hasPrefix("<!--") { return tag.range(of: "-->").map { tag.index(before: $0.upperBound) } }
        return tag.firstIndex(of: ">")
    }

    private static func decoded(_ text: Substring) -> String? {
        guard text.contains("&") else { return String(text) }
        let names = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
        var result = ""
        var rest = text
        while let mark = rest.firstIndex(of: "&") {
            result += rest[..<mark]
            guard let end = rest[mark...].firstIndex(of: ";") else { return nil }
            let name = rest[rest.index(after: mark)..<end]
            if let known = names[String(name)] {
                result += known
            } else {
                let digits = name.dropFirst(name.hasPrefix("#x") ? 2 : 1)
                guard name.hasPrefix("#"), let code = UInt32(digits, radix: name.hasPrefix("#x") ? 16 : 10),
                    let scalar = Unicode.Scalar(code)
                else { return nil }
                result.unicodeScalars.append(scalar)
            }
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    /// The text of the first child of that name.
    subscript(_ name: String) -> String? { children.first { $0.name == name }?.text }

    /// All children of that name.
    func all(_ name: String) -> [S3Document] { children.filter { $0.name == name } }
}
