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
            if !there.isActive, !resolved.isNamed { try await refuseHeldBack(release, options) }
            let there = await changeOver(there, to: resolved)
            return .alreadyInstalled(
                try await activateIfWanted(
                    there, resolved, options, rehashes: true,
                    ReleaseProgress(installed: there.receipt.totalSize, report: progress)))
        }
        if !resolved.isNamed { try await refuseHeldBack(release, options) }
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
                if !resolved.isNamed { try await self.refuseHeldBack($0) }
                try await self.tryOut($0, options) { tracker.activating($0) }
            }
        }
    }

    /// What comes under the name of what is live passes what any release does before it is live; until then that serves on.
    private func tryOut(
        _ staged: InstalledRelease, _ options: PullOptions,
        progress: @escaping @Sendable (ActivationProgress) -> Void
    ) async throws {
        _ = try await ActivationRun(
            store: store, preparer: preparer, probe: options.probes ? probe : nil, time: time,
            identity: staged.identity, staged: staged, rehashes: false,
            ignoresMemory: ignoresMemory || options.ignoreMemory, progress: progress
        ).run()
        // Under the same name, and news all the same.
        if announced[staged.identity.family] == staged.identity { announced[staged.identity.family] = nil }
    }

    /// Fetches files, or joins the transfers that do; they stay this pull's until `install` has taken them.
    func bring<Outcome: Sendable>(
        _ files: [RemoteFile], _ requests: [TransferRequest], of release: Release, for purpose: TransferPurpose,
        _ tracker: ReleaseProgress, install: ([StagedFile]) async throws -> Outcome
    ) async throws -> (Outcome, fetchedBytes: UInt64) {
        var staged: [StagedFile] = []
        var taken: [TransferRequest] = []
        var fetched: UInt64 = 0
        do {
            for (file, plain) in zip(files, requests) {
                if let copy = try await localCopy(of: file) {
                    tracker.fileEnded(copy.size)
                    staged.append(copy)
                    continue
                }
                var request = plain
                if let index = release.index(of: file), file.size.estimate > UInt64(ChunkIndex.fixedLength) {
                    request.index = try await indexes.fetch(
                        index, fileSize: file.size.estimate, through: gate(request.metered))
                }
                let arrived = try await fetch(file, request, for: purpose, tracker)
                taken.append(request)
                tracker.fileEnded(arrived.size)
                fetched += arrived.fetchedBytes
                staged.append(StagedFile(file, arrived))
            }
            let installed = try await install(staged)
            for request in taken { await transfers.letGo(request, discarding: true) }
            return (installed, fetched)
        } catch {
            // The bytes are the promised ones: an archive that is refused now will be the next time too.
            let isUseless = error is ArchiveError
            for request in taken { await transfers.letGo(request, discarding: isUseless) }
            throw error
        }
    }

    /// Fetches a file; one that only git's name is known of is compared with it before anybody uses it.
    private func fetch(
        _ file: RemoteFile, _ request: TransferRequest, for purpose: TransferPurpose, _ tracker: ReleaseProgress
    ) async throws -> TransferredFile {
        var fetched: UInt64 = 0
        var attempt = 1
        while true {
            var arrived = try await transfers.fetch(request, for: purpose) { tracker.update($0) }
            fetched += arrived.fetchedBytes
            arrived.fetchedBytes = fetched
            guard file.digest == nil, let blob = file.gitBlob else { return arrived }
            do {
                let path = arrived.path
                let found = try await StopFlag.blocking { [fileSystem] flag in
                    try LocalCopy(fileSystem: fileSystem, flag: flag).read(path).blob
                }
                if found == blob { return arrived }
                guard attempt < Download.maximumAttempts else { throw TransferError.wrongBlob(file, found: found) }
            } catch {
                await transfers.letGo(request, discarding: (error as? TransferError)?.code == .checksumMismatch)
                throw error
            }
            await transfers.letGo(request, discarding: true)
            attempt += 1
        }
    }

    /// The bytes of a file where they lie on this machine already, outside of the store.
    private func localCopy(of file: RemoteFile) async throws -> StagedFile? {
        guard !file.copies.isEmpty else { return nil }
        return try await StopFlag.blocking { [fileSystem] flag in
            try LocalCopy(fileSystem: fileSystem, flag: flag).find(file)
        }
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

    // MARK: - What speaks against it

    private func check(_ resolved: ResolvedRelease, _ options: PullOptions) throws {
        let release = resolved.release
        if let objection = resolved.objection, !resolved.isNamed { try refuse(release, objection) }
        let missing = release.files.first { !$0.isVerifiable }
        if let missing, !options.allowUnverified {
            throw DeliveryError(
                .digestMissing, "the catalog gives no SHA-256 for \(missing.name), so its bytes cannot be checked",
                context: ErrorContext(
                    model: release.identity.description, file: missing.name.string,
                    remedy: "Ask the publisher for one, or accept any bytes with --allow-unverified."))
        }
        if let archive = release.archive, !archive.format.isSupported {
            throw DeliveryError(
                .archiveUnsupported,
                "\(release.identity) comes packed as \(archive.format.rawValue), which this version does not unpack",
                context: ErrorContext(
                    model: release.identity.description, remedy: "Ask the publisher for the plain file."))
        }
        if let needed = release.requirements.memoryBytes, needed > deviceMemory,
            !ignoresMemory, !options.ignoreMemory, !(preparer?.makesFit(release) ?? false)
        {
            throw DeliveryError(
                .notEnoughMemory, "\(release.identity) needs more memory than this device has",
                context: ErrorContext(
                    model: release.identity.description, expected: "\(needed) bytes", found: "\(deviceMemory) bytes",
                    remedy: "Choose a smaller variant, or insist with --ignore-memory."))
        }
        if let minimum = release.minimumAppVersion, let appVersion, appVersion < minimum {
            throw DeliveryError(
                .appTooOld, "\(release.identity) needs version \(minimum) of this app",
                context: ErrorContext(
                    model: release.identity.description, expected: "\(minimum)", found: "\(appVersion)",
                    remedy: "Update the app first."))
        }
    }

    /// Refuses what nobody asked for by its version; the other objections are looked at for every release.
    private func refuse(_ release: Release, _ objection: Ineligibility) throws {
        let (code, remedy): (ErrorCode<DeliveryErrorDomain>, String)
        switch objection {
        case .notInRollout: (code, remedy) = (.notInRollout, "Wait for your turn, or name the version.")
        case .heldBack: (code, remedy) = (.heldBack, "Wait for a newer version, or name this one.")
        // Engines of other programs may read it: whoever asks for a model by name may have it.
        case .noEngine: return
        case .appTooOld, .notEnoughMemory: return
        }
        throw DeliveryError(
            code, "\(release.identity) \(objection.reason)",
            context: ErrorContext(model: release.identity.description, remedy: remedy))
    }

    func checkStorage(for release: Release, _ files: [RemoteFile], _ shared: [StagedFile]) async throws {
        let folder = store.transfersFolder
        let (policy, free) = try await blocking { [transfer, fileSystem] in
            let held = try files.map { try transfer.bytesHeld(of: TransferRequest($0)) }
            // What another release holds takes no second place.
            let there = (held + shared.map(\.size)).saturatedSum
            let policy = StoragePolicy(total: release.installationSize, held: there)
            return (policy, Result { try fileSystem.freeSpace(at: folder) })
        }
        var unknown: (any Error)?
        var bytes: UInt64?
        switch free {
        case .success(let known): bytes = known
        case .failure(let error): unknown = error
        }
        guard case .refused(let required) = policy.verdict(free: bytes) else { return }
        throw DeliveryError(
            .insufficientStorage,
            bytes == nil
                ? "the disk of \(folder) does not say how much space is free"
                : "\(release.identity) needs more free space than the disk has",
            context: ErrorContext(
                model: release.identity.description, file: folder.string, expected: "\(required) bytes",
                found: bytes.map { "\($0) bytes" } ?? "unknown",
                remedy: bytes == nil
                    ? "Choose a home folder on another disk."
                    : "Free some space, or choose a smaller variant; nothing already received is lost."),
            underlying: unknown)
    }

    private func refuseHeldBack(_ release: Release, _ options: PullOptions) async throws {
        guard options.activate else { return }
        let state = try await store.state(of: release.identity.family)
        guard let held = state.heldBack(release.identity) else { return }
        throw DeliveryError(
            .heldBack, "\(release.identity) is held back: \(held.reason)",
            context: ErrorContext(
                model: release.identity.description,
                remedy: "Wait for a newer version, or name this one to try it again."))
    }

    /// The same for what is to take the place of other bytes that are live.
    private func refuseHeldBack(_ staged: InstalledRelease) async throws {
        let state = try await store.state(of: staged.identity.family)
        guard let held = state.heldBack(staged.identity, content: staged.receipt.content) else { return }
        throw DeliveryError(
            .heldBack, "what \(staged.identity) was replaced by is held back: \(held.reason)",
            context: ErrorContext(
                model: staged.identity.description,
                remedy: "What was active before still is. Wait for a newer version, or name this one to try it again."))
    }

    private func refuseDowngrade(_ release: Release, _ options: PullOptions) async throws {
        guard !options.allowDowngrade, options.activate else { return }
        // Also where it is damaged: a damaged release is no reason to go back.
        guard let active = try await store.state(of: release.identity.family).active else { return }
        guard active.version.isNewer(than: release.identity.version) == true else { return }
        throw DeliveryError(
            .downgrade,
            "the origin offers \(release.identity.version), which is older than the active \(active.version)",
            context: ErrorContext(
                model: release.identity.family.name, expected: "newer than \(active.version)",
                found: release.identity.version.name,
                remedy: "Name the version, or insist with --allow-downgrade."))
    }
}

