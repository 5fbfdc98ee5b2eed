import Foundation
import HearthBase

/// A list of classes as classifiers come with it: one name a line, a JSON array, or a JSON object with a class for each member.
struct ClassList: Sendable, Hashable {
    /// How many classes it names.
    let count: Int

    /// The largest list that is read, in bytes.
    static let sizeLimit = 16 << 20

    /// Reads a list; `nil` for one whose form says nothing of how many there are: a table with or without a heading, YAML, an
    /// object with lists or maps in it such as `{"id2label": {…}, "label2id": {…}}`.
    /// - Parameter name: the file's, whose extension tells the form; without one it is lines.
    init?(_ data: Data, name: String) {
        switch Path(name).fileExtension {
        case "", "txt":
            guard let text = String(data: data, encoding: .utf8) else { return nil }
            let lines = text.split(whereSeparator: \.isNewline)
            count = lines.count { line in line.contains { !$0.isWhitespace } }
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
