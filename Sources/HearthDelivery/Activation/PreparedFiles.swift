import Foundation
import HearthBase

/// What engines made of releases: built beside its place, brought to the disk, checked, moved there in one step. Blocks.
///
/// ```
/// prepared/<family>/<release>/<recipe's hash>/<name>          what an engine opens, a file or a folder
/// prepared/<family>/<release>/<recipe's hash>/prepared.json   what it is; written last, before the folder moves in
/// prepared/<family>/<release>/<recipe's hash>-<mark>/         the same, where somebody still reads what stands at that place;
///                                                             or only a `prepared.json`, of what is refused
/// prepared/<family>/.<release>.tmp-<mark>/                    being built (beside it, `….lock` while somebody does)
/// ```
/// All of it can be made again, so whatever looks wrong is as good as not there: another name, length or kind anywhere in it.
/// Files that somebody may have mapped stay where they are: first the record goes, so that nobody new finds them, and the files
/// once nobody reads the release. Readers take their lease before they look, so one of the two sees the other.
struct PreparedFiles: Sendable {
    let layout: HomeLayout
    let fileSystem: any FileSystem

    var shelf: ReleaseShelf { ReleaseShelf(layout: layout, fileSystem: fileSystem) }

    // MARK: - Finding

    /// What was made of a release by a recipe, `nil` where there is nothing or something else.
    /// - Parameters:
    ///   - rehashing: reads all of it and compares its digest; else only where a date is another than recorded.
    ///   - known: records of what was looked at before, and was not whole.
    func find(
        _ recipe: PreparationRecipe, of release: InstalledRelease, rehashing: Bool, flag: StopFlag,
        besides known: [PreparedRecord] = []
    ) throws -> PreparedRelease? {
        guard let source = recipe.sourceDigest(in: release) else { return nil }
        for folder in try folders(recipe, source, release.identity) {
            guard let record = try record(in: folder), record.isMade(by: recipe, of: source),
                record.refusal == nil, !known.contains(record),
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

    /// What was made of a release last, by names and sizes.
    /// - Parameter recipe: only what this one makes; `nil` for whatever there is, for those who have no engine to ask.
    func any(of release: InstalledRelease, by recipe: PreparationRecipe? = nil) throws -> PreparedRelease? {
        var found: (record: PreparedRecord, prepared: PreparedRelease)?
        for (folder, record) in try made(of: release) {
            guard recipe.map({ record.isMade(by: $0, of: record.source) }) ?? true,
                let prepared = try examine(record, in: folder, of: release.identity, rehashing: false, flag: nil)
            else { continue }
            if let found, found.record.made >= record.made { continue }
            found = (record, prepared)
        }
        return found?.prepared
    }

    /// The records of all that was made of what a release holds, by whichever recipe, with the folders they lie in.
    func made(of release: InstalledRelease) throws -> [(folder: Path, record: PreparedRecord)] {
        try records(of: release).filter { $0.record.refusal == nil }
    }

    /// The same with what is only recorded because a trial refused it.
    func records(of release: InstalledRelease) throws -> [(folder: Path, record: PreparedRecord)] {
        let parent = layout.preparedFolder(of: release.identity)
        guard try shelf.isFolder(parent) else { return [] }
        return try shelf.names(in: parent).filter { !HomeLayout.isTemporary($0) }.sorted().compactMap { name in
            let folder = HomeLayout.join(parent, name)
            guard try shelf.isFolder(folder), let record = try record(in: folder), record.isMade(from: release) else {
                return nil
            }
            return (folder, record)
        }
    }

    /// The folders of what was made of a release and is opened no more: without a record, from other bytes, refused for other
    /// bytes, or not wanted.
    func outdated(of release: InstalledRelease, besides wish: PreparedWish) throws -> [Path] {
        let parent = layout.preparedFolder(of: release.identity)
        guard try shelf.isFolder(layout.preparedFolder(of: release.identity.family)), try shelf.isFolder(parent) else {
            return []
        }
        return try shelf.names(in: parent).map { HomeLayout.join(parent, $0) }.filter { folder in
            guard try shelf.isFolder(folder) else { return false }
            guard let record = try record(in: folder), record.isMade(from: release) else { return true }
            return !wish.keeps(record) || (record.refusal != nil && !record.isRefused(for: release))
        }
    }

    private func examine(
        _ record: PreparedRecord, in folder: Path, of identity: ReleaseIdentity, rehashing: Bool, flag: StopFlag?
    ) throws -> PreparedRelease? {
        let path = folder.appending(record.file)
        guard let shape = try PreparedShape(of: path, record.recipe.product, fileSystem: fileSystem),
            shape.matches(record.shape)
        else { return nil }
        if let flag, rehashing || !shape.isUntouched(since: record.shape) {
            let pump = FilePump(fileSystem: fileSystem, flag: flag)
            guard try shape.digest(of: path, with: pump) == record.sha256 else { return nil }
        }
        return PreparedRelease(
            release: identity, path: path, recipe: record.recipe, size: shape.size, digest: record.sha256)
    }

    func record(in folder: Path) throws -> PreparedRecord? {
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

    func folder(_ recipe: PreparationRecipe, _ source: SHA256Digest, _ identity: ReleaseIdentity) -> Path {
        let text = [recipe.engine, recipe.engineVersion, recipe.settings, source.hex].joined(separator: "\n")
        let hash = SHA256Digest(hashing: Data(text.utf8)).hex.prefix(16)
        return HomeLayout.join(layout.preparedFolder(of: identity), String(hash))
    }

    /// The name of that folder, `nil` where the release holds nothing to make it from.
    func name(of recipe: PreparationRecipe, in release: InstalledRelease) -> String? {
        recipe.sourceDigest(in: release).map { folder(recipe, $0, release.identity).lastComponent }
    }

    /// Where what a recipe makes may stand.
    func folders(
        _ recipe: PreparationRecipe, _ source: SHA256Digest, _ identity: ReleaseIdentity
    ) throws -> [Path] {
        let usual = folder(recipe, source, identity)
        let parent = layout.preparedFolder(of: identity)
        guard try shelf.isFolder(parent) else { return [] }
        let others = try shelf.names(in: parent).filter { $0.hasPrefix("\(usual.lastComponent)-") }.sorted()
        return try ([usual] + others.map { HomeLayout.join(parent, $0) }).filter { try shelf.isFolder($0) }
    }

    // MARK: - Taking away

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
    func retire(_ path: Path, _ parent: Path, _ isRead: () throws -> Bool) throws {
        guard try fileSystem.status(at: path, followLinks: false) != nil else { return }
        let record = path.appending("prepared.json")
        if try shelf.isFolder(path), try !shelf.isFolder(record) { try fileSystem.removeFile(record) }
        // Whoever has found it took a lease before that.
        if try !isRead() { try setAside(path, parent) }
    }

    func setAside(_ path: Path, _ parent: Path) throws {
        let aside = parent.parent.appendingTemporary(besides: HomeLayout.removedName)
        try fileSystem.rename(path, to: aside)
        do {
            try fileSystem.removeTree(aside)
        } catch {
            Log.write(.info, "delivery.activation", "\(aside) stays until the next start: \(error)")
        }
    }

    /// Removes what was never finished and what nobody builds any more. Under the commit lock.
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
            let path = HomeLayout.join(parent, name)
            guard let lock = try FileLock.tryAcquire(path) else { continue }
            defer { lock.release() }
            try fileSystem.removeFile(path)
        }
    }
}