extension TransferRequest {
    init(_ file: RemoteFile, bytesPerSecond: UInt64? = nil, metered: MeteredUse = .deny) {
        self.init(
            label: file.name.string, locations: file.locations, size: file.size, digest: file.digest,
            bytesPerSecond: bytesPerSecond)
        self.metered = metered
    }
}

extension StagedFile {
    fileprivate init(_ file: RemoteFile, _ arrived: TransferredFile) {
        self.init(
            name: file.name, role: file.role, path: arrived.path, size: arrived.size, digest: arrived.digest,
            isVerified: file.isVerifiable)
        source = file.locations.first?.withoutSecrets
    }
}

extension InstalledRelease {
    /// Whether this is what a source offers, as far as names, lengths and digests tell. Of a file without a digest the version
    /// is believed: who publishes other bytes gives them another one.
    func holds(_ release: Release) -> Bool {
        func isPromised(_ digest: SHA256Digest, _ size: UInt64, by file: RemoteFile) -> Bool {
            if let promised = file.digest { return digest == promised }
            return file.size.exact.map { size == $0 } ?? (size <= file.size.limit)
        }
        if release.archive != nil {
            guard let archive = receipt.archive, isPromised(archive.digest, archive.size, by: release.file) else {
                return false
            }
        }
        return release.files.dropFirst(release.archive == nil ? 0 : 1).allSatisfy { file in
            receipt.files.contains { $0.name == file.name && isPromised($0.digest, $0.size, by: file) }
        }
    }
}
