import HearthBase
import HearthCatalog

/// A process's claim to read a release: its files are not removed as long as the lease is held.
///
/// Ends with ``release()``, its last reference, or the end of the process.
package final class ReleaseLease: Sendable {
    /// The release that is read.
    package let identity: ReleaseIdentity
    private let held: HeldClaim?

    /// - Parameter held: `nil` if the disk cannot be written: the lease then protects nothing.
    package init(_ identity: ReleaseIdentity, _ held: HeldClaim?) {
        self.identity = identity
        self.held = held
    }

    deinit { release() }

    /// The name of its file.
    package var token: String? { held?.token }

    /// Whether other processes can see it.
    package var isOnDisk: Bool { held?.isHeld ?? false }

    /// Releases the lease; a second call does nothing. Blocks for a moment.
    package func release() { held?.release() }
}
