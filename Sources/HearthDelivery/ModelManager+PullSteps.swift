import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthStore
import HearthTransfer

/// Pulls releases: fetches, verifies, installs and activates them.
extension ModelManager {
    /// Pulls a release: fetches, verifies, installs and activates it.
    ///
    /// An installed release is not fetched again. If the offer of its bytes is from another origin, updates come from
    /// there from then on. Cancelling keeps the received bytes; the next call continues after them.
    /// - Parameters:
    ///   - resolved: the result of ``resolve(_:options:)``.
    ///   - options: what is allowed, and whether to activate.
    ///   - progress: at most ten readings a second, on any thread. `completedBytes` never goes down, except for an
    ///     archive: the phase `extracting` counts unpacked bytes.
    /// - Throws: ``DeliveryError``, `TransferError`, `StoreError`, `HTTPError`, `FileError`,
    ///   `CancellationError`.
    public func pull(
        _ resolved: Offer, options: PullOptions = PullOptions(),
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> PullOutcome {
        try await store.prepare()
        let release = resolved.release
        try await live.recover(release.identity.family)
        if let there = try await installed(as: release) {
            await sweepTransfers(of: release)
            if !there.isActive, !resolved.retryHeldBack { try await admission.refuseHeldBack(there.identity, options) }
            let there = await follow(resolved, there)
            return .alreadyInstalled(try await activateIfWanted(there, resolved, options, rehashes: true, progress))
        }
        if !resolved.retryHeldBack {
            try await admission.refuseHeldBack(try await store.identity(of: release), options)
        }
        try admission.check(resolved, options)
        if !resolved.acceptsOlder { try await admission.refuseDowngrade(release, options) }

        let resolved = try await classLists.withClassList(resolved)
        let shared = try await store.shared(resolved.release)
        let (installed, fetched): (InstalledRelease, UInt64)
        do {
            (installed, fetched) = try await deliver(resolved, shared, options, progress)
        } catch let error as FileError where error.code == .notFound && !shared.isEmpty {
            // The release with the shared files was removed meanwhile: fetch the files after all.
            Log.write(.info, "store", "\(release.identity) shares nothing: \(error.message)")
            (installed, fetched) = try await deliver(resolved, [], options, progress)
        }
        if let weights = installed.weights {
            await ModelPageCacheWarmer.hint(file: weights, below: store.layout.models)
        }
        live.events.post(.installed(installed))
        if installed.isActive { await live.becameLive(installed) }
        // The contents of an archive are known only now, so a held-back one is found only now.
        if !installed.isActive, !resolved.retryHeldBack {
            try await admission.refuseHeldBack(installed.identity, options)
        }
        // No rehash: every byte was hashed when it arrived.
        let live = try await activateIfWanted(installed, resolved, options, rehashes: false, progress)
        return .installed(live, fetchedBytes: fetched)
    }

    /// Fetches the files that no installed release has, then installs the release.
    private func deliver(
        _ resolved: Offer, _ shared: [StagedFile], _ options: PullOptions,
        _ progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> (InstalledRelease, fetchedBytes: UInt64) {
        let release = resolved.release
        var files = release.files
        files.removeAll { file in shared.contains { $0.name == file.name } }
        if options.isUnattended { try await fetching.refuseCorrupted(files) }
        do {
            try await admission.checkStorage(for: release, files, shared)
        } catch let error as DeliveryError where error.code == .insufficientStorage {
            throw await tellingFreeable(error, besides: release)
        }
        let gate = fetching.gate(options.metered)
        for index in files.indices { files[index].locations = try await gate.admitted(files[index].locations) }
        try await admission.preflight(release, files, options)
        let tracker = ReleaseProgress(files.map(\.size), report: progress)
        let purpose = TransferPurpose(
            release: release.identity, source: resolved.location ?? release.file.locations.first,
            repository: RepositoryReference(resolved.reference), activates: options.activate, isNamed: resolved.isNamed)
        let requests = files.map {
            TransferRequest($0, bytesPerSecond: options.bytesPerSecond, metered: options.metered)
        }
        return try await fetching.fetchAll(files, requests, of: release, for: purpose, tracker) { staged in
            tracker.installing()
            let isPacked = release.archive != nil
            return try await self.store.install(
                release, files: (isPacked ? Array(staged.dropFirst()) : staged) + shared,
                archive: isPacked ? staged.first : nil, origin: resolved.origin,
                progress: tracker.extraction())
        }
    }

    /// Whether an installed release is exactly the offered one. Reads files that are known only by their git blob ID.
    private func holds(_ there: InstalledRelease, _ release: Release) async throws -> Bool {
        guard there.holds(release) else { return false }
        let unknown = release.files.dropFirst(release.archive == nil ? 0 : 1).filter {
            $0.digest == nil && $0.gitBlob != nil
        }
        guard !unknown.isEmpty else { return true }
        return try await StopFlag.blocking { [fileSystem = fetching.fileSystem] flag in
            let local = LocalCopy(fileSystem: fileSystem, flag: flag)
            return try unknown.allSatisfy { try local.isRight(there.folder.appending($0.name), $0) }
        }
    }

    /// Deletes the transfers that an interruption between installation and clean-up left.
    private func sweepTransfers(of release: Release) async {
        for file in release.files { await fetching.transfers.sweep(TransferRequest(file)) }
    }

    /// The undamaged installed release with the offered bytes, under its plain name or with a content tag; the live one
    /// first.
    private func installed(as release: Release) async throws -> InstalledRelease? {
        for identity in try await store.installed(sameNameAs: release.identity) {
            if let there = try await live.undamaged(identity), try await holds(there, release) { return there }
        }
        return nil
    }

    /// Activates a pulled release if the options say so. A release the user did not name does not replace a pinned one.
    private func activateIfWanted(
        _ release: InstalledRelease, _ resolved: Offer, _ options: PullOptions, rehashes: Bool,
        _ progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> InstalledRelease {
        guard options.activate, !release.isActive else { return release }
        let state = try await store.state(of: release.identity.family)
        if !resolved.isNamed, state.isPinned(against: release.identity) {
            Log.write(.info, "\(release.identity) is not activated: another release is pinned")
            return release
        }
        var how = ActivationOptions()
        how.rehashes = rehashes
        how.probes = options.probes
        how.ignoresMemory = options.ignoreMemory
        let tracker = ReleaseProgress(installed: release.receipt.totalSize, report: progress)
        return try await live.activateRecovered(release.identity, options: how) { tracker.activating($0) }
    }

    /// Records the new origin of an installed release whose identical bytes are pulled from there: its updates come from
    /// that origin from then on.
    ///
    /// Bundled models, repositories and local folders that are not configured as origins are ignored.
    private func follow(_ offer: Offer, _ there: InstalledRelease) async -> InstalledRelease {
        guard let origin = offer.origin, case let location = origin.manifestURL, offer.isOnlyOrigin,
            offer.freshness != .bundled,
            there.receipt.origin?.withoutSecrets != location.withoutSecrets,
            !location.isFileURL || sources.origins.contains(where: { $0.manifestURL == location })
        else { return there }
        do {
            return try await store.follow(origin, entry: offer.release.id, there)
        } catch {
            Log.write(.warning, "updates of \(there.identity) come from where they came before: \(error)")
            return there
        }
    }

    /// Continues, after a restart, every transfer that was under way when its process ended.
    ///
    /// A held-back release is not tried again, even if the user named it: its error is `held-back`.
    /// - Returns: the plan of each transfer, with the error of a failed one.
    /// - Throws: `FileError` if the transfers cannot be listed.
    package func restoreTransfers(
        options: PullOptions = PullOptions()
    ) async throws -> [(plan: TransferPlan, error: (any Error)?)] {
        try await fetching.transfers.restore { plan in
            var (resolved, options) = try await self.resolve(again: plan, options: options)
            resolved.retryHeldBack = false
            _ = try await self.pull(resolved, options: options) { _ in }
        }
    }
}
