import Foundation
import HearthBase

extension ModelManager {
    /// Brings the release a reference means over, checks it, installs it and makes it the active one of its family.
    /// - Throws: as ``resolve(_:options:)`` and ``pull(_:options:progress:)-(ResolvedRelease,_,_)``.
    public func pull(
        _ reference: ModelReference, options: PullOptions = PullOptions(),
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> PullOutcome {
        try await pull(try await resolve(reference, options: options), options: options, progress: progress)
    }

    /// Brings a release over, checks it, installs it and makes it the active one of its family.
    ///
    /// Nothing is fetched if it is there already: where another list has the same bytes, updates come from that one from then on.
    /// Cancelling keeps the bytes that came; the next call goes on behind them.
    /// - Parameters:
    ///   - resolved: what ``resolve(_:options:)`` found.
    ///   - options: what is allowed, and whether to activate.
    ///   - progress: at most ten readings a second, on any thread; `completedBytes` never goes down, but for an archive: then
    ///     the phase `extracting` counts the bytes unpacked.
    /// - Throws: ``DeliveryError``, ``TransferError``, ``StoreError``, ``ArchiveError``, `HTTPError`, `FileError`, `CancellationError`.
    public func pull(
        _ resolved: ResolvedRelease, options: PullOptions = PullOptions(),
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> PullOutcome {
        try await store.prepare()
        let release = resolved.release
        try await recover(release.identity.family)
        if let there = try await whole(release.identity), try await holds(there, release) {
            await sweepTransfers(of: release)
            if options.activate, !there.isActive, !resolved.triesHeldBack {
                try await refuseHeldBack(release, options)
            }
            let there = await changeOver(there, to: resolved)
            return .alreadyInstalled(
                try await activateIfWanted(
                    there, resolved, options, rehashes: true,
                    ReleaseProgress(installed: there.receipt.totalSize, report: progress)))
        }
        if !resolved.triesHeldBack { try await refuseHeldBack(release, options) }
        try check(resolved, options)
        if !resolved.acceptsOlder { try await refuseDowngrade(release, options) }

        let shared = try await store.shared(release)
        let (installed, fetched): (InstalledRelease, UInt64)
        do {
            (installed, fetched) = try await deliver(resolved, shared, options, progress)
        } catch let error as FileError where error.code == .notFound && !shared.isEmpty {
            // The release that held them was removed meanwhile: its files come over the network after all.
            Log.write(.info, "delivery.store", "\(release.identity) shares nothing: \(error.message)")
            (installed, fetched) = try await deliver(resolved, [], options, progress)
        }
        if let weights = installed.weights {
            await ModelPageCacheWarmer.hint(file: weights, below: store.layout.models)
        }
        hub.post(.installed(installed))
        if installed.isActive { await becameLive(installed) }
        // Every byte was hashed when it came.
        let live = try await activateIfWanted(
            installed, resolved, options, rehashes: false,
            ReleaseProgress(installed: installed.receipt.totalSize, report: progress))
        return .installed(live, fetchedBytes: fetched)
    }

    /// Fetches what no installed release holds, and installs all of it.
    func deliver(
        _ resolved: ResolvedRelease, _ shared: [StagedFile], _ options: PullOptions,
        _ progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> (InstalledRelease, fetchedBytes: UInt64) {
        let release = resolved.release
        var files = release.files
        files.removeAll { file in shared.contains { $0.name == file.name } }
        try await checkStorage(for: release, files, shared)
        let gate = gate(options.metered)
        for index in files.indices { files[index].locations = try await gate.admitted(files[index].locations) }
        try await preflight(release, files, options)
        let tracker = ReleaseProgress(files.map(\.size), report: progress)
        var purpose = TransferPurpose(
            release: release.identity, source: resolved.location ?? release.file.locations.first,
            activates: options.activate)
        purpose.isNamed = resolved.isNamed
        purpose.reference = resolved.reference
        let requests = files.map {
            TransferRequest($0, bytesPerSecond: options.bytesPerSecond, metered: options.metered)
        }
        return try await bring(files, requests, of: release, for: purpose, tracker) { staged in
            tracker.installing()
            let isPacked = release.archive != nil
            return try await self.store.install(
                release, files: (isPacked ? Array(staged.dropFirst()) : staged) + shared,
                archive: isPacked ? staged.first : nil, origin: resolved.location
            ) {
                tracker.extracting($0)
            } trial: {
                if !resolved.triesHeldBack { try await self.refuseHeldBack($0, of: release) }
                try await self.tryOut($0, as: release, options) { tracker.activating($0) }
            }
        }
    }

    /// What comes under the name of what is live passes what any release does before it is live; until then that serves on.
    private func tryOut(
        _ staged: InstalledRelease, as release: Release, _ options: PullOptions,
        progress: @escaping @Sendable (ActivationProgress) -> Void
    ) async throws {
        _ = try await ActivationRun(
            store: store, preparer: preparer, probe: options.probes ? probe : nil, time: time,
            identity: staged.identity, staged: staged, promised: release.promised, rehashes: false,
            ignoresMemory: ignoresMemory || options.ignoreMemory, progress: progress
        ).run()
        // Under the same name, and news all the same.
        if announced[staged.identity.family] == staged.identity { announced[staged.identity.family] = nil }
    }

    /// Whether a release on this device is exactly what a source offers. Files that only git's name is known of are read.
    private func holds(_ there: InstalledRelease, _ release: Release) async throws -> Bool {
        guard there.holds(release) else { return false }
        let unknown = release.files.dropFirst(release.archive == nil ? 0 : 1).filter {
            $0.digest == nil && $0.gitBlob != nil
        }
        guard !unknown.isEmpty else { return true }
        return try await StopFlag.blocking { [fileSystem] flag in
            let local = LocalCopy(fileSystem: fileSystem, flag: flag)
            return try unknown.allSatisfy { $0.isMade(of: try local.read(there.folder.appending($0.name))) }
        }
    }

    /// What an interruption between installing a release and clearing up has left.
    private func sweepTransfers(of release: Release) async {
        for file in release.files { await transfers.sweep(TransferRequest(file)) }
    }

    /// An installed release, `nil` where it is not there or damaged: then it comes again, and takes the damaged one's place.
    private func whole(_ identity: ReleaseIdentity) async throws -> InstalledRelease? {
        do {
            return try await store.installed(identity)
        } catch let error as StoreError where [.receiptDamaged, .releaseDamaged].contains(error.code) {
            Log.write(.info, "delivery.store", "\(identity) comes again: \(error.message)")
            return nil
        }
    }

    /// A release the user did not name leaves alone what is pinned.
    private func activateIfWanted(
        _ release: InstalledRelease, _ resolved: ResolvedRelease, _ options: PullOptions, rehashes: Bool,
        _ tracker: ReleaseProgress
    ) async throws -> InstalledRelease {
        guard options.activate, !release.isActive else { return release }
        let state = try await store.state(of: release.identity.family)
        if !resolved.isNamed, state.isPinned(against: release.identity) {
            Log.write(.info, "delivery", "\(release.identity) is not activated: another release is pinned")
            return release
        }
        var how = ActivationOptions()
        how.rehashes = rehashes
        how.probes = options.probes
        how.ignoresMemory = options.ignoreMemory
        return try await activate(release.identity, options: how) { tracker.activating($0) }
    }
}
