import Foundation
import HearthBase

/// A manifest of an OCI registry: a configuration and the files of a model (OCI image specification, "Image Manifest").
struct RegistryManifest: Sendable, Hashable {
    /// A blob of the repository.
    struct Blob: Sendable, Hashable {
        /// In lower case, without parameters.
        let mediaType: String
        let digest: SHA256Digest
        let size: UInt64
        /// The path of the file, as its publisher wrote it.
        let fileName: String?
    }

    let config: Blob
    let layers: [Blob]
    /// The release that the publisher named, if Hearth wrote the manifest.
    let release: String?

    /// The most bytes of a manifest, as the distribution specification allows.
    static let maximumSize = 4 << 20
    /// The most files of a model.
    static let maximumLayers = 2048
    /// The media types of manifests of one model.
    static let mediaTypes = [
        RegistryFormat.manifest, "application/vnd.docker.distribution.manifest.v2+json",
    ]
    /// The media types of lists of manifests.
    private static let lists: Set<String> = [
        RegistryFormat.list, "application/vnd.docker.distribution.manifest.list.v2+json",
    ]

    /// Parses a registry's answer.
    /// - Throws: ``CatalogError`` with `registry-answer-invalid` or `no-known-model`.
    init(_ answer: Data, of reference: RegistryReference) throws(CatalogError) {
        func invalid(_ found: String, _ expected: String) -> CatalogError {
            .registryAnswerInvalid(reference, "the manifest holds \(found)", expected: expected)
        }
        let document: JSONValue
        do {
            document = try JSONValue(parsing: answer)
        } catch {
            throw .registryAnswerInvalid(reference, "the manifest is no JSON: \(error)", expected: "JSON")
        }
        guard let facts = document.members else { throw invalid("no object", "an object") }
        let isList = facts["mediaType"]?.string.map { Self.lists.contains($0) } ?? (facts["manifests"] != nil)
        guard !isList else {
            throw CatalogError(
                .noKnownModel, "\(reference) is a list of several manifests",
                context: ErrorContext(
                    model: reference.description, expected: "the manifest of one model",
                    remedy: "Name one of them by its digest: \(reference.path)@sha256:…"))
        }
        guard facts["schemaVersion"] == .number("2") else {
            throw invalid("the schema version \(facts["schemaVersion"]?.kind ?? "none")", "2")
        }
        guard let layers = facts["layers"]?.items, layers.count <= Self.maximumLayers else {
            throw invalid("no list of at most \(Self.maximumLayers) layers", "layers")
        }
        guard let config = facts["config"] else { throw invalid("no config", "config") }
        self.config = try Self.blob(config, "config", invalid)
        var blobs: [Blob] = []
        for (index, layer) in layers.enumerated() { blobs.append(try Self.blob(layer, "layers[\(index)]", invalid)) }
        self.layers = blobs
        release = facts["annotations"]?[RegistryFormat.release]?.string
    }

    private static func blob(
        _ value: JSONValue, _ place: String, _ invalid: (String, String) -> CatalogError
    ) throws(CatalogError) -> Blob {
        guard let type = value["mediaType"]?.string, (1...255).contains(type.utf8.count) else {
            throw invalid("\(place) without a media type", "mediaType")
        }
        guard let digest = value["digest"]?.string.flatMap({ SHA256Digest(tagged: $0) }) else {
            throw invalid("\(place) with the digest \(value["digest"]?.kind ?? "none")", "sha256: and 64 digits")
        }
        guard case .number(let digits)? = value["size"], let size = UInt64(digits),
            size <= ManifestReader.largestInteger
        else { throw invalid("\(place) with the size \(value["size"]?.kind ?? "none")", "a number of bytes") }
        let annotations = value["annotations"]
        let name =
            annotations?[RegistryFormat.filePath]?.string
            ?? annotations?["org.opencontainers.image.title"]?.string
        let plain = String(type.prefix { $0 != ";" }).trimmingCharacters(in: .whitespaces).lowercased()
        return Blob(mediaType: plain, digest: digest, size: size, fileName: name)
    }
}

extension CatalogError {
    /// The error for an answer of a registry that cannot be used.
    static func registryAnswerInvalid(
        _ reference: RegistryReference, _ problem: String, expected: String, found: String? = nil
    ) -> CatalogError {
        CatalogError(
            .registryAnswerInvalid, "the registry's answer about \(reference) cannot be used: \(problem)",
            context: ErrorContext(
                model: reference.description, expected: expected, found: found,
                remedy: "Check the name, and tell the publisher if it stays so."))
    }
}
