import Foundation
import HearthBase

/// The right to work in one transfer's folder: held by one owner among all processes, and within one.
///
/// ```
/// <folder>/lock                  flock'ed: the system lets go when the holder dies
/// <folder>/lease                 who holds it; see ``TransferLease``
/// <folder>/lease.after-<token>   the right to replace a stale lease; there for moments
/// ```
/// `flock` alone is not enough: on some network file systems it succeeds for everybody. The lease excludes as well, and
/// tells who it is. A lease is void once its process is gone; where nobody can know that (another machine), once it was
/// not renewed for a minute.
///
/// What arrives is checked against its digest however many work on it: the lock saves work, correctness is not its job.
public final class TransferLock: Sendable {
    /// What excludes others.
    enum Basis: Sendable { case flockAndLease, leaseOnly }

    /// How often a holder renews its lease.
    static let renewalInterval = Duration.seconds(10)

    /// The tokens this process works under. A lease of this process with another token is one that could not be removed.
    private static let tokens = Locked<Set<String>>([])

    private struct State {
        var lease: TransferLease
        var file: OpenFile?
        var flock: FileLock?
    }

    let path: Path
    private let fileSystem: any FileSystem
    let time: TimeSource
    private let state: Locked<State>

    private init(_ state: State, path: Path, fileSystem: any FileSystem, time: TimeSource) {
        self.state = Locked(state)
        self.path = path
        self.fileSystem = fileSystem
        self.time = time
    }

    deinit { release() }

    /// Takes the lock of a transfer's folder, which is made if missing; `nil` if somebody else has it.
    /// - Parameter time: for the dates of the lease; intervals of retries elsewhere are none of its business.
    /// - Throws: ``FileError``.
    public static func acquire(
        _ folder: Path, fileSystem: any FileSystem, time: TimeSource = .system
    ) async throws -> TransferLock? {
        try await blocking { try tryAcquire(folder, fileSystem: fileSystem, time: time) }
    }

    /// Blocks.
    static func tryAcquire(
        _ folder: Path, fileSystem: any FileSystem, time: TimeSource = .system, basis: Basis = .flockAndLease
    ) throws -> TransferLock? {
        for _ in 0..<3 {
            try fileSystem.makeFolders(folder)
            do {
                return try tryOnce(folder, fileSystem, time, basis)
            } catch let error as FileError where error.code == .notFound {
                // Whoever had it took the folder away with it.
            }
        }
        return nil
    }

    private static func tryOnce(
        _ folder: Path, _ fileSystem: any FileSystem, _ time: TimeSource, _ basis: Basis
    ) throws -> TransferLock? {
        var flock: FileLock?
        if basis == .flockAndLease {
            do {
                flock = try FileLock.tryAcquire(folder.appending("lock"))
                if flock == nil { return nil }
            } catch let error as FileError
                where [ENOLCK, EOPNOTSUPP, ENOSYS].contains(where: { error.context.found == "errno \($0)" })
            {
                Log.write(.debug, "delivery.transfer", "no flock on this file system; the lease is left")
            }
        }
        let now = time.now
        let lease = TransferLease(at: now)
        tokens.withLock { _ = $0.insert(lease.token) }
        let claim = LeaseClaim(
            folder: folder, fileSystem: fileSystem, lease: lease, now: now,
            patience: flock == nil ? TransferLease.lifetime : TransferLease.damageLifetime
        ) { tokens.withLock { $0 } }
        do {
            if let file = try claim.claim() {
                return TransferLock(
                    State(lease: lease, file: file, flock: flock), path: LeaseClaim.place(in: folder),
                    fileSystem: fileSystem, time: time)
            }
        } catch {
            tokens.withLock { _ = $0.remove(lease.token) }
            flock?.release()
            throw error
        }
        tokens.withLock { _ = $0.remove(lease.token) }
        flock?.release()
        return nil
    }

    /// Who works in a transfer's folder, `nil` if nobody does. Blocks; takes nothing.
    /// - Throws: ``FileError``.
    static func holder(of folder: Path, fileSystem: any FileSystem, now: Date) throws -> TransferHolder? {
        guard case .lease(let lease) = try FoundLease.read(LeaseClaim.place(in: folder), in: fileSystem),
            !lease.isStale(at: now, held: tokens.withLock { $0 })
        else { return nil }
        return TransferHolder(process: lease.holder.number, isHere: lease.holder.isRunning != nil, hold: lease.hold)
    }

    /// Takes up what the holder waits for; returns whether that is news. The next ``renew()`` writes it down.
    func note(_ hold: DownloadHold?) -> Bool {
        state.withLock { state in
            defer { state.lease.hold = hold }
            return state.lease.hold != hold
        }
    }

    /// Gives a sign of life. Blocks.
    /// - Returns: whether the lock is still held; `false` after another machine took this one for dead.
    func renew() throws -> Bool {
        let now = time.now
        state.withLock { $0.lease.renewed = now }
        while true {
            let (file, lease) = state.withLock { ($0.file, $0.lease) }
            guard let file else { return false }
            let mine = try fileSystem.status(of: file).identity
            guard try fileSystem.status(at: path, followLinks: false)?.identity == mine else { return false }
            try lease.data().withUnsafeBytes { try fileSystem.write(file, $0, at: 0) }
            // Whoever wrote meanwhile may have written earlier than this did: the last one has to know the last word.
            if state.withLock({ $0.lease == lease }) { return true }
        }
    }

    /// Lets go; letting go twice is harmless. Blocks for a moment.
    func release() {
        let (file, flock, token) = state.withLock { state in
            defer { (state.file, state.flock) = (nil, nil) }
            return (state.file, state.flock, state.lease.token)
        }
        guard let file else { return }
        do {
            let mine = try fileSystem.status(of: file).identity
            if try fileSystem.status(at: path, followLinks: false)?.identity == mine { try fileSystem.removeFile(path) }
        } catch {
            // It is void all the same: nobody works under its token any more.
            Log.write(.info, "delivery.transfer", "the lease \(path) stays: \(error)")
        }
        Self.tokens.withLock { _ = $0.remove(token) }
        flock?.release()
    }

    /// Lets go, without blocking the caller's thread.
    func letGo() async {
        do {
            try await blocking { self.release() }
        } catch {
            Log.write(.error, "delivery.transfer", "\(path): \(error)")  // releasing itself throws nothing
        }
    }
}
