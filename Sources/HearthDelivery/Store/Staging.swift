import Foundation
import HearthBase

/// Puts a release together beside its place and moves it there in one step.
///
/// Files of the transfers folder get a second name here (a hard link) and lose the first only after the release is in
/// place. So an interruption at any instruction leaves the verified bytes where the next attempt looks for them. Files that
/// another release holds get a second name as well and keep the first: they are stored once, and so never written to again.
struct Staging: Sendable {
    let layout: HomeLayout
    let fileSystem: any FileSystem
    let identity: ReleaseIdentity
    /// The folder the release grows in.
    let folder: Path
    /// Held while somebody works here, so that nobody takes the folder for a left-over.
    private let lock: FileLock

    private var shelf: ReleaseShelf { ReleaseShelf(layout: layout, fileSystem: fileSystem) }

    /// Opens an empty folder. Under the commit lock.
    init(_ identity: ReleaseIdentity, layout: HomeLayout, fileSystem: any FileSystem) throws {
        self.layout = layout
        self.fileSystem = fileSystem
        self.identity = identity
        let parent = layout.folder(of: identity.family)
        try fileSystem.makeFolders(parent)
        guard try ReleaseShelf(layout: layout, fileSystem: fileSystem).isFolder(parent) else {
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

    /// The file whose lock tells that a staging folder is being worked in.
    static func lockFile(of folder: Path) -> Path { folder.withSuffix(".lock") }

    /// Brings the files, what is in the archive, and their receipt to the disk, below the staging folder.
    /// - Parameters:
    ///   - holders: where installed releases have which contents, to be stored once with them.
    ///   - receipt: makes the receipt of all files.
    /// - Returns: that receipt.
    func fill(
        _ files: [StagedFile], archive: (plan: ArchivePlan, path: Path)? = nil,
        holders: [ModelStore.Content: [Path]] = [:], flag: StopFlag, onPiece: @escaping (UInt64) -> Void = { _ in },
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
            let extractor = ArchiveExtractor(plan: archive.plan, fileSystem: fileSystem, flag: flag)
            all += try extractor.extract(archive.path, into: folder, makeFolder: make, onPiece: onPiece)
        }
        var names = DistinctPaths()
        for file in all {
            guard let other = names.insert(file.name) else { continue }
            throw StoreError(
                .stagedFileChanged, "\(file.name) and \(other) of \(identity) cannot lie in one folder",
                context: ErrorContext(model: identity.description, file: file.name.string))
        }
        let shared = Set(files.filter(\.isShared).map(\.name))
        try share(all.filter { !shared.contains($0.name) }, with: holders, flag: flag)
        let receipt = try receipt(all)
        // The entries of a folder before that folder's own; those of the outermost are brought to the disk with the
        // receipt, which so is never there without the files it tells of.
        for folder in folders.sorted(by: { $0.components.count > $1.components.count }) {
            try fileSystem.synchronizeFolder(self.folder.appending(folder))
        }
        try fileSystem.replaceContents(of: HomeLayout.receipt(in: folder), with: try receipt.data())
        return receipt
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
            // What another release holds has been on the disk since that was installed.
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

    /// Lets the file systems that can share bytes between files do so; `false` elsewhere.
    func clone(_ source: OpenFile, to target: Path) throws -> Bool {
        let copy = try fileSystem.open(target, .createNew)
        guard try fileSystem.clone(source, to: copy) else {
            try fileSystem.removeFile(target)
            return false
        }
        try fileSystem.synchronize(copy)
        return true
    }

    /// Gives a file a second name; `false` where the file systems cannot do that.
    func link(_ source: Path, to target: Path) throws -> Bool {
        do {
            try fileSystem.makeHardLink(at: target, to: source)
            return true
        } catch let error as FileError
            where [EXDEV, EPERM, EOPNOTSUPP, EMLINK].contains(where: { error.context.found == "errno \($0)" })
        {
            Log.write(.info, "delivery.store", "\(source) is copied: \(error.message)")
            return false
        }
    }

    private static func changed(_ staged: StagedFile, expected: String, found: String) -> StoreError {
        StoreError(
            .stagedFileChanged, "\(staged.name) is not the file that was announced",
            context: ErrorContext(
                file: staged.path.string, expected: expected, found: found, remedy: "Pull the model again."))
    }

    /// Puts the release in its place, in that of another if need be. Under the commit lock.
    ///
    /// Where another is in its place that somebody reads, nothing goes from there. A damaged one of the same contents gets the files
    /// one by one: every name stands for a file at any moment, and who has the old one open keeps it.
    /// - Throws: `release-in-use`, if what is read is something else; `FileError`.
    func commit(_ receipt: Receipt) throws {
        let target = layout.folder(of: identity)
        let parent = target.parent
        guard try fileSystem.status(at: target, followLinks: false) != nil else {
            try fileSystem.rename(folder, to: target)
            return try fileSystem.synchronizeFolder(parent)
        }
        let leases = ReleaseLeases(layout: layout, fileSystem: fileSystem)
        if let reader = try leases.holders(of: identity).first { return try exchange(receipt, reader) }
        let aside = parent.appendingTemporary(besides: HomeLayout.replacedName)
        try fileSystem.rename(target, to: aside)
        do {
            // Who took a lease before the folder went was not seen above; who takes one now sees no folder.
            if let reader = try leases.holders(of: identity).first {
                try fileSystem.rename(aside, to: target)
                return try exchange(receipt, reader)
            }
            // Whoever starts after an interruption here puts one of the two in place: see ``LeftOvers``.
            try fileSystem.synchronizeFolder(parent)
            try fileSystem.rename(folder, to: target)
        } catch {
            do {
                if try fileSystem.status(at: aside, followLinks: false) != nil {
                    try fileSystem.rename(aside, to: target)
                }
            } catch let second {
                Log.write(.error, "delivery.store", "\(target) has to wait for the next start: \(second)")
            }
            throw error
        }
        try fileSystem.synchronizeFolder(parent)
        do {
            try fileSystem.removeTree(aside)
        } catch {
            Log.write(.warning, "delivery.store", "\(aside) stays until the next start: \(error)")
        }
    }

    /// Puts each file in the place of the one that is read, if both are meant to be the same.
    private func exchange(_ receipt: Receipt, _ reader: ProcessIdentity) throws {
        let there: Receipt? =
            switch try shelf.find(identity) {
            case .whole(let receipt), .damaged(let receipt?, _): receipt
            case .absent, .damaged(nil, _): nil
            }
        guard let there, there.isSameContent(as: receipt) else { throw StoreError.inUse(identity, by: reader) }
        let target = layout.folder(of: identity)
        for file in receipt.files {
            for path in file.name.folders.map(target.appending) {
                if try shelf.isFolder(path) { continue }
                try fileSystem.removeFile(path)
                try fileSystem.makeFolder(path, permissions: 0o755)
            }
            let place = target.appending(file.name)
            if try shelf.isFolder(place) { try fileSystem.removeTree(place) }
            try fileSystem.rename(folder.appending(file.name), to: place)
            try fileSystem.synchronizeFolder(place.parent)
        }
        try fileSystem.rename(HomeLayout.receipt(in: folder), to: HomeLayout.receipt(in: target))
        try fileSystem.synchronizeFolder(target)
    }

    /// Removes what is left here and lets go.
    func close() {
        do {
            try fileSystem.removeTree(folder)
            try fileSystem.removeFile(Self.lockFile(of: folder))
        } catch {
            Log.write(.info, "delivery.store", "\(folder) stays until the next start: \(error)")
        }
        lock.release()
    }
}

extension HomeLayout {
    /// Whether a file lies below the transfers folder, and so is the store's to take.
    func isTransfer(_ path: Path) -> Bool {
        let text = path.absolute.string
        return text.hasPrefix(transfers.absolute.string + "/") && !text.split(separator: "/").contains("..")
    }
}
