import HearthBase
import HearthCatalog

/// Removes unfinished work of interrupted processes, and finishes it where only the last step is missing. Under the
/// commit lock.
struct InterruptedWork: Sendable {
    package let layout: HomeLayout
    package let fileSystem: any FileSystem

    private var directory: ReleaseDirectory { ReleaseDirectory(layout: layout, fileSystem: fileSystem) }

    /// Whether there is interrupted work; needs no lock.
    func exists() throws -> Bool {
        if try directory.names(in: layout.home).contains(where: isOurs) { return true }
        for family in try directory.families()
        where try directory.names(in: layout.folder(of: family)).contains(where: HomeLayout.isTemporary) {
            return true
        }
        return try !removedTransfers().isEmpty || !transferFiles().isEmpty
    }

    /// Finishes or removes the unfinished work of ended processes.
    package func clear() throws {
        for name in try directory.names(in: layout.home) where isOurs(name) {
            try fileSystem.removeFile(layout.home.joined(name))
        }
        for family in try directory.families() { try clear(family) }
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
        try directory.names(in: layout.transfers).filter {
            $0.hasPrefix("." + HomeLayout.removedTransferName + Path.temporaryMark)
        }
        .map { layout.transfers.joined($0) }
    }

    /// Whether a temporary file in the home folder is one that only the store writes.
    private func isOurs(_ name: String) -> Bool { name.hasPrefix(".layout" + Path.temporaryMark) }

    private func clear(_ family: Family) throws {
        let folder = layout.folder(of: family)
        let names = try directory.names(in: folder).filter(HomeLayout.isTemporary)
        for name in names where try directory.isFolder(folder.joined(name)) {
            let path = folder.joined(name)
            guard let lock = try FileLock.tryAcquire(Staging.lockFile(of: path)) else { continue }
            defer { lock.release() }
            try settle(path, name, family)
            try fileSystem.removeFile(Staging.lockFile(of: path))
        }
        for name in names {
            let path = folder.joined(name)
            if name.hasSuffix(".lock"), try directory.isFolder(Path(String(path.string.dropLast(5)))) { continue }
            if try !directory.isFolder(path) { try fileSystem.removeFile(path) }
        }
        if try directory.names(in: folder).isEmpty { try fileSystem.removeFolder(folder) }
    }

    /// Finishes an installation if its release is whole and its place is free. Puts a release back if a process reads
    /// it while another removed it. Removes any other.
    private func settle(_ path: Path, _ name: String, _ family: Family) throws {
        guard case .whole(let receipt) = try directory.examine(path, expecting: nil), receipt.identity.family == family,
            !HomeLayout.isReserved(receipt.identity)
        else { return try fileSystem.removeTree(path) }
        let wasRemoved = name.hasPrefix("." + HomeLayout.removedName)
        let leases = ReleaseLeases(layout: layout, fileSystem: fileSystem)
        let isRead = try wasRemoved && !leases.holders(of: receipt.identity).isEmpty
        let target = layout.folder(of: receipt.identity)
        if try fileSystem.status(at: target, followLinks: false) == nil, isRead || !wasRemoved {
            let what = wasRemoved ? "putting back what is read" : "finishing the installation"
            Log.write(.info, "\(what): \(receipt.identity)")
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
        let installed = Set(try directory.releases().flatMap(directory.files).map(\.identity))
        for (path, identity) in candidates where installed.contains(identity) { try fileSystem.removeFile(path) }
    }

    private func transferFiles() throws -> [(Path, FileIdentity)] {
        var files: [(Path, FileIdentity)] = []
        for key in try directory.names(in: layout.transfers) {
            let folder = layout.transfers.joined(key)
            guard try directory.isFolder(folder) else { continue }
            for name in try directory.names(in: folder) where name != "journal" && name != "lock" {
                let path = folder.joined(name)
                guard let status = try fileSystem.status(at: path, followLinks: false), status.kind == .file else {
                    continue
                }
                files.append((path, status.identity))
            }
        }
        return files
    }
}

extension StoreHome {
    /// Refuses a home folder of another layout, and finishes interrupted work if possible.
    nonisolated(nonsending) func inspect() async throws {
        _ = try isLaidOut()
        let interrupted = InterruptedWork(layout: layout, fileSystem: fileSystem)
        do {
            if try interrupted.exists() { try await committing { try interrupted.clear() } }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // A home folder that is read-only, or locked by another process, can still be read.
            Log.write(.info, "unfinished files stay until the next start: \(error)")
        }
    }
}
