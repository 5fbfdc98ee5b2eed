import Foundation
import HearthBase
import HearthDelivery

/// Puts the files of releases into an origin's folder. Blocks.
///
/// The weights of a release are called by its names, what belongs to them by its digest: so releases that have a projector in
/// common share the file, and a name never stands for other bytes than caches may hold for a year.
struct OriginShelf {
    /// The origin's folder.
    let folder: Path
    let fileSystem: any FileSystem
    let copier: FileCopier
    let isDryRun: Bool

    /// A file in its place.
    struct Placed {
        let part: PublishPart
        let path: Path
        let size: UInt64
        let digest: SHA256Digest
        /// Relative to the manifest.
        let address: String
        let index: Index?
    }

    /// A chunk index in its place.
    struct Index {
        let path: Path
        let address: String
        let data: Data
    }

    private var models: Path { folder.appending("models") }

    /// Puts a part of a release where it belongs.
    /// - Parameters:
    ///   - found: what the file was found to be, if it was read already.
    ///   - known: where the manifest has these very bytes; a file that is there already is not copied.
    ///   - replaces: whether other bytes had the release's name before.
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
        // The digest of a small file says as much.
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
        // As it stands in an address.
        let plain = String(
            part.stem.map { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) ? $0 : "-" })
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

    /// Whether the bytes are there, whoever put them there.
    private func has(_ found: FileCopier.Result, at path: Path) throws -> Bool {
        guard try has(found.size, at: path) else { return false }
        return try fileSystem.digest(ofFile: path) == found.digest
    }
}
