import Foundation
import HearthBase

/// What engines made of releases: built beside its place, brought to the disk, checked, moved there in one step. Blocks.
///
/// ```
/// prepared/<family>/<release>/<recipe's hash>/<file>          what an engine opens
/// prepared/<family>/<release>/<recipe's hash>/prepared.json   what it is; written last, before the folder moves in
/// prepared/<family>/<release>/<recipe's hash>-<mark>/         the same, where somebody still reads what stands at that place
/// prepared/<family>/.<release>.tmp-<mark>/                    being built (beside it, `….lock` while somebody does)
/// ```
/// All of it can be made again, so whatever looks wrong is as good as not there. A file that somebody may have mapped stays
/// where it is: first its record goes, so that nobody new finds it, and the file once nobody reads the release. Readers take
/// their lease before they look, so one of the two sees the other.
struct PreparedFiles: Sendable {
    let layout: HomeLayout
    let fileSystem: any FileSystem

    private var shelf: ReleaseShelf { ReleaseShelf(layout: layout, fileSystem: fileSystem) }

    // MARK: - Finding

    /// What was made of a release by a recipe, `nil` where there is nothing or something else.
    /// - Parameters:
    ///   - rehashing: reads the file and compares its digest; else only where its date is another than recorded.
    ///   - known: records of what was looked at before, and was not whole.
    func find(
        _ recipe: PreparationRecipe, of release: InstalledRelease, rehashing: Bool, flag: StopFlag,
        besides known: [PreparedRecord] = []
    ) throws -> PreparedRelease? {
        guard let source = PreparedRecord.source(of: release) else { return nil }
        for folder in try folders(recipe, source, release.identity) {
            guard let record = try record(in: folder), record.isMade(by: recipe, of: source),
                !known.contains(record),
                let found = try examine(record, in: folder, of: release.identity, rehashing: rehashing, flag: flag)
            else { continue }
            return found
        }
        return nil
    }

    /// Whether there is anything beside an artefact that was made of its release.
    func hasOthers(than prepared: PreparedRelease) throws -> Bool {
        try shelf.names(in: layout.preparedFolder(of: prepared.release))
            .contains { $0 != prepared.path.parent.lastComponent }
    }

    /// Whatever was made of a release last, by name and size, for those who have no engine to ask.
    func any(of release: InstalledRelease) throws -> PreparedRelease? {
        guard let source = PreparedRecord.source(of: release) else { return nil }
        let folder = layout.preparedFolder(of: release.identity)
        guard try shelf.isFolder(folder) else { return nil }
        var found: (record: PreparedRecord, prepared: PreparedRelease)?
        for name in try shelf.names(in: folder) where !HomeLayout.isTemporary(name) {
            let place = HomeLayout.join(folder, name)
            guard try shelf.isFolder(place), let record = try record(in: place), record.source == source,
                let prepared = try examine(record, in: place, of: release.identity, rehashing: false, flag: nil)
            else { continue }
            if let found, found.record.made >= record.made { continue }
            found = (record, prepared)
        }
        return found?.prepared
    }

    private func examine(
        _ record: PreparedRecord, in folder: Path, of identity: ReleaseIdentity, rehashing: Bool, flag: StopFlag?
    ) throws -> PreparedRelease? {
        let path = folder.appending(record.file)
        guard let status = try fileSystem.status(at: path, followLinks: false), status.kind == .file,
            status.size == record.sizeBytes
        else { return nil }
        if let flag, rehashing || abs(status.modified.timeIntervalSince(record.modified)) > 0.001 {
            guard try FilePump(fileSystem: fileSystem, flag: flag).digest(of: path) == record.sha256 else { return nil }
        }
        return PreparedRelease(
            release: identity, path: path, recipe: record.recipe, size: record.sizeBytes, digest: record.sha256)
    }

    private func record(in folder: Path) throws -> PreparedRecord? {
        let path = folder.appending("prepared.json")
        guard let status = try fileSystem.status(at: path, followLinks: false), status.kind == .file,
            status.size <= PreparedRecord.sizeLimit
        else { return nil }
        do {
            return try PreparedRecord(
                data: try fileSystem.contents(ofFile: path, limit: Int(PreparedRecord.sizeLimit)))
        } catch let error as DecodingError {
            Log.write(.warning, "delivery.activation", "\(path) is damaged, and made again: \(error)")
            return nil
        }
    }

    private func folder(_ recipe: PreparationRecipe, _ source: SHA256Digest, _ identity: ReleaseIdentity) -> Path {
        let text = [recipe.engine, recipe.engineVersion, recipe.settings, source.hex].joined(separator: "\n")
        let hash = SHA256Digest(hashing: Data(text.utf8)).hex.prefix(16)
        return HomeLayout.join(layout.preparedFolder(of: identity), String(hash))
    }

    /// Where what a recipe makes may stand.
    private func folders(
        _ recipe: PreparationRecipe, _ source: SHA256Digest, _ identity: ReleaseIdentity
    ) throws -> [Path] {
        let usual = folder(recipe, source, identity)
        let parent = layout.preparedFolder(of: identity)
        guard try shelf.isFolder(parent) else { return [] }
        let others = try shelf.names(in: parent).filter { $0.hasPrefix("\(usual.lastComponent)-") }.sorted()
        return try ([usual] + others.map { HomeLayout.join(parent, $0) }).filter { try shelf.isFolder($0) }
    }

