import Foundation
import HearthBase
import HearthCatalog

/// Puts the files of releases into an origin's folder. Blocks.
///
/// Weights are named after their release, and companions after their digest. So releases can share a projector, and a
/// name never gets new bytes while caches may keep the old ones for a year.
struct OriginFolder {
    /// The origin's folder.
    let folder: Path
    let fileSystem: any FileSystem
    let copier: FileCopier
    let isDryRun: Bool

    /// A published file.
    struct Placed {
        let part: PublishPart
        let path: Path
        let size: UInt64
        let digest: SHA256Digest
        /// The address, relative to the manifest.
        let address: String
        let index: Index?
    }

    /// A published chunk index.
    struct Index {
        let path: Path
        let address: String
        let data: Data
    }

    private var models: Path { folder.appending("models") }

    /// Puts a part of a release into the origin's folder.
    /// - Parameters:
    ///   - found: the digest and index of the file, if it was read before.
    ///   - known: the path at which the manifest has the same bytes; a file that exists there is not copied.
    ///   - replaces: whether the published release had other bytes.
    func put(
        _ part: PublishPart, found: FileCopier.Result?, known: Path?, replaces: Bool
    ) throws -> Placed {
        var found = found
        let isWeights = part.role == .weights || part.role == .shard
        if !isWeights || replaces { found = try found ?? copier.hash(part) }
        let path: Path
        let isKnown = known?.parent == models.absolute
        if let known, isKnown {
            path = known
        } else {
            path = try place(of: part, isWeights: isWeights, digest: isWeights && !replaces ? nil : found?.digest)
        }
        let result: FileCopier.Result
        if let found, try isDryRun || (isKnown ? has(found.size, at: path) : has(found, at: path)) {
            result = found
        } else if isDryRun {
            result = try copier.hash(part)
        } else {
            result = try copier.copy(part, to: path, expected: found?.digest)
        }
        var index: Index?
        // The digest of a one-chunk file is as precise as an index.
        if part.role == .weights || result.index.chunks.count > 1 {
            let name = (path.lastComponent as NSString).deletingPathExtension
            let place = try component(name.hasSuffix(".tar") ? String(name.dropLast(4)) : name, "index")
            let written = Index(
                path: models.appending(place), address: "models/\(place)", data: result.index.encoded)
            if !isDryRun { try fileSystem.replaceContents(of: written.path, with: written.data) }
            index = written
        }
        return Placed(
            part: part, path: path, size: result.size, digest: result.digest,
            address: "models/\(path.lastComponent)", index: index)
    }

    private func place(of part: PublishPart, isWeights: Bool, digest: SHA256Digest?) throws -> Path {
        let mark = digest?.short
        guard !isWeights else {
            return models.appending(try component(part.stem + (mark.map { ".\($0)" } ?? ""), part.fileExtension))
        }
        // Keep only characters that need no escape in an address.
        let plain = part.stem.withCharacters(allowed: "._-", others: "-")
        return models.appending(try component("\(mark ?? "")-\(plain.suffix(160))", part.fileExtension))
    }

    private func component(_ stem: String, _ fileExtension: String) throws -> PathComponent {
        guard let name = PathComponent(fileExtension.isEmpty ? stem : "\(stem).\(fileExtension)") else {
            throw PublishingError(.nameNeeded, "the name \(stem) is too long for a file")
        }
        return name
    }

    private func has(_ size: UInt64, at path: Path) throws -> Bool {
        let status = try fileSystem.status(at: path, followLinks: false)
        return status?.kind == .file && status?.size == size
    }

    /// Whether a path has these bytes already.
    private func has(_ found: FileCopier.Result, at path: Path) throws -> Bool {
        guard try has(found.size, at: path) else { return false }
        return try fileSystem.digest(ofFile: path) == found.digest
    }
}
