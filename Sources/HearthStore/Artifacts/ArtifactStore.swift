import Foundation
import HearthBase
import HearthCatalog

/// Finds, builds and removes artifacts on the disk. Blocks.
///
/// ```
/// prepared/<family>/<release>/<hash>/<name>             an artifact
/// prepared/<family>/<release>/<hash>/artifact.json      its record, written before the folder moves to this place
/// prepared/<family>/<release>/.<hash>.tmp-<mark>/       an unfinished build
/// prepared/<family>/<release>/.<hash>.tmp-<mark>.lock   locked by the process that builds it
/// ```
/// The hash covers the recipe and the source's digest, so a changed recipe or source leads to another folder. If a
/// process ends during a build, its lock file stays unlocked: see ``begin(_:of:at:)``.
package struct ArtifactStore: Sendable {
    package let layout: HomeLayout
    package let fileSystem: any FileSystem

    package var directory: ReleaseDirectory { ReleaseDirectory(layout: layout, fileSystem: fileSystem) }

    /// Finds the artifact that a recipe makes, by its record, name and size.
    package func look(for recipe: Recipe, of release: InstalledRelease) throws -> Artifact? {
        guard let (folder, record) = try record(of: recipe, in: release) else { return nil }
        return try examine(record, in: folder, of: release.identity)?.artifact
    }

    /// Finds the artifact of a recipe. Compares its digest if the caller asks for it or the file's date has changed.
    /// - Parameter rehashing: whether to read the whole file, whatever its date.
    package func find(_ recipe: Recipe, of release: InstalledRelease, rehashing: Bool, flag: StopFlag) throws
        -> Artifact?
    {
        guard let (folder, record) = try record(of: recipe, in: release),
            let found = try examine(record, in: folder, of: release.identity)
        else { return nil }
        if rehashing || !found.isUntouched {
            let digest = try FilePump(fileSystem: fileSystem, flag: flag).digest(of: found.artifact.path)
            guard digest == found.artifact.digest else { return nil }
        }
        return found.artifact
    }

    /// Finds the artifact that was built last from a release, by any recipe.
    package func latest(of release: InstalledRelease) throws -> Artifact? {
        try records(of: release).compactMap { try examine($1, in: $0, of: release.identity)?.artifact }
            .max { $0.made < $1.made }
    }

    /// The refusal of a recipe's artifact, `nil` if it may be built.
    package func refusal(of recipe: Recipe, for release: InstalledRelease) throws -> RefusedArtifact? {
        try record(of: recipe, in: release)?.record.refusal(of: release.identity)
    }

    /// The latest record of a release if it is a refusal.
    func latestRefusal(for release: InstalledRelease) throws -> RefusedArtifact? {
        try records(of: release).map(\.record).max { $0.made < $1.made }?.refusal(of: release.identity)
    }

    // MARK: - Verifying

    /// The artifacts of a release by their records, intact or not.
    func recorded(of release: InstalledRelease) throws -> [Artifact] {
        try records(of: release).compactMap { Artifact($1, in: $0, of: release.identity) }
    }

    /// Compares an artifact's bytes with its record; `onPiece` receives the number of bytes read each time.
    package func compare(
        _ artifact: Artifact, flag: StopFlag, onPiece: (UInt64) -> Void
    ) throws -> FileCheck.Outcome {
        do {
            return try FilePump(fileSystem: fileSystem, flag: flag).compare(
                artifact.path, try fileSystem.status(at: artifact.path, followLinks: false), size: artifact.size,
                digest: artifact.digest, onPiece)
        } catch let error as FileError where error.code == .notFound {
            // Removed while it was read.
            return .missing
        }
    }

    /// Whether an artifact's record is unchanged since the artifact was found.
    package func isCurrent(_ artifact: Artifact) throws -> Bool {
        let folder = artifact.path.parent
        return try record(in: folder).flatMap { Artifact($0, in: folder, of: artifact.release) } == artifact
    }

    // MARK: - Places and records

    /// The folder of the artifact that a recipe makes from a file with the given digest.
    package func place(of recipe: Recipe, from source: SHA256Digest, _ identity: ReleaseIdentity) -> Path {
        let text = [recipe.engine, recipe.engineVersion, recipe.settings, source.hex].joined(separator: "\n")
        let hash = SHA256Digest(hashing: Data(text.utf8)).hex.prefix(16)
        return layout.preparedFolder(of: identity).joined(String(hash))
    }

    /// Reads the record in a folder; `nil` if it is missing or damaged.
    package func record(in folder: Path) throws -> ArtifactRecord? {
        let path = folder.joined(ArtifactRecord.fileName)
        guard try directory.isFolder(folder), let status = try fileSystem.status(at: path, followLinks: false),
            status.kind == .file, status.size <= ArtifactRecord.sizeLimit
        else { return nil }
        do {
            return try ArtifactRecord(
                data: try fileSystem.contents(ofFile: path, limit: Int(ArtifactRecord.sizeLimit)))
        } catch let error as DecodingError {
            Log.write(.warning, "artifacts", "\(path) is damaged, and its artifact is made again: \(error)")
            return nil
        }
    }

    private func record(
        of recipe: Recipe, in release: InstalledRelease
    ) throws -> (folder: Path, record: ArtifactRecord)? {
        guard let source = release.receipt.weights?.digest else { return nil }
        let folder = place(of: recipe, from: source, release.identity)
        guard let record = try record(in: folder), record.isResult(of: recipe, from: source) else { return nil }
        return (folder, record)
    }

    /// The records of artifacts built from the release's present weights, with their folders.
    private func records(of release: InstalledRelease) throws -> [(folder: Path, record: ArtifactRecord)] {
        try folders(of: release.identity).compactMap { folder in
            guard let record = try record(in: folder), record.source == release.receipt.weights?.digest
            else { return nil }
            return (folder, record)
        }
    }

    /// The folders of a release's artifacts, without unfinished builds.
    package func folders(of identity: ReleaseIdentity) throws -> [Path] {
        let parent = layout.preparedFolder(of: identity)
        return try names(in: parent).filter { !HomeLayout.isTemporary($0) }.sorted().map(parent.joined)
            .filter { try directory.isFolder($0) }
    }

    /// The names in a release's folder of artifacts; none if it does not exist.
    func names(in folder: Path) throws -> [String] {
        try directory.isFolder(below: folder) ? directory.names(in: folder) : []
    }

    private func examine(
        _ record: ArtifactRecord, in folder: Path, of identity: ReleaseIdentity
    ) throws -> (artifact: Artifact, isUntouched: Bool)? {
        guard let artifact = Artifact(record, in: folder, of: identity),
            case .built(_, let modified, _) = record.state,
            let status = try fileSystem.status(at: artifact.path, followLinks: false),
            status.kind == .file, status.size == artifact.size
        else { return nil }
        return (artifact, abs(status.modified.timeIntervalSince(modified)) <= 0.001)
    }
}

extension Artifact {
    /// The artifact in a record; `nil` for a refused one.
    init?(_ record: ArtifactRecord, in folder: Path, of release: ReleaseIdentity) {
        guard case .built(let size, _, let digest) = record.state else { return nil }
        self.init(
            release: release, path: folder.joined(record.recipe.fileName), recipe: record.recipe,
            size: size, digest: digest, made: record.made)
    }
}

extension StoreHome {
    var artifacts: ArtifactStore { ArtifactStore(layout: layout, fileSystem: fileSystem) }
}
