import Foundation
import HearthBase
import HearthTestSupport

/// Schemas in the style of public collections, and those of reported mistakes (`case-…`), one JSON object with `name` and
/// `schema` in each line.
enum SchemaCorpus {
    struct Entry: Sendable, CustomStringConvertible {
        let name: String
        let schema: String
        var description: String { name }
    }

    private static let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../scripts/schemas/schemas.jsonl")

    static func entries() throws -> [Entry] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line in
            // The original text of the schema, because the order of its properties is the order of an answer.
            guard case .object(let members) = try JSONValue(parsing: Data(line.utf8)),
                case .string(let name)? = members["name"], let start = line.firstRange(of: "\"schema\": ")
            else { return nil }
            return Entry(name: name, schema: String(line[start.upperBound...].dropLast()))
        }
    }
}
