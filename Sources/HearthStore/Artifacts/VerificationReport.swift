import HearthCatalog

/// Result of re-hashing a release and its artifacts.
public struct VerificationReport: Sendable, Hashable {
    public let identity: ReleaseIdentity
    /// Every file of the receipt, in its order.
    public let files: [FileCheck]
    /// Names in the folder that the receipt does not list.
    package let unexpected: [String]
    /// Whether the receipt's digests come from the publisher, and not only from the received bytes.
    package let isVerified: Bool
    /// Every artifact of the release.
    package internal(set) var artifacts: [ArtifactCheck] = []

    /// Whether every file matches the receipt, and every artifact its record.
    public var isIntact: Bool {
        files.allSatisfy { $0.outcome == .intact } && artifacts.allSatisfy { $0.outcome == .intact }
    }
}

/// An artifact compared with its record.
package struct ArtifactCheck: Sendable, Hashable {
    /// The artifact in the record.
    package let artifact: Artifact
    package let outcome: FileCheck.Outcome
}
