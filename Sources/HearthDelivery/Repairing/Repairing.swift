import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthStore
import HearthTransfer

/// Replaces the damaged files of installed releases.
struct Repairing: Sendable {
    let store: ModelStore
    let sources: CatalogSources
    let device: DeviceLimits
    let fetching: Fetching
    let admission: Admission

    func verify(
        _ identity: ReleaseIdentity, _ progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> VerificationReport {
        let reporter = ProgressReporter(time: sources.time, report: progress)
        return try await store.verify(identity) { reporter.report(.verifying, $0, $1) }
    }

    func repair(
        _ identity: ReleaseIdentity, _ options: PullOptions,
        _ progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> RepairReport {
        let found = try await verify(identity, progress)
        var report = try await restore(
            found.files.filter { $0.outcome != .intact }.map(\.expected), of: identity, options, progress)
        let damaged = found.artifacts.filter { $0.outcome != .intact }.map(\.artifact)
        report.dropped = damaged
        report.remade = try await remake(damaged, of: identity)
        return report
    }

    /// Replaces damaged files of a release, with files of this device if possible.
    private func restore(
        _ damaged: [Receipt.File], of identity: ReleaseIdentity, _ options: PullOptions,
        _ progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> RepairReport {
        let receipt = try await store.receipt(of: identity)
        guard !damaged.isEmpty else {
            await sweepTransfers(of: receipt)
            return RepairReport(identity: identity, repaired: [], alsoRepaired: [], fetchedBytes: 0)
        }
        let offered = await offered(receipt, for: damaged)
        var also: Set<ReleaseIdentity> = []
        var fetched: UInt64 = 0
        var packed: [Receipt.File] = []
        for file in damaged {
            if let whole = try await store.intactCopy(of: file) {
                also.formUnion(try await store.replace(file, of: identity, with: whole))
                continue
            }
            let isBeside = offered?.files.dropFirst().contains { $0.name == file.name && $0.digest == file.digest }
            if receipt.archive != nil, file.source == nil, isBeside != true {
                packed.append(file)
                continue
            }
            let (more, bytes) = try await repairPlain(file, of: receipt, offered, options, progress)
            also.formUnion(more)
            fetched += bytes
        }
        if !packed.isEmpty {
            let (more, bytes) = try await repairPacked(packed, of: receipt, offered, options, progress)
            also.formUnion(more)
            fetched += bytes
        }
        return RepairReport(
            identity: identity, repaired: damaged.map(\.name),
            alsoRepaired: also.sorted(by: ReleaseIdentity.isListedBefore),
            fetchedBytes: fetched)
    }

    /// Removes damaged artifacts of a release, and makes the one in use again from verified weights.
    private func remake(_ damaged: [Artifact], of identity: ReleaseIdentity) async throws -> Artifact? {
        guard !damaged.isEmpty else { return nil }
        try await store.remove(damaged)
        guard let preparer = device.preparer else { return nil }
        let lease = try await store.lease(identity)
        defer { lease.release() }
        guard let release = try await store.installed(identity) else { return nil }
        guard let made = try await store.prepare(release, by: preparer, under: lease, rehashing: false) else {
            return nil
        }
        return made.isNew ? made.artifact : nil
    }

    /// Deletes the transfers that an interrupted repair left; all files are undamaged.
    private func sweepTransfers(of receipt: Receipt) async {
        let contents =
            receipt.files.map { ($0.digest, $0.size) }
            + [receipt.archive].compactMap(\.self).map { ($0.digest, $0.size) }
        for (digest, size) in contents {
            await fetching.transfers.sweep(
                TransferRequest(label: "", locations: [], size: .exact(size), digest: digest))
        }
    }

    /// The release as its origin lists it now, with fresh addresses; `nil` if only the receipt's addresses are known.
    private func offered(_ receipt: Receipt, for damaged: [Receipt.File]) async -> Release? {
        guard let url = receipt.origin else { return nil }
        do {
            let listing: CatalogListing
            if let repository = ReleaseOrigin(receipt).repository {
                // The files of a commit or a digest never change: the source is asked only if the receipt lacks an address.
                guard damaged.contains(where: { $0.source == nil }), let commit = repository.at(url.lastPathComponent)
                else {
                    return nil
                }
                listing = try await sources.source(commit).listing(.asPublished)
            } else {
                let origin =
                    sources.origins.first { $0.key == receipt.originDigest }
                    ?? sources.origins.first { $0.manifestURL.withoutSecrets == url.withoutSecrets }
                    ?? Origin(name: receipt.identity.family.name, manifestURL: url)
                listing = try await sources.source(origin, family: receipt.identity.family).listing(.asPublished)
            }
            return listing.catalog.releases.first { $0.identity == receipt.identity.published }
        } catch {
            Log.write(.info, "store", "\(receipt.identity) is repaired by its receipt alone: \(error)")
            return nil
        }
    }

    /// Fetches a damaged file, with its intact chunks as the seed, and replaces it.
    private func repairPlain(
        _ file: Receipt.File, of receipt: Receipt, _ offered: Release?, _ options: PullOptions,
        _ progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> (also: Set<ReleaseIdentity>, fetchedBytes: UInt64) {
        let identity = receipt.identity
        // A hub knows small files only by git blob ID; the received bytes are compared with the receipt anyway.
        let remote = offered?.files.first {
            $0.name == file.name && ($0.digest == file.digest || $0.digest == nil && $0.gitBlob != nil)
        }
        let locations = remote?.locations ?? [file.source].compactMap(\.self)
        guard !locations.isEmpty else { throw Self.notRepairable(identity, file.name.string) }
        var release = Release(
            identity: identity, id: receipt.manifestEntry,
            file: RemoteFile(
                name: file.name, role: file.role, size: .exact(file.size), digest: file.digest, locations: locations))
        let name = file.name.withSuffix(".index") ?? file.name
        let known = file.role == .weights ? receipt.index : file.index
        release.index = remote.map { offered?.index(of: $0) } ?? known.flatMap { RemoteFile($0, name: name) }
        let seed = store.layout.folder(of: identity).appending(file.name)
        return try await fetchMainFile(release, seeds: [seed], for: receipt, options, progress) { staged, _ in
            try await store.replace(file, of: identity, with: staged.path)
        }
    }

    /// Fetches an archive again, unpacks it beside the release, and replaces the damaged files from it.
    private func repairPacked(
        _ damaged: [Receipt.File], of receipt: Receipt, _ offered: Release?, _ options: PullOptions,
        _ progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> (also: Set<ReleaseIdentity>, fetchedBytes: UInt64) {
        let identity = receipt.identity
        guard var release = offered, release.file.digest == receipt.archive?.digest else {
            throw Self.notRepairable(identity, damaged.first?.name.string)
        }
        // The files beside the archive are repaired one by one.
        release.companions.removeAll { !$0.locations.isEmpty }
        release.classes?.labels = nil
        try await admission.checkStorage(for: release, [release.file], [])
        return try await fetchMainFile(release, for: receipt, options, progress) { [release] staged, tracker in
            try await store.replace(
                damaged, of: identity, from: staged, of: release, progress: tracker.extraction())
        }
    }

    /// Fetches the main file of a release for a repair.
    private func fetchMainFile<Outcome: Sendable>(
        _ release: Release, seeds: [Path] = [], for receipt: Receipt, _ options: PullOptions,
        _ progress: @escaping @Sendable (TransferProgress) -> Void,
        replace: (StagedFile, ReleaseProgress) async throws -> Outcome
    ) async throws -> (Outcome, fetchedBytes: UInt64) {
        var file = release.file
        file.locations = try await fetching.gate(options.metered).admitted(file.locations)
        var request = TransferRequest(file, bytesPerSecond: options.bytesPerSecond, metered: options.metered)
        request.seeds = seeds
        let purpose = TransferPurpose(release: receipt.identity, source: receipt.origin, activates: false)
        let tracker = ReleaseProgress([file.size], report: progress)
        return try await fetching.fetchAll([file], [request], of: release, for: purpose, tracker) {
            try await replace($0[0], tracker)
        }
    }

    private static func notRepairable(_ identity: ReleaseIdentity, _ file: String?) -> StoreError {
        StoreError(
            .notRepairable, "the damaged files of \(identity) have no download URL",
            context: ErrorContext(
                model: identity.description, file: file, remedy: "Remove the release and pull it again."))
    }
}

extension RemoteFile {
    /// Creates a remote file from a receipt's reference; `nil` if the reference has no address.
    fileprivate init?(_ reference: Receipt.Reference, name: RelativePath) {
        guard let source = reference.source else { return nil }
        self.init(
            name: name, role: .index, size: .exact(reference.size), digest: reference.digest, locations: [source])
    }
}
