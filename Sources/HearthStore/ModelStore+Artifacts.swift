import HearthBase
import HearthCatalog

/// The artifacts made on this device, and the removal of what is not needed.
extension ModelStore {
    /// The artifact that was built last from a release, found by name and size; `nil` if it has none.
    package func artifact(of release: InstalledRelease) throws -> Artifact? { try artifacts.latest(of: release) }

    /// The last refused artifact of a release, `nil` if none was refused or another was built since.
    package func refusedArtifact(of release: InstalledRelease) throws -> RefusedArtifact? {
        try artifacts.latestRefusal(for: release)
    }

    /// Finds or makes the artifact of a release. If that fails, the release is used as it came.
    /// - Parameters:
    ///   - lease: the caller's lease on the release; nothing is open under it yet.
    ///   - rehashing: whether to read a found artifact whole; otherwise only if its date has changed.
    ///   - sourceIsVerified: whether every byte of the release was verified just now.
    /// - Throws: `StoreError` with `release-damaged` if the weights differ from the installed ones;
    ///   `CancellationError`.
    package func prepare(
        _ release: InstalledRelease, by preparer: any ReleasePreparer, under lease: ReleaseLease?, rehashing: Bool,
        sourceIsVerified: Bool = false, progress: @escaping @Sendable (ActivationProgress) -> Void = { _ in }
    ) async throws -> (artifact: Artifact, isNew: Bool)? {
        try await ArtifactBuilding(home: home, release: release, lease: lease)
            .prepare(by: preparer, rehashing: rehashing, sourceIsVerified: sourceIsVerified, progress: progress)
    }

    /// Records that an artifact is refused, so that it is not used or built again: its release passed the probe without
    /// it.
    package func refuse(_ artifact: Artifact, for release: InstalledRelease, because reason: String) async throws {
        try await home.committing {
            try artifacts.refuse(artifact.recipe, for: release, because: reason, at: home.time.now)
        }
    }

    /// Removes damaged artifacts.
    package func remove(_ damaged: [Artifact]) async throws {
        try await home.committing { for artifact in damaged { try artifacts.remove(artifact) } }
    }

    /// The bytes of a release's artifacts that the recipe in use does not lead to.
    /// - Parameter recipe: the recipe in use; `nil` if the release is used without an artifact.
    package func outdatedArtifactBytes(of release: InstalledRelease, besides recipe: Recipe?) throws -> UInt64 {
        try artifacts.outdated(of: release, besides: recipe).map { try home.bytes(below: $0) }.saturatedSum
    }

    /// Removes the artifacts of a release that the recipe in use does not lead to, unless a process reads the release.
    /// - Returns: whether there were any, and all of them were removed.
    package func removeOutdatedArtifacts(of release: InstalledRelease, besides recipe: Recipe?) async throws -> Bool {
        try await home.committing {
            let outdated = try artifacts.outdated(of: release, besides: recipe)
            return try !outdated.isEmpty && artifacts.remove(outdated, of: release.identity)
        }
    }

    // MARK: Removal

    /// Removes a whole family, or those of its releases that have the given version and variant.
    ///
    /// If the live release is removed and others stay, the previous one becomes live if it is usable; otherwise none is
    /// live. Damaged releases are removed too. If a process uses one of the releases, none is removed.
    /// - Throws: `not-installed`, `release-in-use`, `home-busy`.
    @discardableResult
    package func remove(_ family: Family, version: ReleaseVersion?, variant: Variant?) async throws -> Removal {
        try await prepare()
        return try await home.committing { try home.remove(family, version: version, variant: variant) }
    }

    /// Removes the releases of a family that are older than its active one. Keeps the previous release and every
    /// release that is pinned or in use.
    ///
    /// Called after a committed activation. A release that cannot be removed now is removed by the next call.
    /// - Returns: the removed releases.
    /// - Throws: `home-busy`, `FileError`, `CancellationError`.
    @discardableResult
    package func collectSuperseded(_ family: Family) async throws -> [ReleaseIdentity] {
        try await prepare()
        let plan = CollectionPlan(try home.facts(of: [family]), now: home.time.now)
        return try await remove(
            plan.removals.compactMap { removal in
                if case .release(let identity) = removal.item { identity } else { nil }
            })
    }

    /// Removes releases one by one, each in a commit step of its own, unless a reason to keep one has appeared since.
    package func remove(_ chosen: [ReleaseIdentity], isBudget: Bool = false) async throws -> [ReleaseIdentity] {
        var removed: [ReleaseIdentity] = []
        for identity in chosen {
            let isDone = try await home.committing { try home.removeUnneeded(identity, isBudget: isBudget) }
            if isDone { removed.append(identity) }
        }
        return removed
    }

    /// Collects the facts about families; `nil` for all of them.
    package func facts(of wanted: [Family]? = nil) throws -> CollectionFacts { try home.facts(of: wanted) }

    /// Removes the artifacts of a release if it is still not installed.
    package func removeStrayPrepared(_ identity: ReleaseIdentity) async throws -> Bool {
        try await home.committing { try home.removeStrayPrepared(identity) }
    }

    /// Removes what interrupted processes left, outside a start.
    package func clearInterruptedWork() async throws {
        try await home.committing { try home.clearInterruptedWork() }
    }
}
