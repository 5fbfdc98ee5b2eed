import Foundation
import HearthBase

/// A list of classes as classifiers come with it: one name a line, or a JSON array or object.
struct ClassList: Sendable, Hashable {
    /// How many classes it names.
    let count: Int

    /// The largest list that is read, in bytes.
    static let sizeLimit = 16 << 20

    /// Reads a list; `nil` for one whose form says nothing of how many there are.
    /// - Parameter name: the file's, whose extension tells the form.
    init?(_ data: Data, name: String) {
        guard Path(name).fileExtension == "json" else {
            guard let text = String(data: data, encoding: .utf8) else { return nil }
            let lines = text.split(whereSeparator: \.isNewline)
            count = lines.count { line in line.contains { !$0.isWhitespace } }
            return
        }
        do {
            switch try JSONValue(parsing: data) {
            case .array(let elements): count = elements.count
            case .object(let members): count = members.count
            default: return nil
            }
        } catch {
            return nil
        }
    }
}
