import HearthBase
import HearthCatalog
import HearthStore

/// Decides which files an engine opens of a release: its artifact for this device, else its weights.
extension ModelManager {
    /// Finds the file an engine opens for a release: its artifact for this device, else its weights.
    ///
    /// A missing, damaged or outdated artifact is made again from verified weights, which may take minutes. If that
    /// fails, the weights are used, and the log says why. Outdated artifacts are removed, unless another process reads
    /// the release. If two processes end during a build, the artifact is not made again; a cancelled build does not
    /// count.
    /// - Parameter lease: the caller's lease for this opening; it does not count as a reader.
    /// - Throws: `StoreError` with `release-damaged` if the release has no weights, or if its artifact is to be made
    ///   and they differ from the installed ones; `CancellationError`.
    package func weightsToOpen(
        of release: InstalledRelease, under lease: ReleaseLease? = nil,
        progress: @escaping @Sendable (ActivationProgress) -> Void = { _ in }
    ) async throws -> Path {
        let weights = try release.requireWeights()
        guard let preparer = device.preparer else { return weights }
        let preparation = try await store.prepare(
            release, by: preparer, under: lease, rehashing: false, progress: progress)
        return preparation?.artifact.path ?? weights
    }

    /// The bytes an engine reads of a release: its files, with the artifact in place of the weights.
    /// - Parameter weights: the result of `weightsToOpen(of:under:progress:)`, `nil` if unknown. A release whose
    ///   artifact is not made yet counts with its own weights.
    package func openedSize(of release: InstalledRelease, opening weights: Path? = nil) async -> UInt64 {
        let total = release.receipt.totalSize
        guard let preparer = device.preparer, weights == nil || weights != release.weights else { return total }
        do {
            guard let recipe = try await preparer.recipe(for: release), let source = release.receipt.weights,
                let artifact = try await blocking({ [store] in try store.artifacts.look(for: recipe, of: release) })
            else { return total }
            // The artifact of a folder stands for all files of its weights.
            let replaced =
                release.receipt.format.isSafetensors
                ? release.receipt.files.filter { $0.role == .weights || $0.role == .shard }.map(\.size).saturatedSum
                : source.size
            return [total - min(total, replaced), artifact.size].saturatedSum
        } catch {
            Log.write(
                .info, "activation", "the artifact of \(release.identity) cannot be looked for: \(error)")
            return total
        }
    }
}