    // MARK: - Making

    /// Opens a folder to build in. The lock says that somebody does; it is given back with ``PreparedWork/close()``.
    func begin(_ recipe: PreparationRecipe, of release: InstalledRelease) throws -> PreparedWork {
        guard let file = PathComponent(recipe.fileName), Receipt.objection(to: RelativePath(file)) == nil,
            recipe.fileName.lowercased() != "prepared.json"
        else {
            throw StoreError(
                .reservedName, "\(recipe.fileName) is no name for what is made of \(release.identity)",
                context: ErrorContext(model: release.identity.description, file: recipe.fileName))
        }
        let parent = layout.preparedFolder(of: release.identity.family)
        try fileSystem.makeFolders(parent)
        guard try shelf.isFolder(parent) else { throw FileError(errno: ENOTDIR, doing: "use", path: parent) }
        try sweep(release.identity.family)
        let free = try fileSystem.freeSpace(at: parent)
        guard free > recipe.expectedSize else {
            throw FileError(errno: ENOSPC, doing: "make \(recipe.fileName) in", path: parent)
        }
        let known =
            try PreparedRecord.source(of: release).map { try folders(recipe, $0, release.identity) }?
            .compactMap { try record(in: $0) } ?? []
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
    func complete(
        _ work: PreparedWork, _ recipe: PreparationRecipe, of release: InstalledRelease, at date: Date, flag: StopFlag
    ) throws {
        guard let source = PreparedRecord.source(of: release) else {
            throw FileError(errno: ENOENT, doing: "prepare", path: release.folder)
        }
        let file = try fileSystem.open(work.path, .read)
        try fileSystem.synchronize(file)
        let status = try fileSystem.status(of: file)
        guard status.kind == .file, status.size > 0 else {
            throw FileError(errno: EIO, doing: "prepare", path: work.path)
        }
        let record = PreparedRecord(
            recipe: recipe, file: work.file, source: source, sizeBytes: status.size,
            sha256: try FilePump(fileSystem: fileSystem, flag: flag).digest(of: work.path),
            modified: status.modified, made: date)
        try fileSystem.replaceContents(of: work.folder.appending("prepared.json"), with: try record.data())
    }

    /// Moves what was built to its place, and takes away what was made before where nobody reads it. Under the commit lock.
    /// - Parameter isRead: whether somebody may have what was made of the release mapped; asked more than once.
    func commit(
        _ work: PreparedWork, _ recipe: PreparationRecipe, of release: InstalledRelease, isRead: () throws -> Bool
    ) throws -> PreparedRelease? {
        guard let source = PreparedRecord.source(of: release) else { return nil }
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
        if let made { try retireOthers(than: made, isRead) }
        return made
    }

    /// Takes away what else was made of a release, where nobody reads it. Under the commit lock.
    func retireOthers(than prepared: PreparedRelease, _ isRead: () throws -> Bool) throws {
        let parent = layout.preparedFolder(of: prepared.release)
        for name in try shelf.names(in: parent) where name != prepared.path.parent.lastComponent {
            guard try !isRead() else { return }
            try retire(HomeLayout.join(parent, name), parent, isRead)
        }
    }

    /// Takes what was made of a release out of use. Under the commit lock.
    func drop(_ prepared: PreparedRelease, _ isRead: () throws -> Bool) throws {
        try retire(prepared.path.parent, layout.preparedFolder(of: prepared.release), isRead)
    }

    /// Removes the record of an artefact, without which nobody finds it, and then all of it, unless somebody reads it.
    private func retire(_ path: Path, _ parent: Path, _ isRead: () throws -> Bool) throws {
        guard try fileSystem.status(at: path, followLinks: false) != nil else { return }
        let record = path.appending("prepared.json")
        if try shelf.isFolder(path), try !shelf.isFolder(record) { try fileSystem.removeFile(record) }
        // Whoever has found it took a lease before that.
        if try !isRead() { try setAside(path, parent) }
    }

    private func setAside(_ path: Path, _ parent: Path) throws {
        let aside = parent.parent.appendingTemporary(besides: HomeLayout.removedName)
        try fileSystem.rename(path, to: aside)
        do {
            try fileSystem.removeTree(aside)
        } catch {
            Log.write(.info, "delivery.activation", "\(aside) stays until the next start: \(error)")
        }
    }

    /// Removes what was never finished and what nobody builds any more.
    func sweep(_ family: Family) throws {
        let parent = layout.preparedFolder(of: family)
        guard try shelf.isFolder(parent) else { return }
        let names = try shelf.names(in: parent).filter(HomeLayout.isTemporary)
        for name in names where !name.hasSuffix(".lock") {
            let path = HomeLayout.join(parent, name)
            guard let lock = try FileLock.tryAcquire(path.withSuffix(".lock")) else { continue }
            defer { lock.release() }
            try fileSystem.removeTree(path)
            try fileSystem.removeFile(path.withSuffix(".lock"))
        }
        for name in names where name.hasSuffix(".lock") && !names.contains(String(name.dropLast(5))) {
            try fileSystem.removeFile(HomeLayout.join(parent, name))
        }
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

    /// The file to write.
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
