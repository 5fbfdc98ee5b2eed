import Foundation
import HearthBase
import HearthCatalog
import Testing

/// What the manifest suites share: a good address, a good digest, and a manifest of one good entry to spoil.
enum ManifestFixtures {
    static let address = "https://models.example/catalog/models.json"
    static let digest = "c0018e1270fe8f821248465a6f873544f4992b2ec58c344a0ef2d918d6e08439"

    static func catalog(_ text: String, at address: String = address, hint: String? = nil) throws -> Catalog {
        try Catalog(
            manifest: Data(text.utf8), url: try #require(URL(string: address)),
            familyHint: try hint.map { try #require(Family($0)) })
    }

    /// A manifest of one good entry, with fields replaced or, with `nil`, removed.
    static func manifest(_ changes: [String: String?] = [:], top: String = "") -> String {
        var fields: [String: String] = [
            "id": "\"a\"", "version": "\"1.0.0\"", "filename": "\"m-v1.0.0-q4.gguf\"", "sizeBytes": "10",
            "sha256": "\"\(digest)\"", "downloadUrl": "\"models/m.gguf\"",
        ]
        for (field, value) in changes { fields[field] = value }
        let entry = fields.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", ")
        return "{\(top) \"models\": [{\(entry)}]}"
    }
}
