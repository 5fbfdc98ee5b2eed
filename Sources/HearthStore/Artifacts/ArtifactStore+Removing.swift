import Foundation
import HearthBase
import HearthCatalog

/// Every function here is called under the commit lock.
extension ArtifactStore {
    /// Records that an artifact is refused, so that it is not used or built again, and removes its file.
    package func refuse(_ recipe: Recipe, for release: InstalledRelease, because reason: String, at date: Date) throws {
        guard let source = release.receipt.weights?.digest else { return }
        let folder = place(of: recipe, from: source, release.identity)
        let record = ArtifactRecord(
            recipe: recipe, source: source, made: date, state: .refused(reason.boundedLine()))
        try fileSystem.makeFolders(folder)
        try fileSystem.replaceContents(of: folder.joined(ArtifactRecord.fileName), with: try record.data())
        for name in try directory.names(in: folder) where name != ArtifactRecord.fileName {
            try fileSystem.removeTree(folder.joined(name))
        }
        try sweep(release.identity, forgettingEnds: true)
    }

    /// Removes a damaged artifact, unless another has replaced it since it was read. A process that has it open keeps
    /// its bytes.
    package func remove(_ damaged: Artifact) throws {
        if try isCurrent(damaged) { try setAside(damaged.path.parent) }
    }

    /// Whether there is anything to remove besides an artifact.
    func hasOthers(than artifact: Artifact) throws -> Bool {
        try directory.names(in: layout.preparedFolder(of: artifact.release))
            .contains { $0 != artifact.path.parent.lastComponent }
    }

    /// Removes a release's other artifacts, unless a process other than the caller reads it, and unfinished builds.
    func removeOthers(than artifact: Artifact, under lease: ReleaseLease?) throws {
        try sweep(artifact.release, forgettingEnds: true)
        let others = try folders(of: artifact.release).filter { $0 != artifact.path.parent }
        _ = try remove(others, of: artifact.release, under: lease)
    }

    /// The folders of a release's artifacts that the recipe in use does not lead to.
    /// - Parameter recipe: the recipe in use; `nil` if the release is used without an artifact.
    package func outdated(of release: InstalledRelease, besides recipe: Recipe?) throws -> [Path] {
        let source = release.receipt.weights?.digest
        let current = recipe.flatMap { recipe in source.map { place(of: recipe, from: $0, release.identity) } }
        return try folders(of: release.identity).filter { try $0 != current || record(in: $0) == nil }
    }

    /// Removes artifacts, unless a process other than the caller reads their release: a reader may have found one and
    /// not opened it yet.
    /// - Returns: whether all of them are removed.
    package func remove(_ folders: [Path], of identity: ReleaseIdentity, under lease: ReleaseLease? = nil) throws
        -> Bool
    {
        let leases = ReleaseLeases(layout: layout, fileSystem: fileSystem)
        for folder in folders {
            guard try leases.holders(of: identity, besides: lease).isEmpty else { return false }
            try setAside(folder)
        }
        return true
    }

    /// Removes a folder. Other processes see it vanish in one step.
    func setAside(_ folder: Path) throws {
        guard try fileSystem.status(at: folder, followLinks: false) != nil else { return }
        let aside = folder.parent.appendingTemporary(besides: HomeLayout.removedName)
        try fileSystem.rename(folder, to: aside)
        do {
            try fileSystem.removeTree(aside)
        } catch {
            Log.write(.info, "artifacts", "\(aside) stays until the next build: \(error)")
        }
    }

    /// Removes the unfinished builds of a family that ended processes left, except those that can go on. Their lock files
    /// stay as unclean ends.
    package func sweep(_ family: Family, keepingUnfinished: Bool = false) throws {
        for identity in try directory.releases(of: family, in: layout.prepared) {
            try sweep(identity, keepingUnfinished: keepingUnfinished)
        }
    }

    /// Removes the unfinished builds of a release that ended processes left.
    /// - Parameters:
    ///   - forgettingEnds: whether their lock files are removed too and no longer count.
    ///   - keepingUnfinished: whether builds that can go on stay.
    package func sweep(
        _ identity: ReleaseIdentity, forgettingEnds: Bool = false, keepingUnfinished: Bool = false
    ) throws {
        let parent = layout.preparedFolder(of: identity)
        let names = try names(in: parent).filter(HomeLayout.isTemporary)
        let locks = Set(names.filter { $0.hasSuffix(".lock") })
        for name in Set(names.map { $0.hasSuffix(".lock") ? String($0.dropLast(5)) : $0 }) {
            let path = parent.joined(name)
            guard let lock = try FileLock.tryAcquire(path.withSuffix(".lock")) else { continue }
            defer { lock.release() }
            if try keepingUnfinished && canGoOn(path) {
                if !locks.contains(name + ".lock") { try fileSystem.removeFile(path.withSuffix(".lock")) }
                continue
            }
            try fileSystem.removeTree(path)
            if forgettingEnds || !locks.contains(name + ".lock") {
                try fileSystem.removeFile(path.withSuffix(".lock"))
            }
        }
    }

    /// Whether a folder holds a build that its preparer can continue: a file whose name ends in `.part`.
    private func canGoOn(_ folder: Path) throws -> Bool {
        try names(in: folder).contains { $0.hasSuffix(".part") }
    }

    /// Takes over an unfinished build that can go on; `nil` if there is none, or another process works on it.
    func unfinished(at place: Path) throws -> (folder: Path, lock: FileLock)? {
        let beginning = "." + place.lastComponent + Path.temporaryMark
        for name in try names(in: place.parent) where name.hasPrefix(beginning) && !name.hasSuffix(".lock") {
            let folder = place.parent.joined(name)
            guard try canGoOn(folder), let lock = try FileLock.tryAcquire(folder.withSuffix(".lock")) else { continue }
            return (folder, lock)
        }
        return nil
    }
}
