import HearthBase
import HearthStore

/// Finds or makes the artifact of a release. If that fails, the release is used as it came.
struct ReleasePreparation: Sendable {
    let store: ModelStore
    let preparer: any ReleasePreparer
    /// The caller's lease on the release; nothing is open under it yet.
    var lease: ReleaseLease?
    /// Whether every byte of the release was verified just now.
    var sourceIsVerified = false
    let progress: @Sendable (ActivationProgress) -> Void

    struct Outcome: Sendable, Hashable {
        var artifact: Artifact?
        var preparation: Activation.Preparation
        /// Whether the artifact was made just now.
        var isNew = false
    }

    /// - Throws: `StoreError` with `release-damaged` if the weights differ from the installed ones;
    ///   `CancellationError`.
    func prepare(_ release: InstalledRelease, rehashing: Bool) async throws -> Outcome {
        do {
            guard let recipe = try await preparer.recipe(for: release) else { return Outcome(preparation: .notNeeded) }
            let artifacts = store.artifacts
            if let refused = try await blocking({ try artifacts.refusal(of: recipe, for: release) }) {
                Log.write(
                    .info, "delivery.activation",
                    "\(release.identity) is used as it came, without \(recipe.summary): \(refused.reason)")
                return Outcome(preparation: .failed(refused.reason))
            }
            if let found = try await store.artifact(by: recipe, of: release, rehashing: rehashing, under: lease) {
                return Outcome(artifact: found, preparation: .ready(recipe.summary))
            }
            try await preparer.check(recipe, of: release)
            let artifact = try await store.makeArtifact(
                recipe, of: release, verifyingSource: !sourceIsVerified, under: lease
            ) { [preparer, progress] target in
                try await preparer.build(recipe, of: release, at: target) {
                    progress(.preparing(recipe.summary, fraction: $0))
                }
                try Task.checkCancellation()
            }
            Log.write(.info, "delivery.activation", "made an artifact of \(release.identity): \(recipe.summary)")
            return Outcome(artifact: artifact, preparation: .ready(recipe.summary), isNew: true)
        } catch let error as StoreError where error.code == .releaseDamaged {
            throw error
        } catch {
            // A cancelled build says nothing about the release.
            try Task.checkCancellation()
            if error is CancellationError { throw error }
            Log.write(.warning, "delivery.activation", "\(release.identity) is used as it came: \(error)")
            return Outcome(preparation: .failed("\(error)"))
        }
    }
}
