import Foundation
import HearthBase
import HearthCatalog

/// A release as ModelPack describes it: a configuration and a manifest. The same release gives the same bytes.
struct ModelPack: Sendable {
    /// A file of the release.
    struct File: Sendable {
        let part: PublishPart
        let found: FileCopier.Result
        /// The path on devices.
        let name: String
    }

    let files: [File]
    let config: Data
    let manifest: Data

    /// Describes a release of files that are not in an archive.
    /// - Throws: ``PublishingError`` with `not-publishable`.
    init(_ source: HashedSource, request: PublishRequest) throws {
        guard source.source.packed == nil else {
            throw PublishingError.refused(
                source.source.path, "a registry's form of models has no archives", "Publish the files in it.")
        }
        files = zip(source.source.parts, source.found).map { part, found in
            // Devices know a projector by its name.
            let isPlain = part.role == .projector && !part.name.name.lowercased().contains("mmproj")
            return File(part: part, found: found, name: isPlain ? "mmproj-\(part.name)" : part.name.name)
        }
        config = Self.config(source, request)
        let layers = files.map { file in
            Self.descriptor(
                Self.type(of: file), file.found.digest, file.found.size,
                annotations: [RegistryFormat.filePath: .string(file.name)])
        }
        manifest = Self.bytes([
            "schemaVersion": 2, "mediaType": .string(RegistryFormat.manifest),
            "artifactType": .string(RegistryFormat.modelPack),
            "config": Self.descriptor(
                RegistryFormat.modelPackConfig, SHA256Digest(hashing: config), UInt64(config.count)),
            "layers": .array(layers),
            "annotations": [RegistryFormat.release: .string(source.source.identity.description)],
        ])
    }

    /// The manifest with the chunk indexes of the release's files; `nil` if no file has several chunks.
    var chunks: (manifest: Data, blobs: [Data])? {
        let indexed = files.filter { $0.found.index.chunks.count > 1 }
        guard !indexed.isEmpty else { return nil }
        let blobs = indexed.map(\.found.index.encoded)
        let layers = zip(indexed, blobs).map { file, data in
            Self.descriptor(
                RegistryFormat.chunks, SHA256Digest(hashing: data), UInt64(data.count),
                annotations: [RegistryFormat.filePath: .string(file.name)])
        }
        let manifest = Self.bytes([
            "schemaVersion": 2, "mediaType": .string(RegistryFormat.manifest),
            "artifactType": .string(RegistryFormat.chunks),
            "config": Self.descriptor(
                RegistryFormat.empty, SHA256Digest(hashing: Self.empty), UInt64(Self.empty.count)),
            "layers": .array(layers),
            "subject": Self.descriptor(
                RegistryFormat.manifest, SHA256Digest(hashing: self.manifest), UInt64(self.manifest.count)),
        ])
        return (manifest, [Self.empty] + blobs)
    }

    /// The configuration of a manifest that needs none.
    static let empty = Data("{}".utf8)

    static func descriptor(
        _ type: String, _ digest: SHA256Digest, _ size: UInt64, annotations: JSONMembers? = nil
    ) -> JSONValue {
        var members: JSONMembers = [
            "mediaType": .string(type), "digest": .string(digest.tagged), "size": .integer(size),
        ]
        members["annotations"] = annotations.map { .object($0) }
        return .object(members)
    }

    static func bytes(_ members: JSONMembers) -> Data { Data(JSONValue.object(members).bytes) }

    private static func type(of file: File) -> String {
        let name = file.name.lowercased()
        let kind =
            switch file.part.role {
            case .weights, .shard, .projector: "weight"
            case .labels, .tokenizer, .index: "weight.config"
            case .other: ["license", "readme", "notice"].contains(where: name.hasPrefix) ? "doc" : "weight.config"
            }
        return "application/vnd.cncf.model.\(kind).v1.raw"
    }

    private static func config(_ source: HashedSource, _ request: PublishRequest) -> Data {
        let (identity, header) = (source.source.identity, source.source.header)
        func line(_ text: String?) -> JSONValue? {
            text.flatMap { (1...200).contains($0.utf8.count) && $0.isPlain() ? .string($0) : nil }
        }
        var descriptor: JSONMembers = [
            "family": .string(identity.family.name), "name": .string(identity.family.name),
            "version": .string(identity.version.name),
        ]
        descriptor["title"] = line(request.name ?? header?.name)
        descriptor["description"] = request.summary.map { .string($0) }
        descriptor["licenses"] = line(request.license ?? header?.license).map { [$0] }
        var config: JSONMembers = ["format": .string(source.source.format.rawValue)]
        config["architecture"] = line(header?.architecture)
        config["quantization"] = line(identity.variant?.name)
        return bytes([
            "descriptor": .object(descriptor), "config": .object(config),
            "modelfs": ["type": "layers", "diffIds": .array(source.found.map { .string($0.digest.tagged) })],
        ])
    }
}
