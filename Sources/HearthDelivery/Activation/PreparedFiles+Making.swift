import Foundation
import HearthBase

extension PreparedFiles {
    /// Opens a folder to build in. The lock says that somebody does; it is given back with ``PreparedWork/close()``. Under the
    /// commit lock: who sweeps meets both of them, or neither.
    func begin(_ recipe: PreparationRecipe, of release: InstalledRelease) throws -> PreparedWork {
        guard let file = PathComponent(recipe.fileName), Receipt.objection(to: RelativePath(file)) == nil,
            recipe.fileName.lowercased() != "prepared.json"
        else {
            throw StoreError(
                .reservedName, "\(recipe.fileName) is no name for what is made of \(release.identity)",
                context: ErrorContext(model: release.identity.description, file: recipe.fileName))
        }
        let source = try source(of: recipe, in: release)
        let parent = layout.preparedFolder(of: release.identity.family)
        try fileSystem.makeFolders(parent)
        guard try shelf.isFolder(parent) else { throw FileError(errno: ENOTDIR, doing: "use", path: parent) }
        try sweep(release.identity.family)
        let free = try fileSystem.freeSpace(at: parent)
        guard free > recipe.expectedSize else {
            throw FileError(errno: ENOSPC, doing: "make \(recipe.fileName) in", path: parent)
        }
        let known = try folders(recipe, source, release.identity).compactMap { try record(in: $0) }
        let folder = parent.appendingTemporary(besides: release.identity.folderName)
        guard let lock = try FileLock.tryAcquire(folder.withSuffix(".lock")) else {
            throw FileError(errno: EEXIST, doing: "lock", path: folder)
        }
        do {
            try fileSystem.makeFolder(folder, permissions: 0o755)
        } catch {
            lock.release()
            throw error
        }
        return PreparedWork(folder: folder, file: file, known: known, lock: lock, fileSystem: fileSystem)
    }

    /// Brings what was built to the disk with a record of it. Reads all of it, so not under the commit lock.
    /// - Throws: `artefact-refused` for what is no artefact: empty, or with a link in it.
    func complete(
        _ work: PreparedWork, _ recipe: PreparationRecipe, of release: InstalledRelease, at date: Date, flag: StopFlag
    ) throws {
        let source = try source(of: recipe, in: release)
        let pump = FilePump(fileSystem: fileSystem, flag: flag)
        try shape(of: work, recipe, release).synchronize(at: work.path, with: pump)
        // Looked at again: there are disks that date what is written when they get it.
        let shape = try shape(of: work, recipe, release)
        let record = PreparedRecord(
            recipe: recipe, file: work.file, source: source, shape: shape,
            sha256: try shape.digest(of: work.path, with: pump), made: date)
        let data = try record.data()
        guard data.count <= PreparedRecord.sizeLimit else {
            throw ActivationError.artefactRefused(work.path, of: release, "it holds too many files")
        }
        try fileSystem.replaceContents(of: work.folder.appending("prepared.json"), with: data)
    }

    private func source(of recipe: PreparationRecipe, in release: InstalledRelease) throws -> SHA256Digest {
        guard let digest = recipe.sourceDigest(in: release) else {
            throw FileError(errno: ENOENT, doing: "prepare", path: release.folder)
        }
        return digest
    }

    private func shape(
        of work: PreparedWork, _ recipe: PreparationRecipe, _ release: InstalledRelease
    ) throws -> PreparedShape {
        guard let shape = try PreparedShape(of: work.path, recipe.product, fileSystem: fileSystem) else {
            throw ActivationError.artefactRefused(work.path, of: release, "there is no \(recipe.product) of that name")
        }
        if let objection = shape.objection {
            throw ActivationError.artefactRefused(work.path, of: release, objection)
        }
        return shape
    }

    /// Moves what was built to its place, and takes away what was made before where nobody reads it. Under the commit lock.
    /// - Parameter isRead: whether somebody may have what was made of the release mapped; asked more than once.
    func commit(
        _ work: PreparedWork, _ recipe: PreparationRecipe, of release: InstalledRelease, isRead: () throws -> Bool
    ) throws -> PreparedRelease? {
        guard let source = recipe.sourceDigest(in: release) else { return nil }
        // Somebody else made the same meanwhile: perhaps it is being read by now.
        if let there = try find(recipe, of: release, rehashing: false, flag: StopFlag(), besides: work.known) {
            return there
        }
        let parent = layout.preparedFolder(of: release.identity)
        var target = folder(recipe, source, release.identity)
        try fileSystem.makeFolders(parent)
        for folder in try folders(recipe, source, release.identity) { try retire(folder, parent, isRead) }
        if let status = try fileSystem.status(at: target, followLinks: false) {
            if status.kind == .folder {
                target = target.withSuffix("-\(String(UInt64.random(in: 0 ... .max), radix: 16))")
            } else {
                try setAside(target, parent)
            }
        }
        try fileSystem.moveDurably(work.folder, to: target)
        let made = try find(recipe, of: release, rehashing: false, flag: StopFlag())
        do {
            if let made { try retireOthers(than: made, isRead) }
        } catch {
            // That an old one stays is no reason to do without the new one; the next opening tries again.
            Log.write(
                .info, "delivery.activation", "what else was made of \(release.identity) stays for now: \(error)")
        }
        return made
    }
}

/// A place where something is being made of a release.
struct PreparedWork: Sendable {
    let folder: Path
    let file: PathComponent
    /// The records of what stood there already, and was not whole.
    fileprivate let known: [PreparedRecord]
    fileprivate let lock: FileLock
    fileprivate let fileSystem: any FileSystem

    /// The file or folder to make.
    var path: Path { folder.appending(file) }

    fileprivate init(
        folder: Path, file: PathComponent, known: [PreparedRecord], lock: FileLock, fileSystem: any FileSystem
    ) {
        self.folder = folder
        self.file = file
        self.known = known
        self.lock = lock
        self.fileSystem = fileSystem
    }

    /// Removes what is left here and lets go.
    func close() {
        do {
            try fileSystem.removeTree(folder)
            try fileSystem.removeFile(folder.withSuffix(".lock"))
        } catch {
            Log.write(.info, "delivery.activation", "\(folder) stays until the next start: \(error)")
        }
        lock.release()
    }
}
