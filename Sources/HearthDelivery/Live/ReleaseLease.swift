import Foundation
import HearthBase

/// A process reads the files of a release: as long as this is held, nobody unlinks them.
///
/// It ends with ``release()``, with its last reference, or with the process, however that ends.
public final class ReleaseLease: Sendable {
    /// What is read.
    public let identity: ReleaseIdentity

    private struct State {
        var place: Path?
        var flock: FileLock?
    }

    /// The name of its file.
    let token: String
    private let fileSystem: any FileSystem
    private let state: Locked<State>

    /// The tokens this process holds. A lease of this process with another token is one that could not be removed.
    private static let tokens = Locked<Set<String>>([])

    /// The tokens this process holds now.
    static var heldTokens: Set<String> { tokens.withLock { $0 } }

    /// A lease at `place`; without a place it protects nothing, which is all there is on a disk that takes no writing.
    init(_ identity: ReleaseIdentity, token: String, place: Path?, flock: FileLock?, fileSystem: any FileSystem) {
        self.identity = identity
        self.token = token
        self.fileSystem = fileSystem
        state = Locked(State(place: place, flock: flock))
        if place != nil { Self.hold(token) }
    }

    deinit { release() }

    /// Whether other processes can see it.
    public var isOnDisk: Bool { state.withLock { $0.place != nil } }

    /// Gives it back; giving it back twice is harmless. Blocks for a moment.
    public func release() {
        let (place, flock) = state.withLock { state in
            defer { (state.place, state.flock) = (nil, nil) }
            return (state.place, state.flock)
        }
        guard let place else { return }
        Self.tokens.withLock { _ = $0.remove(token) }
        do {
            try fileSystem.removeFile(place)
        } catch {
            // It is void all the same: this process no longer holds its token.
            Log.write(.info, "delivery.live", "the lease \(place) stays until somebody sweeps it: \(error)")
        }
        flock?.release()
    }

    /// Says that this process holds a token, before anybody can read the token from the disk.
    static func hold(_ token: String) { tokens.withLock { _ = $0.insert(token) } }

    /// Takes that back after a failure.
    static func forget(_ token: String) { tokens.withLock { _ = $0.remove(token) } }

    /// A token that was never used and never will be.
    static func newToken() -> String {
        (0..<2).map { _ in String(format: "%016lx", UInt64.random(in: 0 ... .max)) }.joined()
    }

    /// Whether a name in a lease folder is one of a lease.
    static func isToken(_ name: String) -> Bool {
        name.utf8.count == 32 && name.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
}
