import Foundation
import HearthBase
import HearthCatalog

/// Collects a release's files in a staging folder beside its place and moves them there in one step.
///
/// Files of the transfers folder get a second name here (a hard link) and lose the first only after the release is in
/// place. After an interruption the next attempt therefore finds the verified bytes. Files that another release holds
/// get a second name as well and keep the first: they are stored once, and never written to again.
struct Staging: Sendable {
    package let layout: HomeLayout
    package let fileSystem: any FileSystem
    package let identity: ReleaseIdentity
    private let archives: ArchiveLibrary
    /// The staging folder.
    package let folder: Path
    /// Held while the folder is filled, so that no process removes it as unfinished work.
    private let lock: FileLock

    private var directory: ReleaseDirectory { ReleaseDirectory(layout: layout, fileSystem: fileSystem) }

    /// Creates an empty staging folder. Under the commit lock.
    init(_ identity: ReleaseIdentity, in home: StoreHome) throws {
        let (layout, fileSystem) = (home.layout, home.fileSystem)
        self.layout = layout
        self.fileSystem = fileSystem
        archives = home.archives
        self.identity = identity
        let parent = layout.folder(of: identity.family)
        try fileSystem.makeFolders(parent)
        guard try ReleaseDirectory(layout: layout, fileSystem: fileSystem).isFolder(parent) else {
            throw StoreError(
                .homeUnusable, "\(parent) is a link, and models are never installed through one",
                context: ErrorContext(
                    model: identity.description, file: parent.string, remedy: "Put a folder in its place."))
        }
        folder = parent.appendingTemporary(besides: identity.folderName)
        let lockFile = Self.lockFile(of: folder)
        guard let lock = try FileLock.tryAcquire(lockFile) else {
            throw FileError(errno: EEXIST, doing: "lock", path: lockFile)
        }
        self.lock = lock
        do {
            try fileSystem.makeFolder(folder, permissions: 0o755)
        } catch {
            close()
            throw error
        }
    }

    /// The file that is locked while a staging folder is filled.
    static func lockFile(of folder: Path) -> Path { folder.withSuffix(".lock") }

    /// Brings the files, the archive's contents and their receipt to the disk, below the staging folder.
    /// - Parameters:
    ///   - places: the places of each content in installed releases, to store files once with them.
    ///   - receipt: makes the receipt of all files.
    /// - Returns: that receipt.
    package func fill(
        _ files: [StagedFile], archive: (plan: ArchivePlan, path: Path)? = nil,
        places: ContentPlaces? = nil, flag: StopFlag, onPiece: @escaping (UInt64) -> Void = { _ in },
        receipt: ([Receipt.File]) throws -> Receipt
    ) throws -> Receipt {
        var folders: Set<RelativePath> = []
        func make(_ path: RelativePath) throws {
            guard folders.insert(path).inserted else { return }
            try fileSystem.makeFolder(folder.appending(path), permissions: 0o755)
        }
        for file in files {
            try flag.check()
            for parent in file.name.folders { try make(parent) }
            try take(file, flag)
        }
        var all = files.map {
            Receipt.File(name: $0.name, role: $0.role, size: $0.size, digest: $0.digest, source: $0.source)
        }
        if let archive {
            let extractor = ArchiveExtractor(
                plan: archive.plan, fileSystem: fileSystem, flag: flag, library: archives)
            all += try extractor.extract(archive.path, into: folder, makeFolder: make, onPiece: onPiece)
        }
        try Self.refuseEqualNames(all.map(\.name), of: identity)
        let shared = Set(files.filter(\.isShared).map(\.name))
        try share(
            all.filter { !shared.contains($0.name) }, with: places ?? ContentPlaces(fileSystem: fileSystem), flag: flag)
        let receipt = try receipt(all)
        // Each folder's contents before the folder. The outermost folder is brought to the disk with the receipt, so
        // that no receipt exists without its files.
        for folder in folders.sorted(by: { $0.components.count > $1.components.count }) {
            try fileSystem.synchronizeFolder(self.folder.appending(folder))
        }
        try fileSystem.replaceContents(of: HomeLayout.receipt(in: folder), with: try receipt.data())
        return receipt
    }

    /// - Throws: `staged-file-changed` if two names are one on some file systems.
    static func refuseEqualNames(_ files: [RelativePath], of identity: ReleaseIdentity) throws {
        var names = DistinctPaths()
        for name in files {
            guard let other = names.insert(name) else { continue }
            throw StoreError(
                .stagedFileChanged, "\(name) and \(other) of \(identity) cannot lie in one folder",
                context: ErrorContext(model: identity.description, file: name.string))
        }
    }

