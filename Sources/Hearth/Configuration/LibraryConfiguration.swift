import Foundation
import HearthBase
import HearthCatalog

/// The settings `library.*`.
package struct LibraryConfiguration: Sendable, Hashable {
    /// The models that lists show before they were ever on the device: repositories of the Hub and addresses.
    package private(set) var models: [String] = []

    static let keys = ["library.models"]

    /// The most listed models.
    static let limit = 200

    /// The value of a setting as text.
    func value(of key: String) -> String? { models.isEmpty ? nil : models.joined(separator: ",") }

    /// Checks and sets a value; `nil` removes the setting.
    mutating func set(_ key: String, to text: String?) throws {
        guard let text else {
            models = []
            return
        }
        let items = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        guard items.count <= Self.limit, items.allSatisfy(Self.isListed) else {
            throw ConfigurationError.invalid(
                key, "repositories such as hf:org/repository, addresses and families, separated by commas", found: text)
        }
        var seen: Set<String> = []
        models = items.filter { seen.insert($0).inserted }
    }

    private static func isListed(_ text: String) -> Bool {
        // A text that is no reference names no model.
        switch try? ModelReference(parsing: text) {
        case .family, .hub, .manifest: true
        case .file, nil: false
        }
    }

    /// The settings that the user made, by their names in the section `library`.
    var section: [String: JSONValue] {
        models.isEmpty ? [:] : ["models": .string(models.joined(separator: ","))]
    }
}
