import HearthBase
import HearthCatalog
import HearthStore

/// The result of a repair.
public struct RepairReport: Sendable, Hashable {
    public let identity: ReleaseIdentity
    /// The damaged files that were replaced.
    package let repaired: [RelativePath]
    /// Other releases that shared a damaged file and got the new one.
    public let alsoRepaired: [ReleaseIdentity]
    /// The bytes fetched over the network.
    package let fetchedBytes: UInt64
    /// The damaged artifacts that were removed.
    package var dropped: [Artifact] = []
    /// The artifact made in their place; `nil` if none was made.
    package var remade: Artifact?
}
