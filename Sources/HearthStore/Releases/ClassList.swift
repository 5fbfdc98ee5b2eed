import Foundation
import HearthBase

/// A classifier's list of classes: one name a line, a JSON array, or a JSON object with a member for each class.
package struct ClassList: Sendable, Hashable {
    /// The number of classes.
    package let count: Int

    /// The largest list that is read, in bytes.
    package static let sizeLimit = 16 << 20

    /// Counts the lines of a text that are not empty.
    package static func count(linesOf text: String) -> Int {
        text.split(whereSeparator: \.isNewline).count { line in line.contains { !$0.isWhitespace } }
    }

    /// Reads a list; `nil` if its format does not tell the number of classes: a table, YAML, or a JSON object with
    /// lists or maps such as `{"id2label": {…}, "label2id": {…}}`.
    /// - Parameter name: the file's name, whose extension tells the format; without an extension, one name a line.
    init?(_ data: Data, name: String) {
        switch Path(name).fileExtension {
        case "", "txt":
            guard let text = String(data: data, encoding: .utf8) else { return nil }
            count = Self.count(linesOf: text)
        case "json":
            do {
                switch try JSONValue(parsing: data) {
                case .array(let elements): count = elements.count
                case .object(let members) where !members.values.contains(where: \.isContainer): count = members.count
                default: return nil
                }
            } catch {
                return nil
            }
        default: return nil
        }
    }
}

extension JSONValue {
    fileprivate var isContainer: Bool {
        switch self {
        case .array, .object: true
        default: false
        }
    }
}
