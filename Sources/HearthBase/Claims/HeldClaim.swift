import Foundation

/// A claim that this process holds, until ``release()``, its last reference, or the end of the process.
package final class HeldClaim: Sendable {
    private static let tokens = Locked<Set<String>>([])

    /// Whether this process holds a token. Other claims of this process on the disk are ones that could not be removed.
    package static func holds(_ token: String) -> Bool { tokens.withLock { $0.contains(token) } }

    private struct State {
        var claim: Claim
        var file: OpenFile?
        var flock: FileLock?
    }

    /// The file of the claim.
    package let path: Path
    package let token: String
    private let fileSystem: any FileSystem
    private let state: Locked<State>

    /// Registers the token of a claim that ``place(_:flock:)`` makes visible to other processes.
    init(_ claim: Claim, at path: Path, in fileSystem: any FileSystem) {
        self.path = path
        self.fileSystem = fileSystem
        token = claim.token
        state = Locked(State(claim: claim))
        Self.tokens.withLock { _ = $0.insert(claim.token) }
    }

    deinit { release() }

    /// Keeps the file of the claim, and a lock for as long as the claim is held.
    func place(_ file: OpenFile, flock: FileLock?) {
        state.withLock { ($0.file, $0.flock) = (file, flock) }
    }

    /// Whether the claim is on the disk and not released.
    package var isHeld: Bool { state.withLock { $0.file != nil } }

    /// Changes the purpose; the next ``renew(at:)`` writes it.
    /// - Returns: whether the purpose differs from the one before.
    package func update(purpose: String?) -> Bool {
        state.withLock { state in
            defer { state.claim.purpose = purpose }
            return state.claim.purpose != purpose
        }
    }

    /// Records that this process still runs. Blocks.
    /// - Returns: whether the claim is still held; `false` if another machine has replaced it as stale.
    package func renew(at date: Date) throws -> Bool {
        state.withLock { $0.claim.renew(at: date) }
        while true {
            let (file, claim) = state.withLock { ($0.file, $0.claim) }
            guard let file, let size = try sizeInPlace(file) else { return false }
            try claim.padded(to: size).withUnsafeBytes { try fileSystem.write(file, $0, at: 0) }
            // If two renewals run at the same time, the one that writes last has to write the latest claim.
            if state.withLock({ $0.claim == claim }) { return true }
        }
    }

    /// The length of the file; `nil` if another file has its name.
    private func sizeInPlace(_ file: OpenFile) throws -> Int? {
        let mine = try fileSystem.status(of: file)
        return try fileSystem.status(at: path, followLinks: false)?.identity == mine.identity ? Int(mine.size) : nil
    }

    /// Releases the claim; a second call does nothing. Blocks for a moment.
    package func release() {
        let (file, flock) = state.withLock { state in
            defer { (state.file, state.flock) = (nil, nil) }
            return (state.file, state.flock)
        }
        do {
            if let file, try sizeInPlace(file) != nil { try fileSystem.removeFile(path) }
        } catch {
            // The claim is void all the same: this process no longer holds its token.
            Log.write(.info, "claims", "a released claim stays", [.path(path), .error(error)])
        }
        Self.tokens.withLock { _ = $0.remove(token) }
        flock?.release()
    }
}
