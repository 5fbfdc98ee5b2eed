import Foundation
import HearthBase

/// The right to work in one transfer's folder: one owner among all processes, and within each.
///
/// ```
/// <folder>/lock                  flock'ed: the system releases it when the holder dies
/// <folder>/lease                 the holder's `Claim`; its purpose is the reason to wait: `offline`, `metered`
/// <folder>/lease.after-<token>   the right to replace a stale claim; there for moments
/// ```
/// `flock` alone is not enough: on some network file systems it succeeds for every process. The claim excludes as
/// well, and names the holder. It is void once its process has ended; if this process cannot ask about the holder
/// (another machine), once it was not renewed for a minute.
///
/// Correctness does not depend on the lock, since every file is checked against its digest: the lock saves work.
package final class TransferLock: Sendable {
    /// The means that exclude other processes.
    package enum Basis: Sendable { case flockAndClaim, claimOnly }

    /// How often a holder renews its claim.
    static let renewalInterval = Duration.seconds(10)
    /// How long a claim counts without a renewal if this process cannot ask about its holder.
    static let lifetime = Duration.seconds(60)
    /// How long a damaged claim counts for a process that has the `flock`. Writing a claim takes moments, and only a
    /// process without the `flock` could be writing it.
    static let damageLifetime = Duration.seconds(5)

    private let held: HeldClaim
    package let time: TimeSource

    private init(_ held: HeldClaim, time: TimeSource) {
        self.held = held
        self.time = time
    }

    /// The file of the claim in a transfer's folder.
    package static func place(in folder: Path) -> Path { folder.appending("lease") }

    package var path: Path { held.path }

    /// Takes the lock of a transfer's folder, which is created if missing; `nil` if another owner has it.
    /// - Parameters:
    ///   - time: for the dates of the claim and the pauses between its renewals.
    ///   - isSynced: whether the folder is brought to the disk.
    /// - Throws: ``FileError``.
    package static func acquire(
        _ folder: Path, fileSystem: any FileSystem, time: TimeSource = .system, isSynced: Bool = true
    ) async throws -> TransferLock? {
        try await blocking { try tryAcquire(folder, fileSystem: fileSystem, time: time, isSynced: isSynced) }
    }

    /// Blocks.
    package static func tryAcquire(
        _ folder: Path, fileSystem: any FileSystem, time: TimeSource = .system, basis: Basis = .flockAndClaim,
        isSynced: Bool = true
    ) throws -> TransferLock? {
        for _ in 0..<3 {
            try fileSystem.makeFolders(folder, isSynced: isSynced)
            do {
                return try tryOnce(folder, fileSystem, time, basis)
            } catch let error as FileError where error.code == .notFound {
                // The owner before removed the folder.
            }
        }
        return nil
    }

    private static func tryOnce(
        _ folder: Path, _ fileSystem: any FileSystem, _ time: TimeSource, _ basis: Basis
    ) throws -> TransferLock? {
        var flock: FileLock?
        if basis == .flockAndClaim {
            switch try FileLock.attempt(folder.appending("lock")) {
            case .taken(let lock): flock = lock
            case .heldByAnother: return nil
            case .unsupported: break
            }
        }
        let held = try ExclusiveClaim.take(
            place(in: folder), flock: flock, in: fileSystem, at: time.now, lifetime: lifetime,
            damageLifetime: flock == nil ? lifetime : damageLifetime)
        return held.map { TransferLock($0, time: time) }
    }

    /// The process that works in a transfer's folder, `nil` if none does. Blocks; takes nothing.
    /// - Throws: ``FileError``.
    package static func holder(of folder: Path, fileSystem: any FileSystem, now: Date) throws -> TransferHolder? {
        guard let claim = try FoundClaim.read(place(in: folder), in: fileSystem)?.claim,
            !claim.isStale(at: now, lifetime: lifetime)
        else { return nil }
        return TransferHolder(
            process: claim.holder.number, isHere: claim.isHeld != nil,
            // An unknown word of a later version is ignored.
            hold: claim.purpose.flatMap(DownloadHold.init))
    }

    /// Notes the holder's reason to wait; the next ``renew()`` writes it down.
    /// - Returns: whether it changed.
    package func note(_ hold: DownloadHold?) -> Bool {
        held.update(purpose: hold?.rawValue)
    }

    /// Renews the claim. Blocks.
    /// - Returns: whether the lock is still held; `false` after another machine took this process for dead.
    func renew() throws -> Bool { try held.renew(at: time.now) }

    /// Releases the lock; a second call does nothing. Blocks for a moment.
    package func release() { held.release() }

    /// Releases the lock without blocking the caller's thread.
    package func end() async { await blocking { self.release() } }
}
