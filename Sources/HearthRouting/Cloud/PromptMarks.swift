/// The marks around the sections of a prompt, which say what a text is and whether it may leave for the cloud.
///
/// ```
/// <calendar>
/// 2026-11-24 16:00-17:00 Stand-up
/// </calendar>
/// ```
/// A section that never leaves is marked with `<name private>`, a text that others wrote with `<name source="contacts">`. The
/// text of a section contains no mark: `<` becomes `‹`.
package enum PromptMarks {
    /// A section found in a text.
    package struct Section: Sendable, Hashable {
        package var name: String
        package var isPrivate: Bool
        package var source: String?
        /// The text between the marks.
        package var text: String
        /// The place of the section with its marks, in the text's UTF-8.
        package var range: Range<Int>
    }

    /// The most bytes of an opening: the longest name of a file fits, even if each of its signs is replaced.
    private static let longestOpening = 1024

    /// A section with its marks.
    /// - Parameter name: lower-case letters.
    package static func marked(
        _ text: String, as name: String, isPrivate: Bool = false, source: String? = nil
    ) -> String {
        var opening = "<" + name
        if isPrivate { opening += " private" }
        if let source {
            opening += " source=\"\(escaped(source, isSource: true))\""
        }
        return "\(opening)>\n\(escaped(text))\n</\(name)>"
    }

    /// Replaces the signs of marks, scalar for scalar: with a combining mark behind it a sign is another `Character`.
    private static func escaped(_ text: String, isSource: Bool = false) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": scalars.append("‹")
            case ">" where isSource: scalars.append("›")
            case "\"" where isSource: scalars.append("'")
            default: scalars.append(scalar)
            }
        }
        return String(scalars)
    }

    /// The sections of a text, in order. Linear in the text.
    package static func sections(in text: String) -> [Section] {
        let bytes = Array(text.utf8)
        var sections: [Section] = []
        var place = 0
        while let start = bytes[place...].firstIndex(of: UInt8(ascii: "<")) {
            guard let opening = opening(bytes, at: start), let end = closing(of: opening.name, bytes, from: opening.end)
            else {
                place = start + 1
                continue
            }
            var section = Section(
                name: String(decoding: opening.name, as: UTF8.self), isPrivate: opening.isPrivate,
                source: opening.source, text: "", range: start..<end.upperBound)
            var inner = bytes[opening.end..<end.lowerBound]
            if inner.first == UInt8(ascii: "\n") { inner.removeFirst() }
            if inner.last == UInt8(ascii: "\n") { inner.removeLast() }
            section.text = String(decoding: inner, as: UTF8.self)
            sections.append(section)
            place = end.upperBound
        }
        return sections
    }

    /// The text without the sections of these names, and without private ones.
    package static func removing(_ names: Set<String>, from text: String) -> String {
        let withheld = sections(in: text).filter { $0.isPrivate || names.contains($0.name) }
        guard !withheld.isEmpty else { return text }
        let bytes = Array(text.utf8)
        var rest: [UInt8] = []
        var place = 0
        for section in withheld {
            rest += bytes[place..<section.range.lowerBound]
            place = section.range.upperBound
            // The line breaks between a removed section and its neighbour stay once.
            while place < bytes.count, bytes[place] == UInt8(ascii: "\n"), rest.isEmpty || rest.last == bytes[place] {
                place += 1
            }
        }
        rest += bytes[place...]
        while rest.last == UInt8(ascii: "\n") { rest.removeLast() }
        return String(decoding: rest, as: UTF8.self)
    }

    private struct Opening {
        var name: [UInt8]
        var isPrivate = false
        var source: String?
        var end: Int
    }

    private static func opening(_ bytes: [UInt8], at start: Int) -> Opening? {
        guard let end = bytes[start...].prefix(longestOpening).firstIndex(of: UInt8(ascii: ">")) else { return nil }
        var inner = bytes[(start + 1)..<end]
        let name = Array(inner.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) })
        guard !name.isEmpty else { return nil }
        inner = inner.dropFirst(name.count)
        var opening = Opening(name: name, end: end + 1)
        let mark = Array(" private".utf8)
        if inner.starts(with: mark) {
            opening.isPrivate = true
            inner = inner.dropFirst(mark.count)
        }
        let attribute = Array(" source=\"".utf8)
        if inner.starts(with: attribute), inner.count > attribute.count, inner.last == UInt8(ascii: "\"") {
            opening.source = String(decoding: inner.dropFirst(attribute.count).dropLast(), as: UTF8.self)
            inner = []
        }
        return inner.isEmpty ? opening : nil
    }

    private static func closing(of name: [UInt8], _ bytes: [UInt8], from start: Int) -> Range<Int>? {
        let mark = Array("</".utf8) + name + [UInt8(ascii: ">")]
        // A section contains no other mark.
        guard let next = bytes[start...].firstIndex(of: UInt8(ascii: "<")), bytes[next...].starts(with: mark) else {
            return nil
        }
        return next..<next + mark.count
    }
}
