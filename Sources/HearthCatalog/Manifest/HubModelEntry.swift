import Foundation
import HearthBase

extension HubModel {
    /// The most parameters of a model that is read: a thousand billion.
    private static let maximumParameters: UInt64 = 1_000_000_000_000

    /// Parses an element of `hubModels`.
    /// - Throws: ``CatalogError`` with `manifest-invalid`.
    init(entry: ManifestReader) throws(CatalogError) {
        var entry = entry
        let family = try entry.required("family", "a model's name") { field throws(CatalogError) in
            try entry.parsed(field, "a model's name") { Family($0) }
        }
        entry.entry = family.name
        let form = "a repository such as organization/name"
        let repository = try entry.required("repository", form) { field throws(CatalogError) in
            try entry.parsed(field, form) { HubReference(path: $0, alias: family) }
        }
        self.family = family
        self.repository = repository
        name = try entry.text("name") ?? family.name
        quantization = try entry.parsed("quantization", "a quantization such as Q8_0") { QuantizationLabel($0) }
        let count = try entry.required("parameters", "a number of parameters") { field throws(CatalogError) in
            try entry.integer(field, in: 1...Self.maximumParameters)
        }
        parameters = count
        activeParameters = try entry.integer("activeParameters", in: 1...count) ?? count
        projectorBytes = try entry.integer("projectorBytes") ?? 0
        kind = try entry.choice("kind") ?? .chat
        tools = try entry.choice("tools") ?? .no
        license = try entry.required("license", "the name of a license", entry.text)
        summary = try entry.required("summary", "one sentence", entry.text)
        isRecommendable = try entry.flag("recommended") ?? false
    }
}

extension Catalog {
    /// The most models of a list.
    private static let maximumHubModels = 1000

    /// Parses `hubModels`: models of the Hub by short names.
    static func hubModels(_ document: ManifestReader) throws(CatalogError) -> [HubModel] {
        let entries = try document.objects("hubModels") ?? []
        guard entries.count <= maximumHubModels else {
            throw document.malformed(
                "hubModels", expected: "at most \(maximumHubModels) models", found: "\(entries.count)")
        }
        var models: [HubModel] = []
        var families: Set<Family> = []
        for entry in entries {
            let model = try HubModel(entry: entry)
            guard families.insert(model.family).inserted else {
                throw entry.failure(
                    "family", "\(model.family) is listed twice", expected: "one entry for each family",
                    found: model.family.name)
            }
            models.append(model)
        }
        return models
    }
}
