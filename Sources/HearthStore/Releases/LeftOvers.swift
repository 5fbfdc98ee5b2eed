import HearthBase
import HearthCatalog

/// Removes unfinished work of interrupted processes, and finishes it where only the last step is missing. Under the
/// commit lock.
struct LeftOvers: Sendable {
    package let layout: HomeLayout
    package let fileSystem: any FileSystem

    private var shelf: ReleaseDirectory { ReleaseDirectory(layout: layout, fileSystem: fileSystem) }

    /// Whether there is anything to collect; needs no lock.
    func exist() throws -> Bool {
        if try shelf.names(in: layout.home).contains(where: isOurs) { return true }
        for family in try shelf.families()
        where try shelf.names(in: layout.folder(of: family)).contains(where: HomeLayout.isTemporary) {
            return true
        }
        return try !removedTransfers().isEmpty || !transferFiles().isEmpty
    }

    /// Collects unfinished work of ended processes.
    package func collect() throws {
        for name in try shelf.names(in: layout.home) where isOurs(name) {
            try fileSystem.removeFile(HomeLayout.join(layout.home, name))
        }
        for family in try shelf.families() { try collect(family) }
        for path in try removedTransfers() {
            do {
                try fileSystem.removeTree(path)
            } catch let error as FileError where error.code == .notFound {
                // The process that removes this transfer has removed the file first.
            }
        }
        try dropTakenTransfers()
    }

    /// Transfer folders whose removal was interrupted.
    private func removedTransfers() throws -> [Path] {
        try shelf.names(in: layout.transfers).filter {
            $0.hasPrefix("." + HomeLayout.removedTransferName + Path.temporaryMark)
        }
        .map { HomeLayout.join(layout.transfers, $0) }
    }

    /// Whether a temporary file in the home folder is one that only the store writes.
    private func isOurs(_ name: String) -> Bool {
        HomeLayout.isTemporary(name) && name.hasPrefix(".layout" + Path.temporaryMark)
    }

    private func collect(_ family: Family) throws {
        let folder = layout.folder(of: family)
        let names = try shelf.names(in: folder).filter(HomeLayout.isTemporary)
        for name in names where try shelf.isFolder(HomeLayout.join(folder, name)) {
            let path = HomeLayout.join(folder, name)
            guard let lock = try FileLock.tryAcquire(Staging.lockFile(of: path)) else { continue }
            defer { lock.release() }
            try settle(path, name, family)
            try fileSystem.removeFile(Staging.lockFile(of: path))
        }
        for name in names {
            let path = HomeLayout.join(folder, name)
            if name.hasSuffix(".lock"), try shelf.isFolder(Path(String(path.string.dropLast(5)))) { continue }
            if try !shelf.isFolder(path) { try fileSystem.removeFile(path) }
        }
        if try shelf.names(in: folder).isEmpty { try fileSystem.removeFolder(folder) }
    }

    /// Finishes an installation if its release is whole and its place is free. Puts a release back if a process reads
    /// it while another removed it. Removes any other.
    private func settle(_ path: Path, _ name: String, _ family: Family) throws {
        guard case .whole(let receipt) = try shelf.examine(path, expecting: nil), receipt.identity.family == family,
            !HomeLayout.isReserved(receipt.identity)
        else { return try fileSystem.removeTree(path) }
        let wasRemoved = name.hasPrefix("." + HomeLayout.removedName)
        let leases = ReleaseLeases(layout: layout, fileSystem: fileSystem)
        let isRead = try wasRemoved && !leases.holders(of: receipt.identity).isEmpty
        let target = layout.folder(of: receipt.identity)
        if try fileSystem.status(at: target, followLinks: false) == nil, isRead || !wasRemoved {
            let what = wasRemoved ? "putting back what is read" : "finishing the installation"
            Log.write(.info, "delivery.store", "\(what): \(receipt.identity)")
            return try fileSystem.moveDurably(path, to: target)
        }
        guard !isRead else { return }
        try fileSystem.removeTree(path)
    }

    /// Removes files in the transfers folder that are second names of installed files, so that no transfer writes to
    /// those.
    private func dropTakenTransfers() throws {
        let candidates = try transferFiles()
        guard !candidates.isEmpty else { return }
        var installed: Set<FileIdentity> = []
        for family in try shelf.families() {
            for identity in try shelf.releases(of: family) {
                let folder = layout.folder(of: identity)
                for name in try fileSystem.files(below: folder) {
                    let path = HomeLayout.join(folder, name)
                    guard let status = try fileSystem.status(at: path, followLinks: false) else { continue }
                    installed.insert(status.identity)
                }
            }
        }
        for (path, identity) in candidates where installed.contains(identity) { try fileSystem.removeFile(path) }
    }

    private func transferFiles() throws -> [(Path, FileIdentity)] {
        var files: [(Path, FileIdentity)] = []
        for key in try shelf.names(in: layout.transfers) {
            let folder = HomeLayout.join(layout.transfers, key)
            guard try shelf.isFolder(folder) else { continue }
            for name in try shelf.names(in: folder) where name != "journal" && name != "lock" {
                let path = HomeLayout.join(folder, name)
                guard let status = try fileSystem.status(at: path, followLinks: false), status.kind == .file else {
                    continue
                }
                files.append((path, status.identity))
            }
        }
        return files
    }
}
