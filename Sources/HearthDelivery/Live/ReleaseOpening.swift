import HearthBase
import HearthCatalog
import HearthStore

/// Decides which files an engine opens of a release: its artifact for this device, else its weights.
struct ReleaseOpening: Sendable {
    let store: ModelStore
    let preparer: (any ReleasePreparer)?

    /// Finds the file an engine opens, and makes a missing artifact.
    func weights(
        of release: InstalledRelease, under lease: ReleaseLease?,
        progress: @escaping @Sendable (ActivationProgress) -> Void
    ) async throws -> Path {
        let weights = try release.requireWeights()
        guard let preparer else { return weights }
        let preparation = try await store.prepare(
            release, by: preparer, under: lease, rehashing: false, progress: progress)
        return preparation.artifact?.path ?? weights
    }

    /// The bytes an engine reads of a release.
    func size(of release: InstalledRelease, opening weights: Path?) async -> UInt64 {
        let total = release.receipt.totalSize
        guard let preparer, weights == nil || weights != release.weights else { return total }
        do {
            guard let recipe = try await preparer.recipe(for: release), let source = release.receipt.weights,
                let artifact = try await blocking({ [store] in try store.artifacts.look(for: recipe, of: release) })
            else { return total }
            return [total - min(total, source.size), artifact.size].saturatedSum
        } catch {
            Log.write(
                .info, "activation", "the artifact of \(release.identity) cannot be looked for: \(error)")
            return total
        }
    }
}
