import HearthBase
import HearthCatalog

/// The result of preparing a release.
package struct ReleasePreparation: Sendable, Hashable {
    package var artifact: Artifact?
    package var outcome: Activation.Preparation
    /// Whether the artifact was made just now.
    package var isNew = false
}

extension ModelStore {
    /// Finds or makes the artifact of a release. If that fails, the release is used as it came.
    /// - Parameters:
    ///   - lease: the caller's lease on the release; nothing is open under it yet.
    ///   - rehashing: whether to read a found artifact whole; otherwise only if its date has changed.
    ///   - sourceIsVerified: whether every byte of the release was verified just now.
    /// - Throws: `StoreError` with `release-damaged` if the weights differ from the installed ones;
    ///   `CancellationError`.
    package nonisolated func prepare(
        _ release: InstalledRelease, by preparer: any ReleasePreparer, under lease: ReleaseLease?, rehashing: Bool,
        sourceIsVerified: Bool = false, progress: @escaping @Sendable (ActivationProgress) -> Void = { _ in }
    ) async throws -> ReleasePreparation {
        do {
            guard let recipe = try await preparer.recipe(for: release) else {
                return ReleasePreparation(outcome: .notNeeded)
            }
            if let refused = try await blocking({ [artifacts] in try artifacts.refusal(of: recipe, for: release) }) {
                Log.write(
                    .info, "activation",
                    "\(release.identity) is used as it came, without \(recipe.summary): \(refused.reason)")
                return ReleasePreparation(outcome: .failed(refused.reason))
            }
            if let found = try await artifact(by: recipe, of: release, rehashing: rehashing, under: lease) {
                return ReleasePreparation(artifact: found, outcome: .ready(recipe.summary))
            }
            try await preparer.check(recipe, of: release)
            let artifact = try await buildArtifact(
                recipe, of: release, verifyingSource: !sourceIsVerified, under: lease
            ) { target in
                try await preparer.build(recipe, of: release, at: target) {
                    progress(.preparing(recipe.summary, fraction: $0))
                }
                try Task.checkCancellation()
            }
            Log.write(.info, "activation", "made an artifact of \(release.identity): \(recipe.summary)")
            return ReleasePreparation(artifact: artifact, outcome: .ready(recipe.summary), isNew: true)
        } catch let error as StoreError where error.code == .releaseDamaged {
            throw error
        } catch {
            // A cancelled build says nothing about the release.
            try Task.checkCancellation()
            if error is CancellationError { throw error }
            Log.write(.warning, "activation", "\(release.identity) is used as it came: \(error)")
            return ReleasePreparation(outcome: .failed("\(error)"))
        }
    }
}
