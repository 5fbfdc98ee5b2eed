import Foundation
import HearthBase

/// Has made of a release what its engine runs best, and takes it as no obstacle if that fails.
struct ReleasePreparation: Sendable {
    let store: ModelStore
    let preparer: any ReleasePreparer
    /// The caller's own lease on the release, under which nothing is open yet.
    var lease: ReleaseLease?
    /// Whose refusal is no reason not to make it once more.
    var overrides: Set<PreparedRecord.Refusal.Cause> = []
    /// Whether every byte of the release was read again just now.
    var sourceIsVerified = false
    let progress: @Sendable (ActivationProgress) -> Void

    /// What came of it.
    struct Outcome: Sendable, Hashable {
        var prepared: PreparedRelease?
        var preparation: Activation.Preparation
        /// Whether it was made just now.
        var isNew = false
        /// What an earlier trial had against it, where it was made all the same.
        var refusal: PreparedRecord.Refusal?
    }

    /// - Throws: `StoreError` with `release-damaged` where what it would be made from is not what was installed;
    ///   `CancellationError`.
    func prepare(_ release: InstalledRelease, rehashing: Bool) async throws -> Outcome {
        do {
            guard let recipe = try await preparer.recipe(for: release) else {
                return Outcome(prepared: nil, preparation: .notNeeded)
            }
            let refusal = try await refusal(of: recipe, for: release)
            if let refusal, !overrides.contains(refusal.cause) {
                Log.write(
                    .info, "delivery.activation",
                    "\(release.identity) is used as it is, without \(recipe.summary): \(refusal.reason)")
                return Outcome(prepared: nil, preparation: .failed(refusal.reason))
            }
            let (prepared, isNew) = try await store.prepare(
                release, by: preparer, recipe, rehashing: rehashing, verifying: !sourceIsVerified, under: lease
            ) {
                progress(.preparing(recipe.summary, fraction: $0))
            }
            if isNew {
                Log.write(.info, "delivery.activation", "made of \(release.identity): \(recipe.summary)")
            }
            // What ended in its making has come to its end now.
            return Outcome(
                prepared: prepared, preparation: .ready(recipe.summary), isNew: isNew,
                refusal: refusal?.cause == .trial ? refusal : nil)
        } catch let damage as DamagedSource {
            throw StoreError.damaged(release, damage.what)
        } catch {
            // A failure that comes from being stopped is none of the release's.
            try Task.checkCancellation()
            if error is CancellationError { throw error }
            Log.write(.warning, "delivery.activation", "\(release.identity) is used as it is: \(error)")
            return Outcome(prepared: nil, preparation: .failed("\(error)"))
        }
    }

    private func refusal(
        of recipe: PreparationRecipe, for release: InstalledRelease
    ) async throws -> PreparedRecord.Refusal? {
        let files = store.preparedFiles
        return try await blocking { try files.refusal(of: recipe, for: release) }
    }
}

/// What an artefact was to be made from is not what was installed: it would carry the damage on, and pass for whole.
struct DamagedSource: Error {
    /// The end of a sentence about the release.
    let what: String
}
