import Foundation
import HearthBase

/// A note as a Markdown file.
///
/// ```
/// ---
/// id: "0f3a…"
/// title: "Shopping"
/// created: 2026-11-24T09:30:00.250Z
/// changed: 2026-11-24T09:30:00.250Z
/// ---
/// the note's text, byte for byte
/// ```
package enum NoteFile {
    /// The text of the file.
    package static func text(of note: Note) -> String {
        """
        ---
        id: \(JSONValue.string(note.id).text)
        title: \(JSONValue.string(note.title).text)
        created: \(Timestamp(note.created))
        changed: \(Timestamp(note.changed))
        ---

        """ + note.body
    }

    /// Reads a file. One without an id or dates, from another program, gets an id of its path and the file's date, so that
    /// reading it again finds the same note.
    /// - Parameters:
    ///   - path: the path below the imported folder, such as `work/plan.md`.
    ///   - modified: the file's date of modification.
    package static func note(from text: String, path: String, modified: Date) -> Note {
        let (fields, body) = split(text)
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let heading = body.split(maxSplits: 1, whereSeparator: \.isNewline).first.flatMap { line in
            line.hasPrefix("# ") ? Note.title(of: String(line)) : nil
        }
        let bare = name.lowercased().hasSuffix(".md") ? String(name.dropLast(3)) : name
        let changed = fields["changed"].flatMap { Timestamp($0) } ?? Timestamp(modified)
        let created = fields["created"].flatMap { Timestamp($0) } ?? changed
        let id = fields["id"].flatMap { $0.isEmpty || $0.utf8.count > 200 ? nil : $0 }
        return Note(
            id: id ?? String(SHA256Digest(hashing: Array("note \(path)".utf8)).hex.prefix(32)),
            title: fields["title"] ?? heading ?? bare, body: body, created: created.date, changed: changed.date)
    }

    /// Splits a file into the fields of its front matter and its text. Lines that are no simple field are skipped.
    private static func split(_ text: String) -> (fields: [String: String], body: String) {
        let bytes = text.utf8
        guard let first = line(of: bytes[...]), isMark(first.line) else { return ([:], text) }
        var fields: [String: String] = [:]
        var rest = first.rest
        while let next = line(of: rest) {
            rest = next.rest
            if isMark(next.line) { return (fields, String(Substring(rest))) }
            let line = String(Substring(next.line))
            guard let colon = line.firstIndex(of: ":") else { continue }
            let key = line[..<colon].trimmingCharacters(in: .whitespaces)
            fields[key] = value(line[line.index(after: colon)...].trimmingCharacters(in: .whitespacesAndNewlines))
        }
        // Without its end the front matter is text.
        return ([:], text)
    }

    private static func isMark(_ line: Substring.UTF8View) -> Bool {
        var line = line
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return line.elementsEqual("---".utf8)
    }

    /// The first line without its end, and the rest; `nil` if no line ends. Bytes, since `\r\n` is one character.
    private static func line(
        of text: Substring.UTF8View
    ) -> (line: Substring.UTF8View, rest: Substring.UTF8View)? {
        guard let end = text.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        return (text[..<end], text[text.index(after: end)...])
    }

    /// The value of a field: a JSON string, a text in single quotation marks, or a plain text.
    private static func value(_ text: String) -> String {
        if text.hasPrefix("\""), let value = try? JSON.value(String.self, Data(text.utf8)) {
            // Text that only begins like JSON is taken as it is.
            return value
        }
        if text.count >= 2, text.hasPrefix("'"), text.hasSuffix("'") {
            return text.dropFirst().dropLast().replacingOccurrences(of: "''", with: "'")
        }
        return text
    }

    /// The name of a note's file: its title without characters that a file system or a program refuses.
    package static func name(of note: Note) -> String {
        var name = ""
        for character in note.title.precomposedStringWithCanonicalMapping {
            let isSafe = character.unicodeScalars.allSatisfy { scalar in
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse, .surrogate: false
                default: !"/\\:*?\"<>|#%{}^[]`".unicodeScalars.contains(scalar)
                }
            }
            name.append(isSafe ? character : " ")
            if name.utf8.count > 120 { break }
        }
        let words = name.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let trimmed = words.trimmingCharacters(in: CharacterSet(charactersIn: ". -~"))
        let stem = trimmed.utf8.count > 160 ? "" : trimmed
        return reserved.contains(stem.lowercased()) || stem.isEmpty
            ? "note \(stem)".trimmingCharacters(in: .whitespaces) : stem
    }

    /// The names of devices, which Windows refuses as names of files.
    private static let reserved: Set<String> = Set(
        ["con", "prn", "aux", "nul"] + (1...9).flatMap { ["com\($0)", "lpt\($0)"] })
}
