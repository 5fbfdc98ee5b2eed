import HearthBase
import HearthCatalog

/// Result of re-hashing a release and its artifacts.
public struct VerificationReport: Sendable, Hashable {
    public let identity: ReleaseIdentity
    /// Every file of the receipt, in its order.
    package let files: [FileCheck]
    /// Names in the folder that the receipt does not list.
    package let unexpected: [String]
    /// Whether the receipt's digests come from the publisher, and not only from the received bytes.
    package let isVerified: Bool
    /// Every artifact of the release.
    package internal(set) var artifacts: [ArtifactCheck] = []

    /// The damaged files, each as the end of a sentence.
    public var damage: [String] { files.compactMap(\.damage) }

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

extension StoreHome {
    /// Reads a release again and compares it with its receipt, and its artifacts with their records.
    func verify(
        _ identity: ReleaseIdentity, readsArtifacts: Bool, progress: @escaping StoreProgress, flag: StopFlag
    ) throws -> VerificationReport {
        let receipt = try receipt(of: identity)
        let folder = layout.folder(of: identity)
        let release = InstalledRelease(identity: identity, folder: folder, receipt: receipt, isActive: false)
        let artifacts = self.artifacts
        let recorded = readsArtifacts ? try artifacts.recorded(of: release) : []
        let total = ([receipt.totalSize] + recorded.map(\.size)).saturatedSum
        var completed: UInt64 = 0
        func count(_ bytes: UInt64) {
            completed = [completed, bytes].saturatedSum
            progress(completed, total)
        }
        progress(0, total)
        let verification = Verification(receipt: receipt, folder: folder, fileSystem: fileSystem, flag: flag)
        var report = VerificationReport(
            identity: identity, files: try verification.compare(receipt.files, onPiece: count),
            unexpected: try verification.unexpected(), isVerified: receipt.isVerified)
        for artifact in recorded {
            let outcome = try artifacts.compare(artifact, flag: flag, onPiece: count)
            // An artifact that was removed or rebuilt during the verification is left out.
            guard try outcome == .intact || artifacts.isCurrent(artifact) else { continue }
            report.artifacts.append(ArtifactCheck(artifact: artifact, outcome: outcome))
        }
        return report
    }
}
