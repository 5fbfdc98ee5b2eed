import Foundation
import HearthBase

/// A repository in the answer to a search.
struct HubHit: Sendable, Hashable {
    var reference: HubReference
    var downloads: UInt64
    var likes: UInt64
    var license: String?
    var isGated: Bool
    /// The number of parameters, as the Hub read it from a file.
    var parameters: UInt64?
    /// The quantizations that the names of the files tell, each once.
    var labels: [QuantizationLabel]

    /// The most files of a repository whose names are read.
    private static let maximumFiles = 20_000
    /// The most parameters that are believed.
    private static let maximumParameters: UInt64 = 100_000_000_000_000

    /// Parses the answer to a search. Repositories with names that no reference can hold are left out.
    /// - Throws: ``CatalogError`` with `hub-answer-invalid`.
    static func list(_ answer: Data, limit: Int, from endpoint: URL) throws(CatalogError) -> [HubHit] {
        func invalid(_ found: String) -> CatalogError { Self.invalid(found, from: endpoint) }
        let document: JSONValue
        do {
            document = try JSONValue(parsing: answer)
        } catch {
            throw invalid("no JSON: \(error)")
        }
        guard case .array(let items) = document else { throw invalid("no list") }
        var hits: [HubHit] = []
        for item in items where hits.count < limit {
            guard case .object(let facts) = item else { throw invalid("an entry that is no object") }
            if let hit = HubHit(facts), !hits.contains(where: { $0.reference == hit.reference }) { hits.append(hit) }
        }
        return hits
    }

    /// The error for an answer that cannot be used.
    static func invalid(_ found: String, from endpoint: URL) -> CatalogError {
        CatalogError(
            .hubAnswerInvalid, "the hub's answer to the search cannot be used: it holds \(found)",
            context: ErrorContext(
                url: endpoint.shown, field: "endpoint", expected: "a list of repositories", found: found,
                remedy: "Check whether this network wants a log-in first, and the address of the hub."))
    }

    private init?(_ facts: JSONMembers) {
        guard case .string(let id)? = facts["id"] ?? facts["modelId"], let reference = HubReference(path: id) else {
            return nil
        }
        self.reference = reference
        downloads = Self.count(facts["downloads"]) ?? 0
        likes = Self.count(facts["likes"]) ?? 0
        license = HubRepository.license(facts)
        isGated = HubRepository.isGated(facts)
        if case .object(let gguf)? = facts["gguf"] {
            parameters = Self.count(gguf["total"]).flatMap { (1...Self.maximumParameters).contains($0) ? $0 : nil }
        }
        labels = []
        guard case .array(let siblings)? = facts["siblings"] else { return }
        var seen: Set<QuantizationLabel> = []
        for case .object(let sibling) in siblings.prefix(Self.maximumFiles) {
            guard case .string(let name)? = sibling["rfilename"], name.lowercased().hasSuffix(".gguf"),
                let path = RelativePath(name), !HubSnapshot.isBeside(path), let label = QuantizationLabel(file: path),
                !label.isRetired, seen.insert(label).inserted
            else { continue }
            labels.append(label)
        }
    }

    private static func count(_ value: JSONValue?) -> UInt64? {
        guard case .number(let digits)? = value, let count = UInt64(digits), count <= ManifestReader.largestInteger
        else {
            return nil
        }
        return count
    }
}
