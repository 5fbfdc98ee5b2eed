import Foundation
import HearthBase
import HearthCatalog

/// Finds and makes the artifact of one release; runs on the caller's executor.
struct ArtifactBuilding: Sendable {
    let home: StoreHome
    let release: InstalledRelease
    /// The caller's lease on the release, under which no file is open yet.
    let lease: ReleaseLease?

    private var artifacts: ArtifactStore { home.artifacts }

    /// Finds or makes the artifact of a release. If that fails, the release is used as it came.
    /// - Returns: the artifact, and whether it was made just now; `nil` if the release is used as it came.
    nonisolated(nonsending) func prepare(
        by preparer: any ReleasePreparer, rehashing: Bool, sourceIsVerified: Bool,
        progress: @escaping @Sendable (ActivationProgress) -> Void
    ) async throws -> (artifact: Artifact, isNew: Bool)? {
        do {
            guard let recipe = try await preparer.recipe(for: release) else { return nil }
            if let refused = try await blocking({ [artifacts, release] in
                try artifacts.refusal(of: recipe, for: release)
            }) {
                if preparer.isRequired(for: release) {
                    throw StoreError.artifactRefused(recipe.fileName, of: release, refused.reason)
                }
                Log.write(
                    .info, "activation",
                    "\(release.identity) is used as it came, without \(recipe.summary): \(refused.reason)")
                return nil
            }
            if let found = try await find(recipe, rehashing: rehashing) { return (found, false) }
            try await preparer.check(recipe, of: release)
            let artifact = try await build(
                recipe, isRequired: preparer.isRequired(for: release), verifyingSource: !sourceIsVerified
            ) { [release] target in
                try await preparer.build(recipe, of: release, at: target) {
                    progress(.preparing(recipe.summary, fraction: $0))
                }
                try Task.checkCancellation()
            }
            Log.write(.info, "activation", "made an artifact of \(release.identity): \(recipe.summary)")
            return (artifact, true)
        } catch let error as StoreError where error.code == .releaseDamaged {
            throw error
        } catch {
            // A cancelled build says nothing about the release.
            try Task.checkCancellation()
            if error is CancellationError || preparer.isRequired(for: release) { throw error }
            Log.write(.warning, "activation", "\(release.identity) is used as it came: \(error)")
            return nil
        }
    }

    /// Finds the artifact that a recipe makes, and removes the others that no process may open.
    nonisolated(nonsending) func find(_ recipe: Recipe, rehashing: Bool) async throws -> Artifact? {
        let found = try await StopFlag.blocking { [artifacts, release] flag in
            try artifacts.find(recipe, of: release, rehashing: rehashing, flag: flag)
        }
        if let found, !isStaged { await removeOthers(than: found) }
        return found
    }

    /// Builds an artifact beside its place, brings it to the disk, hashes it, and moves it to its place in one step.
    nonisolated(nonsending) func build(
        _ recipe: Recipe, isRequired: Bool, verifyingSource: Bool, build: @Sendable (Path) async throws -> Void
    ) async throws -> Artifact {
        let work = try await home.committing {
            try artifacts.begin(recipe, of: release, isRequired: isRequired, at: home.time.now)
        }
        do {
            if verifyingSource { try await verifyWeights() }
            try await withTaskCancellationHandler {
                try await build(work.path)
            } onCancel: {
                // The ends of a required build do not count, and the lock keeps other processes out until it has stopped.
                if !isRequired { Task { await blocking { work.forget() } } }
            }
            try await StopFlag.blocking { [artifacts, release, date = home.time.now] flag in
                try artifacts.complete(work, of: release, at: date, flag: flag)
            }
            let artifact = try await home.committing { try publish(work) }
            await blocking { work.close() }
            if !isStaged { await removeOthers(than: artifact) }
            return artifact
        } catch {
            let isInterrupted = Task.isCancelled || error is CancellationError
            await blocking { work.close(keepsFolder: isRequired && isInterrupted) }
            throw error
        }
    }

    private func publish(_ work: ArtifactBuild) throws -> Artifact {
        // The release may have been removed, or replaced by other bytes, during the build.
        guard
            try isStaged || home.find(release.identity)?.receipt.isSameContent(as: release.receipt) == true
        else { throw StoreError.notInstalled(release.identity.description) }
        return try artifacts.publish(work, of: release)
    }

    private nonisolated(nonsending) func verifyWeights() async throws {
        let checks = try await StopFlag.blocking { [home, release] flag in
            let receipt = release.receipt
            // An artifact of a folder is made of all its files.
            return try Verification(receipt: receipt, folder: release.folder, fileSystem: home.fileSystem, flag: flag)
                .compare(receipt.format.isSafetensors ? receipt.files : [receipt.weights].compactMap(\.self))
        }
        if let damage = checks.lazy.compactMap(\.damage).first { throw StoreError.damaged(release, damage) }
    }

    /// Whether the release is not in its place yet; other bytes may then be live and share its folder of artifacts.
    private var isStaged: Bool { release.folder != home.layout.folder(of: release.identity) }

    private nonisolated(nonsending) func removeOthers(than artifact: Artifact) async {
        do {
            guard try artifacts.hasOthers(than: artifact) else { return }
            try await home.committing { try artifacts.removeOthers(than: artifact, under: lease) }
        } catch {
            Log.write(.info, "artifacts", "older artifacts of \(artifact.release) stay for now: \(error)")
        }
    }
}
