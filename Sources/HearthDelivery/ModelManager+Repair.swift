import Foundation
import HearthBase

/// What mending a release did.
public struct RepairReport: Sendable, Hashable {
    public let identity: ReleaseIdentity
    /// The files that were not what the receipt says, and are again.
    public let mended: [RelativePath]
    /// Other releases that had one of these files in common and were mended with it.
    public let alsoMended: [ReleaseIdentity]
    /// The bytes that came over the network.
    public let fetchedBytes: UInt64
    /// What engines had made of it, was damaged and is opened no more.
    public var dropped: [PreparedRelease] = []
    /// What was made in the place of that; `nil` where nothing is made of the release now, or that failed: then it is opened as it came.
    public var remade: PreparedRelease?
}

extension ModelManager {
    /// Re-hashes a release and mends what is not what its receipt says.
    ///
    /// A file that another release holds whole is taken from there. What came in an archive comes with all of that again, and only
    /// what is damaged is replaced. Of a file with a chunk index only the damaged chunks are fetched: into a copy, which then takes the file's place in one step. So whoever reads the file now goes on reading
    /// the one that was there. Every release that shared the damaged file gets the mended one.
    ///
    /// What an engine made of the release and is damaged goes, and is made again; where somebody reads it, it goes once nobody does.
    /// - Throws: ``StoreError`` with `not-installed`, `receipt-damaged`, `not-repairable`; what a transfer throws.
    public func repair(
        _ identity: ReleaseIdentity, options: PullOptions = PullOptions(),
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> RepairReport {
        let found = try await store.verify(identity, progress: progress)
        var report = try await mend(
            found.files.filter { $0.outcome != .intact }.map(\.expected), of: identity, options, progress)
        let damaged = found.prepared.filter { $0.outcome != .intact }
        report.dropped = damaged.map(\.artefact)
        report.remade = try await remake(damaged, of: identity)
        return report
    }

    private func mend(
        _ damaged: [Receipt.File], of identity: ReleaseIdentity, _ options: PullOptions,
        _ progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> RepairReport {
        let receipt = try await store.receipt(of: identity)
        guard !damaged.isEmpty else {
            await sweepTransfers(of: receipt)
            return RepairReport(identity: identity, mended: [], alsoMended: [], fetchedBytes: 0)
        }
        let offered = await offered(receipt, for: damaged)
        var also: Set<ReleaseIdentity> = []
        var fetched: UInt64 = 0
        var packed: [Receipt.File] = []
        for file in damaged {
            if let whole = try await store.wholeCopy(of: file) {
                also.formUnion(try await store.mend(file, of: identity, from: whole))
                continue
            }
            let isBeside = offered?.files.dropFirst().contains { $0.name == file.name && $0.digest == file.digest }
            if receipt.archive != nil, file.source == nil, isBeside != true {
                packed.append(file)
                continue
            }
            let (request, arrived) = try await fetch(file, of: receipt, offered, options, progress)
            do {
                also.formUnion(try await store.mend(file, of: identity, from: arrived.path))
            } catch {
                await transfers.letGo(request, discarding: false)
                throw error
            }
            await transfers.letGo(request, discarding: true)
            fetched += arrived.fetchedBytes
        }
        if !packed.isEmpty {
            let (more, bytes) = try await repairPacked(packed, of: receipt, offered, options, progress)
            also.formUnion(more)
            fetched += bytes
        }
        return RepairReport(
            identity: identity, mended: damaged.map(\.name),
            alsoMended: also.sorted(by: ReleaseIdentity.isListedBefore),
            fetchedBytes: fetched)
    }

    /// Has made again what an engine had made of a release, from files that are whole.
    private func remake(
        _ damaged: [VerificationReport.Prepared], of identity: ReleaseIdentity
    ) async throws -> PreparedRelease? {
        guard !damaged.isEmpty else { return nil }
        try await store.drop(damaged)
        guard let preparer else { return nil }
        let lease = try await store.lease(identity)
        defer { lease.release() }
        guard let release = try await store.installed(identity) else { return nil }
        let outcome = try await ReleasePreparation(store: store, preparer: preparer, lease: lease) { _ in }
            .prepare(release, rehashing: false)
        return outcome.isNew ? outcome.prepared : nil
    }

    /// Takes away what an interrupted repair fetched and did not come to remove: everything is here.
    private func sweepTransfers(of receipt: Receipt) async {
        let contents =
            receipt.files.map { ($0.digest, $0.size) }
            + [receipt.archive].compactMap(\.self).map { ($0.digest, $0.size) }
        for (digest, size) in contents {
            await transfers.sweep(TransferRequest(label: "", locations: [], size: .exact(size), digest: digest))
        }
    }

    /// What the origin says of a release today: fresh addresses. `nil` where it says nothing; the receipt knows the old ones.
    private func offered(_ receipt: Receipt, for damaged: [Receipt.File]) async -> Release? {
        guard let url = receipt.origin else { return nil }
        do {
            let listing: CatalogListing
            if let hub = ReleaseOrigin(receipt).hub {
                // What a commit holds never moves: a hub is asked only for what the receipt has no address of.
                guard damaged.contains(where: { $0.source == nil }), let commit = hub.at(url.lastPathComponent) else {
                    return nil
                }
                listing = try await source(commit).listing(.asPublished)
            } else {
                let origin =
                    origins.first { $0.manifestURL.addressDigest == receipt.originDigest }
                    ?? origins.first { $0.manifestURL.withoutSecrets == url.withoutSecrets }
                    ?? Origin(name: receipt.identity.family.name, manifestURL: url)
                listing = try await source(origin, family: receipt.identity.family).listing(.asPublished)
            }
            return listing.catalog.releases.first { $0.identity == receipt.identity }
        } catch {
            Log.write(.info, "delivery.store", "\(receipt.identity) is mended by its receipt alone: \(error)")
            return nil
        }
    }

    /// Brings a file over once more, from what is right of the damaged one.
    private func fetch(
        _ file: Receipt.File, of receipt: Receipt, _ offered: Release?, _ options: PullOptions,
        _ progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> (TransferRequest, TransferredFile) {
        // A hub knows small files by git's name only; what comes is compared with the receipt all the same.
        let remote = offered?.files.first {
            $0.name == file.name && ($0.digest == file.digest || $0.digest == nil && $0.gitBlob != nil)
        }
        let locations = remote?.locations ?? [file.source].compactMap(\.self)
        guard !locations.isEmpty else { throw Self.notRepairable(receipt.identity, file.name.string) }
        let gate = NetworkGate(policy: NetworkPolicy(metered: options.metered), monitor: network, time: time)
        let source = RemoteFile(
            name: file.name, role: file.role, size: .exact(file.size), digest: file.digest,
            locations: try await gate.admitted(locations))
        var request = TransferRequest(source, bytesPerSecond: options.bytesPerSecond, metered: options.metered)
        if file.size > UInt64(ChunkIndex.fixedLength) {
            let name = file.name.withSuffix(".index") ?? file.name
            let known = file.role == .weights ? receipt.index : file.index
            if let index = remote.map({ offered?.index(of: $0) }) ?? known.flatMap({ RemoteFile($0, name: name) }) {
                request.index = try await indexes.fetch(index, fileSize: file.size, through: gate)
            }
        }
        if request.index != nil {
            try await store.seed(file, of: receipt.identity, into: try TransferKey(request).name)
        }
        let purpose = TransferPurpose(release: receipt.identity, source: receipt.origin, activates: false)
        return (request, try await transfers.fetch(request, for: purpose, progress: progress))
    }

    /// An archive comes again as a whole and is unpacked beside the release; of that, what was damaged takes its place.
    private func repairPacked(
        _ damaged: [Receipt.File], of receipt: Receipt, _ offered: Release?, _ options: PullOptions,
        _ progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> (also: Set<ReleaseIdentity>, fetchedBytes: UInt64) {
        let identity = receipt.identity
        guard var release = offered, release.file.digest == receipt.archive?.digest else {
            throw Self.notRepairable(identity, damaged.first?.name.string)
        }
        // The files beside the archive are no part of this.
        release.companions.removeAll { !$0.locations.isEmpty }
        release.classes?.labels = nil
        try await checkStorage(for: release, [release.file], [])
        let gate = NetworkGate(policy: NetworkPolicy(metered: options.metered), monitor: network, time: time)
        release.file.locations = try await gate.admitted(release.file.locations)
        let request = TransferRequest(
            release.file, bytesPerSecond: options.bytesPerSecond, metered: options.metered)
        let purpose = TransferPurpose(release: identity, source: receipt.origin, activates: false)
        let tracker = ReleaseProgress([release.file.size], report: progress)
        let whole = release
        return try await bring([release.file], [request], of: release, for: purpose, tracker) { staged in
            try await self.store.mend(damaged, of: identity, from: staged[0], of: whole) { tracker.extracting($0) }
        }
    }

    private static func notRepairable(_ identity: ReleaseIdentity, _ file: String?) -> StoreError {
        StoreError(
            .notRepairable, "nobody says where the files of \(identity) come from",
            context: ErrorContext(
                model: identity.description, file: file,
                remedy: "Remove it with 'hearth remove \(identity)' and bring it again with 'hearth pull'."))
    }
}

extension RemoteFile {
    /// A file that a receipt tells of, `nil` where it does not say where that is.
    fileprivate init?(_ reference: Receipt.Reference, name: RelativePath) {
        guard let source = reference.source else { return nil }
        self.init(
            name: name, role: .index, size: .exact(reference.size), digest: reference.digest, locations: [source])
    }
}
