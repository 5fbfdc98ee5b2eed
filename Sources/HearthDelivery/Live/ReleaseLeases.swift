import Foundation
import HearthBase

/// Who reads which release, over all processes: a file for each, in the lease folder of the release.
///
/// ```
/// leases/<family>/<release>/<token>   { "format": 1, "pid": 4711, "started": "123456", "boot": "…", "space": "…" }
/// ```
/// Nobody waits for anybody. Who takes a lease writes it and *then* looks whether the release is there. Who removes a release
/// looks for holders, renames the release away under the commit lock, and *then* looks once more: where somebody appeared in
/// between, the release is put back. Whichever came first, one of the two sees the other.
///
/// A lease ends with its process. Its file is locked as long as it is held (`flock`), so that this shows in another container
/// too. Nothing here is brought to the disk: after a power cut nobody reads anything.
///
/// The folder of a release stays when the last lease is given back: it changed when one was last taken or given back, which
/// is how ``lastUse(of:)`` knows.
public struct ReleaseLeases: Sendable {
    let layout: HomeLayout
    let fileSystem: any FileSystem
    let now: @Sendable () -> Date

    /// The leases of a home folder.
    public init(layout: HomeLayout, fileSystem: any FileSystem) {
        self.init(layout: layout, fileSystem: fileSystem) { Date() }
    }

    /// The same by another calendar.
    init(layout: HomeLayout, fileSystem: any FileSystem, now: @escaping @Sendable () -> Date) {
        self.layout = layout
        self.fileSystem = fileSystem
        self.now = now
    }

    private var shelf: ReleaseShelf { ReleaseShelf(layout: layout, fileSystem: fileSystem) }

    // MARK: Taking

    /// Says that this process reads a release. Blocks for three short calls of the disk.
    ///
    /// Where the home folder takes no writing the lease is nobody's business but this process's own: the release can be used,
    /// and is not protected.
    /// - Throws: `StoreError` with `not-installed` if the release is not there, or is just being removed;
    ///   `home-unusable`; `FileError`.
    public func acquire(_ identity: ReleaseIdentity) throws -> ReleaseLease {
        guard try isThere(identity) else { throw notInstalled(identity) }
        let lease: ReleaseLease
        do {
            lease = try write(identity)
        } catch let error as FileError where error.code == .readOnly || error.code == .permissionDenied {
            Log.write(.info, "delivery.live", "\(identity) is used without a lease: \(error)")
            lease = ReleaseLease(
                identity, token: ReleaseLease.newToken(), place: nil, flock: nil, fileSystem: fileSystem)
        }
        // The lease is there for everybody to see: from here on the release stays, or is gone already.
        guard try isThere(identity) else {
            lease.release()
            throw notInstalled(identity)
        }
        return lease
    }

    private func isThere(_ identity: ReleaseIdentity) throws -> Bool {
        try shelf.isFolder(layout.folder(of: identity.family)) && shelf.isFolder(layout.folder(of: identity))
    }

    private func notInstalled(_ identity: ReleaseIdentity) -> StoreError {
        StoreError(
            .notInstalled, "\(identity) is not installed",
            context: ErrorContext(model: identity.description, remedy: "See what is with: hearth list"))
    }

    private func write(_ identity: ReleaseIdentity) throws -> ReleaseLease {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(LeaseRecord(holder: .current)) + Data("\n".utf8)
        let folder = layout.leaseFolder(of: identity)
        var attempt = 1
        while true {
            let token = ReleaseLease.newToken()
            do {
                return try place(data, token, identity, in: folder)
            } catch let error as FileError where error.code == .notFound && attempt < 4 {
                // Somebody who removed the release, or swept, took the folder away in between.
                attempt += 1
            }
        }
    }

    private func place(_ data: Data, _ token: String, _ identity: ReleaseIdentity, in folder: Path) throws
        -> ReleaseLease
    {
        try makeFolder(layout.leases)
        try makeFolder(folder.parent)
        try makeFolder(folder)
        // Others see it whole and locked, or not at all.
        let temporary = folder.appendingTemporary(besides: token)
        let place = HomeLayout.join(folder, token)
        let file = try fileSystem.open(temporary, .createNew)
        ReleaseLease.hold(token)
        do {
            try data.withUnsafeBytes { try fileSystem.write(file, $0, at: 0) }
            var flock: FileLock?
            if case .taken(let lock) = try lock(temporary) { flock = lock }
            try fileSystem.rename(temporary, to: place)
            return ReleaseLease(identity, token: token, place: place, flock: flock, fileSystem: fileSystem)
        } catch {
            ReleaseLease.forget(token)
            do {
                try fileSystem.removeFile(temporary)
            } catch let second {
                Log.write(.info, "delivery.live", "\(temporary) stays until somebody sweeps it: \(second)")
            }
            throw error
        }
    }

