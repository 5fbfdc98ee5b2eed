import Foundation
import HearthBase
import HearthCatalog

/// A file made on this device from a release, which an engine opens in place of the weights.
package struct Artifact: Sendable, Hashable {
    package let release: ReleaseIdentity
    package let path: Path
    package let recipe: Recipe
    /// The length in bytes.
    package let size: UInt64
    /// The digest of its bytes.
    package let digest: SHA256Digest
    /// The time of the build.
    package let made: Date
}

/// An artifact that is not used: it failed a probe that its release passed, or two processes ended while they built it.
///
/// The release is used without an artifact until the recipe changes.
package struct RefusedArtifact: Sendable, Hashable {
    package let release: ReleaseIdentity
    /// The recipe's ``Recipe/summary``, one line of at most 512 bytes.
    package let summary: String
    /// The reason, as the end of a sentence; one line of at most 512 bytes.
    package let reason: String
}
