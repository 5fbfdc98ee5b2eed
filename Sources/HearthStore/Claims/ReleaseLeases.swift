import Foundation
import HearthBase
import HearthCatalog

/// The processes that read each release: a `Claim` for each, in the lease folder of the release,
/// `leases/<family>/<release>/<token>`.
///
/// No process waits for another. A reader writes its lease and *then* checks that the release is installed. A remover
/// checks for readers, renames the release away under the commit lock, and *then* checks once more: if a reader
/// appeared in between, it puts the release back. So if both happen together, one of the two sees the other.
///
/// A lease ends with its process. Its file is locked as long as it is held (`flock`), which other containers can check
/// too. Leases need not outlive a power cut: it ends every reader.
///
/// The folder of a release stays after its last lease is released: its date is that of the last lease taken or
/// released, see ``lastUse(of:)``.
package struct ReleaseLeases: Sendable {
    /// How long a lease counts if neither its process nor its lock can be checked: it is of another machine, on a disk
    /// without locks.
    static let lifetime = Duration.seconds(24 * 60 * 60)
    /// How many seconds an unfinished file stays.
    private static let unfinishedLifetime = 60.0

    package let layout: HomeLayout
    package let fileSystem: any FileSystem
    package let now: @Sendable () -> Date

    /// The leases of a home folder.
    package init(layout: HomeLayout, fileSystem: any FileSystem, now: @escaping @Sendable () -> Date = { Date() }) {
        self.layout = layout
        self.fileSystem = fileSystem
        self.now = now
    }

    private var directory: ReleaseDirectory { ReleaseDirectory(layout: layout, fileSystem: fileSystem) }

    private func folder(of identity: ReleaseIdentity) -> ClaimFolder {
        ClaimFolder(layout.leaseFolder(of: identity), in: layout.leases, fileSystem: fileSystem)
    }

    // MARK: Taking

    /// Records that this process reads a release. Blocks for three short calls of the disk.
    ///
    /// If the home folder cannot be written, the release can be used and is not protected.
    /// - Throws: `StoreError` with `not-installed` if the release is not installed, or is just being removed;
    ///   `home-unusable`; `FileError`.
    package func acquire(_ identity: ReleaseIdentity) throws -> ReleaseLease {
        guard try directory.exists(identity) else { throw StoreError.notInstalled(identity.description) }
        let lease = ReleaseLease(identity, try hold(identity))
        // Other processes see the lease now: from here on the release stays, or is removed already.
        guard try directory.exists(identity) else {
            lease.release()
            throw StoreError.notInstalled(identity.description)
        }
        return lease
    }

    private func hold(_ identity: ReleaseIdentity) throws -> HeldClaim? {
        do {
            return try folder(of: identity).hold(Claim(at: now()))
        } catch let error as FileError where error.code == .readOnly || error.code == .permissionDenied {
            Log.write(.info, "\(identity) is used without a lease: \(error)")
            return nil
        } catch let error as FileError where error.code == .notADirectory {
            throw StoreError(
                .homeUnusable, "\(error.context.file ?? "a file") stands where the folder of leases belongs",
                context: ErrorContext(file: error.context.file, remedy: "Move it away."))
        }
    }

    // MARK: Looking

    /// The living processes that read a release, once for every lease. Removes the leases of ended processes. Blocks.
    ///
    /// A holder whose lease cannot be read has the number 0.
    /// - Parameter own: a lease of the caller, which is not counted.
    /// - Throws: `FileError` if the leases cannot be read.
    func holders(of identity: ReleaseIdentity, besides own: ReleaseLease? = nil) throws -> [ProcessIdentity] {
        let folder = folder(of: identity)
        var holders: [ProcessIdentity] = []
        for name in try folder.names() where name != own?.token {
            let path = folder.file(name)
            guard let status = try fileSystem.status(at: path, followLinks: false), status.kind == .file else {
                continue
            }
            guard Claim.isToken(name) else {
                let age = now().timeIntervalSince(status.modified)
                if ClaimFolder.isUnfinished(name), Swift.abs(age) > Self.unfinishedLifetime { folder.sweep(path) }
                continue
            }
            let found = try find(path) ?? .unreadable(status.identity, modified: status.modified)
            if try isHeld(found, path) {
                holders.append(found.claim?.holder ?? ProcessIdentity(number: 0, started: "", boot: "", space: ""))
            } else {
                folder.sweep(path)
            }
        }
        return holders
    }

    private func find(_ path: Path) throws -> FoundClaim? {
        do {
            return try FoundClaim.read(path, in: fileSystem)
        } catch let error as FileError where error.code == .permissionDenied {
            return nil
        }
    }

    private func isHeld(_ found: FoundClaim, _ path: Path) throws -> Bool {
        if let isHeld = found.claim?.isHeld { return isHeld }
        return Self.isHeld(found, isLocked: try isLocked(path), at: now())
    }

    /// Decides on a damaged lease, or one of another container or machine: the lock ends with its holder everywhere.
    /// - Parameter isLocked: whether another process has locked the file, `nil` if the disk does not tell.
    package static func isHeld(_ found: FoundClaim, isLocked: Bool?, at now: Date) -> Bool {
        if let isLocked { return isLocked }
        return !found.isStale(at: now, lifetime: lifetime, damageLifetime: lifetime)
    }

    private func isLocked(_ path: Path) throws -> Bool? {
        do {
            switch try FileLock.attempt(path) {
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

    /// The date when a lease of a release was last taken or released, `nil` without any. Blocks.
    package func lastUse(of identity: ReleaseIdentity) throws -> Date? {
        guard try folder(of: identity).exists else { return nil }
        return try fileSystem.status(at: layout.leaseFolder(of: identity), followLinks: false)?.modified
    }

    /// Removes the lease folder of a removed release. A reader that comes in between creates it again.
    package func forget(_ identity: ReleaseIdentity) throws {
        guard try holders(of: identity).isEmpty else { return }
        // Removes only an empty folder: a lease taken meanwhile stays.
        try folder(of: identity).removeIfEmpty()
        let family = layout.leaseFolder(of: identity).parent
        try ClaimFolder(family, in: layout.leases, fileSystem: fileSystem).removeIfEmpty()
    }
}

extension StoreHome {
    var leases: ReleaseLeases { ReleaseLeases(layout: layout, fileSystem: fileSystem) }
}
