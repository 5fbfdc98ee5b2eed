import Foundation
import HearthBase
import HearthCatalog

extension ArtifactStore {
    /// The number of processes that may end during a build of the same artifact before it is refused.
    static let allowedUncleanEnds = 2

    /// Opens a folder to build an artifact in. Under the commit lock.
    ///
    /// The lock file beside the folder is removed when the build ends, cancelled or not. If the process ends during the
    /// build, the lock file stays and counts as an unclean end; after two the artifact is refused. A required one is not: its
    /// next build goes on in the folder that was left, if its preparer can.
    /// - Parameter isRequired: whether no engine runs the release without it.
    /// - Throws: `StoreError` with `artifact-refused`, `reserved-name`; `FileError`.
    package func begin(
        _ recipe: Recipe, of release: InstalledRelease, isRequired: Bool = false, at date: Date
    ) throws -> ArtifactBuild {
        guard ArtifactRecord.isFileName(recipe.fileName), let file = PathComponent(recipe.fileName) else {
            throw StoreError(
                .reservedName, "\(recipe.fileName) cannot be the name of an artifact of \(release.identity)",
                context: ErrorContext(model: release.identity.description, file: recipe.fileName))
        }
        guard let source = release.receipt.weights?.digest else {
            throw FileError(errno: ENOENT, doing: "prepare", path: release.folder)
        }
        let place = place(of: recipe, from: source, release.identity)
        let left = isRequired ? try unfinished(at: place) : nil
        try sweep(release.identity)
        let ends = try uncleanEnds(at: place)
        guard isRequired || ends < Self.allowedUncleanEnds else {
            let reason = "the program ended \(ends) times while it was built"
            try refuse(recipe, for: release, because: reason, at: date)
            throw StoreError.artifactRefused(recipe.fileName, of: release, reason)
        }
        try fileSystem.makeFolders(place.parent)
        guard try directory.isFolder(place.parent) else {
            throw FileError(errno: ENOTDIR, doing: "use", path: place.parent)
        }
        let free = try fileSystem.freeSpace(at: place.parent)
        guard free > recipe.expectedSize else {
            throw FileError(errno: ENOSPC, doing: "make \(recipe.fileName) in", path: place.parent)
        }
        let folder = left?.folder ?? place.parent.appendingTemporary(besides: place.lastComponent)
        guard let lock = try left?.lock ?? FileLock.tryAcquire(folder.withSuffix(".lock")) else {
            throw FileError(errno: EEXIST, doing: "lock", path: folder)
        }
        let build = ArtifactBuild(
            recipe: recipe, source: source, place: place, folder: folder, path: folder.appending(file),
            replaced: try record(in: place), lock: lock, fileSystem: fileSystem)
        do {
            if left == nil { try fileSystem.makeFolder(folder, permissions: 0o755) }
        } catch {
            build.close()
            throw error
        }
        return build
    }

    /// Brings a built file to the disk with its record. Reads the whole file, so it must not run under the commit lock.
    /// - Throws: `StoreError` with `artifact-refused` for an empty or missing file.
    func complete(_ build: ArtifactBuild, of release: InstalledRelease, at date: Date, flag: StopFlag) throws {
        func status() throws -> FileStatus {
            guard let status = try fileSystem.status(at: build.path, followLinks: false), status.kind == .file,
                status.size > 0
            else { throw StoreError.artifactRefused(build.recipe.fileName, of: release, "it is empty or no file") }
            return status
        }
        _ = try status()
        try fileSystem.synchronize(try fileSystem.open(build.path, .read))
        // Read after the synchronization: some disks set the date of a file when they write it.
        let written = try status()
        let digest = try FilePump(fileSystem: fileSystem, flag: flag).digest(of: build.path)
        let record = ArtifactRecord(
            recipe: build.recipe, source: build.source, made: date,
            state: .built(size: written.size, modified: written.modified, digest: digest))
        try fileSystem.replaceContents(
            of: build.folder.joined(ArtifactRecord.fileName), with: try record.data())
    }

    /// Moves a completed build to its place in one step. Under the commit lock.
    ///
    /// If another process published the same artifact during this build, that one is kept: an engine may have opened
    /// it.
    package func publish(_ build: ArtifactBuild, of release: InstalledRelease) throws -> Artifact {
        if let there = try record(in: build.place), there != build.replaced,
            let artifact = try look(for: build.recipe, of: release)
        {
            return artifact
        }
        // A process that has the replaced file open keeps its bytes.
        try setAside(build.place)
        try fileSystem.moveDurably(build.folder, to: build.place)
        guard let artifact = try look(for: build.recipe, of: release) else {
            throw FileError(errno: EIO, doing: "publish", path: build.place)
        }
        return artifact
    }

    private func uncleanEnds(at place: Path) throws -> Int {
        let beginning = "." + place.lastComponent + Path.temporaryMark
        return try names(in: place.parent).filter { name in
            guard name.hasPrefix(beginning), name.hasSuffix(".lock"),
                let lock = try FileLock.tryAcquire(place.parent.joined(name))
            else { return false }
            lock.release()
            return true
        }.count
    }
}

/// A build of an artifact in progress.
package struct ArtifactBuild: Sendable {
    package let recipe: Recipe
    /// The digest of the weights it is built from.
    package let source: SHA256Digest
    /// The folder it moves to when it is complete.
    fileprivate let place: Path
    /// The folder it is built in.
    fileprivate let folder: Path
    /// The file to build.
    package let path: Path
    /// The record in that folder when the build began.
    fileprivate let replaced: ArtifactRecord?
    fileprivate let lock: FileLock
    fileprivate let fileSystem: any FileSystem

    /// Removes the lock file, so that an end of the process no longer counts as unclean.
    ///
    /// Called as soon as the build is cancelled: the engine may take seconds to stop, and the process may end before.
    package func forget() {
        do {
            try fileSystem.removeFile(folder.withSuffix(".lock"))
        } catch let error as FileError where error.code == .notFound {
            // Already removed, with the build or with its release.
        } catch {
            Log.write(.warning, "artifacts", "\(folder).lock counts as an unclean end: \(error)")
        }
    }

    /// Removes the folder of an unpublished build, and releases the lock.
    /// - Parameter keepsFolder: whether the folder stays, so that the next build goes on in it.
    package func close(keepsFolder: Bool = false) {
        do {
            if !keepsFolder { try fileSystem.removeTree(folder) }
        } catch {
            Log.write(.info, "artifacts", "\(folder) stays until the next build: \(error)")
        }
        forget()
        lock.release()
    }
}
