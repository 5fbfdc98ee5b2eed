import Foundation
import HearthBase
import HearthCatalog

extension ModelStore {
    package nonisolated var artifacts: ArtifactStore { ArtifactStore(layout: layout, fileSystem: fileSystem) }

    /// The artifact that was built last from a release, found by name and size; `nil` if it has none.
    package func artifact(of release: InstalledRelease) throws -> Artifact? { try artifacts.latest(of: release) }

    /// The last refused artifact of a release, `nil` if none was refused or another was built since.
    package func refusedArtifact(of release: InstalledRelease) throws -> RefusedArtifact? {
        try artifacts.latestRefusal(for: release)
    }

    /// Finds the artifact that a recipe makes from a release, and removes the others that no process may open.
    /// - Parameters:
    ///   - rehashing: whether to read the whole file; otherwise only if its date has changed.
    ///   - lease: the caller's lease on the release, under which no file is open yet.
    package nonisolated func artifact(
        by recipe: Recipe, of release: InstalledRelease, rehashing: Bool, under lease: ReleaseLease? = nil
    ) async throws -> Artifact? {
        let found = try await StopFlag.blocking { [artifacts] flag in
            try artifacts.find(recipe, of: release, rehashing: rehashing, flag: flag)
        }
        if let found, !isStaged(release) { await removeOthers(than: found, under: lease) }
        return found
    }

    /// Builds an artifact beside its place, brings it to the disk, hashes it, and moves it to its place in one step.
    /// - Parameters:
    ///   - verifyingSource: whether to re-read the weights first, so that no artifact is built from damaged weights.
    ///   - build: builds the file at a path.
    /// - Throws: errors of `build`; `StoreError` with `artifact-refused`, `release-damaged`, `reserved-name`,
    ///   `not-installed`, `home-busy`; `FileError`; `CancellationError`.
    package nonisolated func buildArtifact(
        _ recipe: Recipe, of release: InstalledRelease, verifyingSource: Bool, under lease: ReleaseLease? = nil,
        build: @Sendable (Path) async throws -> Void
    ) async throws -> Artifact {
        let artifacts = artifacts
        let work = try await begin(recipe, of: release)
        do {
            if verifyingSource { try await verifyWeights(of: release) }
            try await withTaskCancellationHandler {
                try await build(work.path)
            } onCancel: {
                Task { try await blocking { work.forget() } }
            }
            let date = time.now
            try await StopFlag.blocking { try artifacts.complete(work, of: release, at: date, flag: $0) }
            let artifact = try await publish(work, of: release)
            try await blocking { work.close() }
            if !isStaged(release) { await removeOthers(than: artifact, under: lease) }
            return artifact
        } catch {
            try await blocking { work.close() }
            throw error
        }
    }

    private func begin(_ recipe: Recipe, of release: InstalledRelease) async throws -> ArtifactBuild {
        try await committing { try artifacts.begin(recipe, of: release, at: time.now) }
    }

    private func publish(_ work: ArtifactBuild, of release: InstalledRelease) async throws -> Artifact {
        try await committing {
            // The release may have been removed, or replaced by other bytes, during the build.
            guard try isStaged(release) || read(release.identity)?.receipt.isSameContent(as: release.receipt) == true
            else { throw notInstalled(release.identity.description) }
            return try artifacts.publish(work, of: release)
        }
    }

    private nonisolated func verifyWeights(of release: InstalledRelease) async throws {
        let checks = try await StopFlag.blocking { [fileSystem] flag in
            try Verification(receipt: release.receipt, folder: release.folder, fileSystem: fileSystem, flag: flag)
                .compare([release.receipt.weights].compactMap(\.self))
        }
        if let damage = checks.lazy.compactMap(\.damage).first { throw StoreError.damaged(release, damage) }
    }

    /// Whether a release is not in its place yet; other bytes may then be live and share its folder of artifacts.
    private nonisolated func isStaged(_ release: InstalledRelease) -> Bool {
        release.folder != layout.folder(of: release.identity)
    }

    // MARK: - Removing

    private func removeOthers(than artifact: Artifact, under lease: ReleaseLease?) async {
        do {
            guard try artifacts.hasOthers(than: artifact) else { return }
            try await committing { try artifacts.removeOthers(than: artifact, under: lease) }
        } catch {
            Log.write(.info, "artifacts", "older artifacts of \(artifact.release) stay for now: \(error)")
        }
    }

    /// Records that an artifact is refused, so that it is not used or built again: its release passed the probe without
    /// it.
    package func refuse(_ artifact: Artifact, for release: InstalledRelease, because reason: String) async throws {
        try await committing { try artifacts.refuse(artifact.recipe, for: release, because: reason, at: time.now) }
    }

    /// Removes damaged artifacts.
    package func remove(_ damaged: [Artifact]) async throws {
        try await committing { for artifact in damaged { try artifacts.remove(artifact) } }
    }

    /// The bytes of a release's artifacts that the recipe in use does not lead to.
    /// - Parameter recipe: the recipe in use; `nil` if the release is used without an artifact.
    package func outdatedArtifactBytes(of release: InstalledRelease, besides recipe: Recipe?) throws -> UInt64 {
        try artifacts.outdated(of: release, besides: recipe).map { try bytes(below: $0) }.saturatedSum
    }

    /// Removes the artifacts of a release that the recipe in use does not lead to, unless a process reads the release.
    /// - Returns: whether there were any, and all of them were removed.
    package func removeOutdatedArtifacts(of release: InstalledRelease, besides recipe: Recipe?) async throws -> Bool {
        try await committing {
            let outdated = try artifacts.outdated(of: release, besides: recipe)
            return try !outdated.isEmpty && artifacts.remove(outdated, of: release.identity)
        }
    }
}