    /// Makes one folder; unlike the store's own it need not outlive a power cut.
    private func makeFolder(_ path: Path) throws {
        do {
            try fileSystem.makeFolder(path, permissions: 0o755)
        } catch let error as FileError where error.code == .alreadyExists {
            guard try !shelf.isFolder(path) else { return }
            throw StoreError(
                .homeUnusable, "\(path) stands where the folder of leases belongs",
                context: ErrorContext(file: path.string, remedy: "Move it away."))
        }
    }

    // MARK: Looking

    /// The living processes that read a release, once for every lease. The leases of the dead are swept. Blocks.
    ///
    /// A holder that nobody here can name, because its lease is of a newer format, has the number 0.
    /// - Parameter own: a lease of the caller's own, which is not counted.
    /// - Throws: `FileError` where it cannot be told.
    func holders(of identity: ReleaseIdentity, besides own: ReleaseLease? = nil) throws -> [ProcessIdentity] {
        let folder = layout.leaseFolder(of: identity)
        guard try shelf.isFolder(layout.leases), try shelf.isFolder(folder.parent), try shelf.isFolder(folder) else {
            // Nobody takes a lease through a link, or where no folder is.
            return []
        }
        var holders: [ProcessIdentity] = []
        for name in try shelf.names(in: folder) where name != own?.token {
            let path = HomeLayout.join(folder, name)
            guard let status = try fileSystem.status(at: path, followLinks: false), status.kind == .file else {
                continue
            }
            let age = Duration.seconds(now().timeIntervalSince(status.modified))
            guard ReleaseLease.isToken(name) else {
                if HomeLayout.isTemporary(name), Swift.abs(age.seconds) > 60 { sweep(path) }
                continue
            }
            let record = try read(path, size: status.size)
            let isAlive = LeaseRecord.isAlive(
                record, token: name, held: ReleaseLease.heldTokens, isLocked: try isLocked(path, record), age: age)
            if isAlive {
                holders.append(record?.holder ?? ProcessIdentity(number: 0, started: "", boot: "", space: ""))
            } else {
                sweep(path)
            }
        }
        return holders
    }

    /// When a lease of a release was last taken or given back, `nil` if there never was one. Blocks.
    public func lastUse(of identity: ReleaseIdentity) throws -> Date? {
        let folder = layout.leaseFolder(of: identity)
        guard try shelf.isFolder(layout.leases), try shelf.isFolder(folder.parent),
            let status = try fileSystem.status(at: folder, followLinks: false), status.kind == .folder
        else { return nil }
        return status.modified
    }

    /// Takes away what is left of a removed release's leases. A taker that comes in between makes its folder anew.
    func forget(_ identity: ReleaseIdentity) throws {
        let folder = layout.leaseFolder(of: identity)
        guard try holders(of: identity).isEmpty, try shelf.isFolder(layout.leases), try shelf.isFolder(folder.parent)
        else { return }
        do {
            // Not the tree: a lease that is there by now stays.
            if try shelf.isFolder(folder) { try fileSystem.removeFolder(folder) }
            if try shelf.names(in: folder.parent).isEmpty { try fileSystem.removeFolder(folder.parent) }
        } catch let error as FileError where error.code == .alreadyExists || error.code == .notFound {}
    }

    private func read(_ path: Path, size: UInt64) throws -> LeaseRecord? {
        guard size <= LeaseRecord.sizeLimit else { return nil }
        do {
            let data = try fileSystem.contents(ofFile: path, limit: Int(LeaseRecord.sizeLimit))
            return try JSONDecoder().decode(LeaseRecord.self, from: data)
        } catch is DecodingError {
            return nil
        } catch let error as FileError where error.code == .notFound || error.code == .permissionDenied {
            return nil
        }
    }

    /// Whether somebody has a lease's file locked; `nil` where the disk does not tell, or where nobody needs to ask.
    private func isLocked(_ path: Path, _ record: LeaseRecord?) throws -> Bool? {
        if let holder = record?.holder, holder == .current || holder.isRunning != nil { return nil }
        do {
            switch try lock(path) {
            case .taken(let lock):
                lock.release()
                return false
            case .heldByAnother: return true
            case .unsupported: return nil
            }
        } catch let error as FileError where error.code == .permissionDenied || error.code == .readOnly {
            return nil
        }
    }

    private enum LockOutcome {
        case taken(FileLock)
        case heldByAnother
        /// The file system has no locks.
        case unsupported
    }

    private func lock(_ path: Path) throws -> LockOutcome {
        do {
            return try FileLock.tryAcquire(path).map { .taken($0) } ?? .heldByAnother
        } catch let error as FileError
            where [ENOLCK, EOPNOTSUPP, ENOSYS].contains(where: { error.context.found == "errno \($0)" })
        {
            return .unsupported
        }
    }

    private func sweep(_ path: Path) {
        do {
            try fileSystem.removeFile(path)
        } catch {
            // It counts for nothing, here or anywhere.
            Log.write(.info, "delivery.live", "\(path) stays: \(error)")
        }
    }
}
