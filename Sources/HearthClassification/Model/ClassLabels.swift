import Foundation
import HearthBase

/// A classifier's classes in the order of its output.
package struct ClassLabels: Sendable, Hashable {
    /// The labels, each once.
    package let labels: [String]

    /// The largest list, in bytes.
    package static let maximumBytes = 16 << 20
    /// The longest label, in bytes.
    private static let maximumLabelBytes = 256

    /// Reads a list: one label a line, or a JSON array of labels.
    ///
    /// Labels that are the code point of a character in hexadecimal digits, such as `4EBA`, become the character if all
    /// labels of the list are such: a list of words like `bad` or `face` stays as it is.
    /// - Parameter name: the file's name, whose extension tells the format.
    /// - Throws: `class-list-unusable` for an empty list, one that is not text, an empty or doubled label.
    package init(_ data: Data, name: String) throws {
        guard data.count <= Self.maximumBytes else {
            throw Self.unusable(name, "it has more than \(Self.maximumBytes) bytes")
        }
        var labels = try Path(name).fileExtension == "json" ? Self.array(data, name) : Self.lines(data, name)
        guard !labels.isEmpty else { throw Self.unusable(name, "it is empty") }
        let characters = labels.compactMap(Self.character)
        if characters.count == labels.count { labels = characters }
        // By bytes: to Swift, a compatibility character of CJK equals its usual form.
        var places: [[UInt8]: Int] = [:]
        for (index, label) in labels.enumerated() {
            guard !label.isEmpty, label.utf8.count <= Self.maximumLabelBytes else {
                throw Self.unusable(name, "class \(index) is \(label.isEmpty ? "empty" : "too long")")
            }
            if let first = places.updateValue(index, forKey: Array(label.utf8)) {
                throw Self.unusable(name, "classes \(first) and \(index) are both \(label.quoted)")
            }
        }
        self.labels = labels
    }

    /// The character of a label in hexadecimal digits, else the label.
    static func decoded(_ label: String) -> String { character(label) ?? label }

    /// The character with a code point of four to six hexadecimal digits, with or without `U+`; none for surrogates,
    /// control characters and other text.
    private static func character(_ label: String) -> String? {
        var digits = label[...]
        if digits.hasPrefix("U+") || digits.hasPrefix("u+") { digits = digits.dropFirst(2) }
        guard (4...6).contains(digits.utf8.count), digits.allSatisfy(\.isHexDigit),
            let number = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(number),
            scalar.properties.generalCategory != .control
        else { return nil }
        return String(Character(scalar))
    }

    private static func lines(_ data: Data, _ name: String) throws -> [String] {
        guard let text = String(data: data, encoding: .utf8) else { throw unusable(name, "it is not UTF-8 text") }
        var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        if lines.first?.hasPrefix("\u{FEFF}") == true { lines[0].removeFirst() }
        // Empty lines at the end are no classes; one in the middle would move all labels after it.
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    private static func array(_ data: Data, _ name: String) throws -> [String] {
        guard let document = try? JSONValue(parsing: data) else { throw unusable(name, "it is not JSON") }
        guard case .array(let items) = document else { throw unusable(name, "it is not a list of labels") }
        return try items.map { item in
            guard case .string(let text) = item else { throw unusable(name, "a label is not a text") }
            return text
        }
    }

    private static func unusable(_ name: String, _ reason: String) -> ClassificationError {
        ClassificationError(
            .unusableClasses, "the list of classes \(name) cannot be used: \(reason)",
            context: ErrorContext(
                file: name, expected: "one class a line, each once", remedy: "The publisher must correct it."))
    }
}
