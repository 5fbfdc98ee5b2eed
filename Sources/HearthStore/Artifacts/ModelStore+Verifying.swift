import HearthBase
import HearthCatalog

extension ModelStore {
    /// Re-hashes a release against its receipt, and its artifacts against their records. It may be damaged or
    /// unverified.
    ///
    /// Runs outside the actor at about 1.8 GB a second, and stops soon after cancellation.
    /// - Parameter readsArtifacts: whether to re-hash its artifacts too.
    /// - Throws: `not-installed`, `receipt-damaged`. The report lists missing and changed files.
    package func verify(
        _ identity: ReleaseIdentity, readsArtifacts: Bool = true, progress: @escaping StoreProgress = { _, _ in }
    ) async throws -> VerificationReport {
        try await inspect()
        let receipt = try receipt(of: identity)
        let folder = layout.folder(of: identity)
        let release = InstalledRelease(identity: identity, folder: folder, receipt: receipt, isActive: false)
        return try await StopFlag.blocking { [fileSystem, artifacts] flag in
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
}
