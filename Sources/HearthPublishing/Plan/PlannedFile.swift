import Foundation
import HearthBase
import HearthCatalog

/// A file of a release, with its place in the origin.
///
/// Weights are named after their release, and companions after their digest. So releases can share a projector, and a
/// name never gets new bytes while caches may keep the old ones for a year.
struct PlannedFile: Sendable {
    let part: PublishPart
    /// The place below the origin's address.
    let place: RelativePath
    let size: UInt64
    let digest: SHA256Digest
    let index: Index?

    /// The chunk index of a file.
    struct Index: Sendable {
        let place: RelativePath
        let data: Data
        var address: String { OriginPlaces.address(of: place) }
    }

    /// The address, relative to the manifest.
    var address: String { OriginPlaces.address(of: place) }

    /// Chooses the place of a part.
    /// - Parameters:
    ///   - known: the place at which the manifest has the same bytes.
    ///   - replaces: whether the published release had other bytes.
    /// - Throws: ``PublishingError`` with `name-needed`.
    init(_ part: PublishPart, _ found: FileCopier.Result, known: RelativePath?, replaces: Bool) throws {
        self.part = part
        size = found.size
        digest = found.digest
        let isWeights = part.role == .weights || part.role == .shard
        let name: PathComponent
        if let known, Self.isModelFile(known) {
            name = known.last
        } else if isWeights {
            name = try Self.component(
                part.stem + (replaces ? ".\(found.digest.short)" : ""), part.fileExtension)
        } else {
            // Keep only characters that need no escape in an address.
            let plain = part.stem.withCharacters(allowed: "._-", others: "-")
            name = try Self.component("\(found.digest.short)-\(plain.suffix(160))", part.fileExtension)
        }
        place = try OriginPlaces.model(name)
        // The digest of a one-chunk file is as precise as an index.
        if part.role == .weights || found.index.chunks.count > 1 {
            let stem = (name.name as NSString).deletingPathExtension
            let indexName = try Self.component(stem.hasSuffix(".tar") ? String(stem.dropLast(4)) : stem, "index")
            index = Index(place: try OriginPlaces.model(indexName), data: found.index.encoded)
        } else {
            index = nil
        }
    }

    /// Whether a place is directly in the folder of models.
    static func isModelFile(_ place: RelativePath) -> Bool { place.parent?.string == OriginPlaces.models }

    private static func component(_ stem: String, _ fileExtension: String) throws -> PathComponent {
        guard let name = PathComponent(fileExtension.isEmpty ? stem : "\(stem).\(fileExtension)") else {
            throw PublishingError(.nameNeeded, "the name \(stem) is too long for a file")
        }
        return name
    }
}
