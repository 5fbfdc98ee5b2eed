import Foundation
import HearthBase

extension ModelManager {
    /// Finds the release a reference means, without fetching it: the publisher's choice of version unless one is named,
    /// the largest variant that fits this device unless one is named.
    /// - Throws: ``DeliveryError``, ``CatalogError``, `FileError`.
    public func resolve(_ reference: ModelReference, options: PullOptions = PullOptions()) async throws
        -> ResolvedRelease
    {
        switch reference {
        case .family(let family, let version, let variant):
            let selection = CatalogSelection(version: version, variant: variant, deviceMemory: deviceMemory)
            return try await resolve(family, selection, options)
        case .manifest(let url, let family, let version, let variant):
            let catalog = try await fetcher.fetch(url, familyHint: family).catalog
            try refuseExpired(catalog, url, options)
            let selection = CatalogSelection(version: version, variant: variant, deviceMemory: deviceMemory)
            let choice = try catalog.choose(family: try family ?? catalog.onlyFamily(url: url), selection: selection)
            return ResolvedRelease(choice, location: url, isNamed: version != nil)
        case .file(let path):
            let release = try await LocalRelease.describe(path, in: fileSystem)
            return ResolvedRelease(ReleaseChoice(release: release, reason: .asked), location: nil, isNamed: true)
        case .hub(let hub):
            throw CatalogError(
                .unsupportedReference, "this version cannot fetch \(hub)",
                context: ErrorContext(
                    model: hub.description,
                    remedy: "Give the address of a models.json, or download the file and pull its path."))
        }
    }

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
    /// Nothing is fetched if it is there already. Cancelling keeps the bytes that came; the next call goes on behind them.
    /// - Parameters:
    ///   - resolved: what ``resolve(_:options:)`` found.
    ///   - options: what is allowed, and whether to activate.
    ///   - progress: at most ten readings a second, on any thread; `completedBytes` never goes down.
    /// - Throws: ``DeliveryError``, ``TransferError``, ``StoreError``, `HTTPError`, `FileError`, `CancellationError`.
    public func pull(
        _ resolved: ResolvedRelease, options: PullOptions = PullOptions(),
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> PullOutcome {
        try await store.prepare()
        let release = resolved.release
        if let there = try await store.installed(release.identity), there.holds(release) {
            await sweepTransfers(of: release)
            return .alreadyInstalled(try await activateIfWanted(there, options))
        }
        try check(release, options)
        if !resolved.isNamed { try await refuseDowngrade(release, options) }

        var files = [release.file] + release.companions
        try await checkStorage(for: release, files)
        let gate = NetworkGate(policy: NetworkPolicy(metered: options.metered), monitor: network, time: time)
        for index in files.indices { files[index].locations = try await gate.admitted(files[index].locations) }
        let tracker = ReleaseProgress(total: release.totalSize, report: progress)
        let purpose = TransferPurpose(
            release: release.identity, source: resolved.location ?? release.file.locations.first,
            activates: options.activate)
        var requests = files.map {
            TransferRequest($0, bytesPerSecond: options.bytesPerSecond, metered: options.metered)
        }
        if let index = release.index, release.file.size.estimate > UInt64(ChunkIndex.fixedLength) {
            requests[0].index = try await indexes.fetch(index, fileSize: release.file.size.estimate)
        }
        let (installed, fetched) = try await bring(files, requests, for: purpose, tracker) { staged in
            tracker.installing()
            return try await self.store.install(release, files: staged, origin: resolved.location)
        }
        if let weights = installed.weights {
            await ModelPageCacheWarmer.hint(file: weights, below: store.layout.models)
        }
        hub.post(.installed(installed))
        return .installed(try await activateIfWanted(installed, options), fetchedBytes: fetched)
    }

    /// Fetches files, or joins the transfers that do; they stay this pull's until `install` has taken them.
    private func bring(
        _ files: [RemoteFile], _ requests: [TransferRequest], for purpose: TransferPurpose, _ tracker: ReleaseProgress,
        install: ([StagedFile]) async throws -> InstalledRelease
    ) async throws -> (InstalledRelease, fetchedBytes: UInt64) {
        var staged: [StagedFile] = []
        var taken: [TransferRequest] = []
        var fetched: UInt64 = 0
        do {
            for (file, request) in zip(files, requests) {
                let arrived = try await transfers.fetch(request, for: purpose) {
                    tracker.update($0, file: file.size.estimate)
                }
                taken.append(request)
                tracker.fileEnded(file.size.estimate)
                fetched += arrived.fetchedBytes
                staged.append(StagedFile(file, arrived))
            }
            let installed = try await install(staged)
            for request in taken { await transfers.letGo(request, discarding: true) }
            return (installed, fetched)
        } catch {
            for request in taken { await transfers.letGo(request, discarding: false) }
            throw error
        }
    }

    /// What an interruption between installing a release and clearing up has left.
    private func sweepTransfers(of release: Release) async {
        for file in [release.file] + release.companions {
            await transfers.sweep(TransferRequest(file))
        }
    }

    private func activateIfWanted(_ release: InstalledRelease, _ options: PullOptions) async throws -> InstalledRelease
    {
        guard options.activate, !release.isActive else { return release }
        return try await makeLive(release.identity)
    }

    // MARK: - Which release

    private func resolve(
        _ family: Family, _ selection: CatalogSelection, _ options: PullOptions
    ) async throws -> ResolvedRelease {
        guard !origins.isEmpty else { throw Self.noOrigin }
        var listings: [(origin: Origin, catalog: Catalog)] = []
        for origin in origins { listings.append((origin, try await catalog(of: origin))) }
        let offering = listings.filter { $0.catalog.families.contains(family) }
        guard offering.count <= 1 else {
            let names = offering.map(\.origin.name).joined(separator: ", ")
            throw DeliveryError(
                .ambiguous, "several origins offer \(family): \(names)",
                context: ErrorContext(
                    model: family.name, remedy: "Name one: \(offering[0].origin.manifestURL.withoutQuery)#\(family)"))
        }
        let isNamed = selection.version != nil
        guard let (origin, catalog) = offering.first else {
            // Nobody offers it: the choice throws, with the near names over all origins.
            let all = Catalog(releases: listings.flatMap(\.catalog.releases))
            return ResolvedRelease(
                try all.choose(family: family, selection: selection), location: nil, isNamed: isNamed)
        }
        try refuseExpired(catalog, origin.manifestURL, options)
        let choice = try catalog.choose(family: family, selection: selection)
        return ResolvedRelease(choice, location: origin.manifestURL, isNamed: isNamed)
    }

    // MARK: - What speaks against it

    private func refuseExpired(_ catalog: Catalog, _ url: URL, _ options: PullOptions) throws {
        guard let expires = catalog.expires, expires < time.now, !options.allowStale else { return }
        throw DeliveryError(
            .catalogExpired, "the catalog expired on \(expires.formatted(.iso8601))",
            context: ErrorContext(
                url: url.withoutQuery,
                remedy:
                    "What is installed keeps working. Ask the publisher for a fresh catalog, or insist with --allow-stale."
            ))
    }

    private func check(_ release: Release, _ options: PullOptions) throws {
        let missing = ([release.file] + release.companions).first { $0.digest == nil }
        if let missing, !options.allowUnverified {
            throw DeliveryError(
                .digestMissing, "the catalog gives no SHA-256 for \(missing.name), so its bytes cannot be checked",
                context: ErrorContext(
                    model: release.identity.description, file: missing.name.string,
                    remedy: "Ask the publisher for one, or accept any bytes with --allow-unverified."))
        }
        if let archive = release.archive {
            throw DeliveryError(
                .archiveUnsupported,
                "\(release.identity) comes packed as \(archive.format), which this version cannot unpack",
                context: ErrorContext(
                    model: release.identity.description, remedy: "Ask the publisher for the plain file."))
        }
        if let needed = release.requirements.memoryBytes, needed > deviceMemory, !options.ignoreMemory {
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

    private func checkStorage(for release: Release, _ files: [RemoteFile]) async throws {
        let folder = store.transfersFolder
        let (policy, free) = try await blocking { [transfer, fileSystem] in
            let held = try files.map { try transfer.bytesHeld(of: TransferRequest($0)) }
            let policy = StoragePolicy(total: release.totalSize, held: held.reduce(0, +))
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

    private func refuseDowngrade(_ release: Release, _ options: PullOptions) async throws {
        guard !options.allowDowngrade, options.activate else { return }
        guard let active = try await store.active(release.identity.family) else { return }
        guard active.identity.version.isNewer(than: release.identity.version) == true else { return }
        throw DeliveryError(
            .downgrade,
            "the origin offers \(release.identity.version), which is older than the active \(active.identity.version)",
            context: ErrorContext(
                model: release.identity.family.name, expected: "newer than \(active.identity.version)",
                found: release.identity.version.name,
                remedy: "Name the version, or insist with --allow-downgrade."))
    }
}

extension TransferRequest {
    fileprivate init(_ file: RemoteFile, bytesPerSecond: UInt64? = nil, metered: MeteredUse = .deny) {
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
            isVerified: file.digest != nil)
    }
}

extension InstalledRelease {
    /// Whether this is exactly what a source offers: the same files with the same digests.
    func holds(_ release: Release) -> Bool {
        ([release.file] + release.companions).allSatisfy { file in
            guard let digest = file.digest else { return false }
            return receipt.files.contains { $0.name == file.name && $0.digest == digest }
        }
    }
}