    private func take(_ staged: StagedFile, _ flag: StopFlag) throws {
        let found = try fileSystem.status(at: staged.path, followLinks: false)
        if found == nil { throw FileError(errno: ENOENT, doing: "install", path: staged.path) }
        let source = try fileSystem.open(staged.path, .read)
        let status = try fileSystem.status(of: source)
        guard status.kind == .file, status.size == staged.size else {
            throw Self.changed(staged, expected: "\(staged.size) bytes", found: "\(status.size) bytes")
        }
        let target = folder.appending(staged.name)
        if staged.isShared || layout.isTransfer(staged.path), found?.kind == .file {
            // A shared file has been on the disk since the other release was installed.
            if !staged.isShared { try fileSystem.synchronize(source) }
            if try link(staged.path, to: target) {
                guard try fileSystem.status(at: target, followLinks: false)?.identity == status.identity else {
                    throw Self.changed(staged, expected: "one file", found: "another in its place")
                }
                return
            }
        }
        if staged.isShared, try clone(source, to: target) { return }
        let digest = try FilePump(fileSystem: fileSystem, flag: flag).copy(source, to: target)
        guard digest == staged.digest else {
            throw Self.changed(staged, expected: staged.digest.hex, found: digest.hex)
        }
    }

    /// Copies a file by sharing its bytes; `false` if the file systems cannot do that.
    func clone(_ source: OpenFile, to target: Path) throws -> Bool {
        let copy = try fileSystem.open(target, .createNew)
        guard try fileSystem.clone(source, to: copy) else {
            try fileSystem.removeFile(target)
            return false
        }
        try fileSystem.synchronize(copy)
        return true
    }

    /// Gives a file a second name; `false` if the file systems cannot do that.
    func link(_ source: Path, to target: Path) throws -> Bool {
        do {
            try fileSystem.makeHardLink(at: target, to: source)
            return true
        } catch let error as FileError
            where error.isSystemError(EXDEV, EPERM, EOPNOTSUPP, EMLINK)
        {
            Log.write(.info, "\(source) is copied: \(error.message)")
            return false
        }
    }

    private static func changed(_ staged: StagedFile, expected: String, found: String) -> StoreError {
        StoreError(
            .stagedFileChanged, "\(staged.name) is not the file that was announced",
            context: ErrorContext(
                file: staged.path.string, expected: expected, found: found, remedy: "Pull the model again."))
    }

    /// Moves the release into its place. Under the commit lock.
    ///
    /// In the folder of a damaged release every file is replaced by a rename: each name always has a file, and a
    /// process that has the old file open keeps it. The receipt comes last.
    /// - Parameter receipt: with the release's final identity, which may have got a content tag since ``fill``.
    package func commit(_ receipt: Receipt) throws {
        if receipt.identity != identity {
            try fileSystem.replaceContents(of: HomeLayout.receipt(in: folder), with: try receipt.data())
        }
        let target = layout.folder(of: receipt.identity)
        if try directory.isFolder(target) { return try exchange(receipt, in: target) }
        if try fileSystem.status(at: target, followLinks: false) != nil { try fileSystem.removeFile(target) }
        try fileSystem.rename(folder, to: target)
        try fileSystem.synchronizeFolder(target.parent)
    }

    /// Replaces the files of an installed release one by one.
    private func exchange(_ receipt: Receipt, in target: Path) throws {
        let installed = ReleaseFolder(path: target, fileSystem: fileSystem)
        for file in receipt.files { try installed.put(folder.appending(file.name), at: file.name) }
        let place = HomeLayout.receipt(in: target)
        if try directory.isFolder(place) { try fileSystem.removeTree(place) }
        try fileSystem.rename(HomeLayout.receipt(in: folder), to: place)
        try fileSystem.synchronizeFolder(target)
    }

    /// Removes the staging folder and releases the lock.
    package func close() {
        do {
            try fileSystem.removeTree(folder)
            try fileSystem.removeFile(Self.lockFile(of: folder))
        } catch {
            Log.write(.info, "\(folder) stays until the next start: \(error)")
        }
        lock.release()
    }
}

extension HomeLayout {
    /// Whether a file lies below the transfers folder, so that the store may move it.
    func isTransfer(_ path: Path) -> Bool {
        let text = path.absolute.string
        return text.hasPrefix(transfers.absolute.string + "/") && !text.split(separator: "/").contains("..")
    }
}
