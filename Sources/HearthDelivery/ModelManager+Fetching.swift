import HearthBase
import HearthCatalog
import HearthHTTP
import HearthStore
import HearthTransfer

/// Fetches the files of a release.
extension ModelManager {
    /// The most files of one release that are fetched at the same time.
    private static let parallelFiles = 16
    /// The most bytes of files that are fetched at the same time; a larger file is fetched alone, over many
    /// connections. So a killed process loses no more bytes than with one large file.
    private static let parallelBytes: UInt64 = 16 << 20

    /// Fetches files in parallel, or joins the transfers that already do. This pull keeps the transfers until `install`
    /// returns. The first failure stops the other fetches, which keep their bytes.
    func bring<Outcome: Sendable>(
        _ files: [RemoteFile], _ requests: [TransferRequest], of release: Release, for purpose: TransferPurpose,
        _ tracker: ReleaseProgress, install: ([StagedFile]) async throws -> Outcome
    ) async throws -> (Outcome, fetchedBytes: UInt64) {
        let taken = Locked<[TransferRequest]>([])
        do {
            let arrivals = try await tracker.whileTicking {
                try await self.arrivals(of: files, requests, release, purpose.tag, tracker, taken)
            }
            let installed = try await install(arrivals.map(\.file))
            await endUse(of: taken.withLock { $0 }, discarding: true)
            return (installed, arrivals.map(\.fetchedBytes).saturatedSum)
        } catch {
            // A refused archive would be refused again, so its bytes are discarded.
            let isUseless = (error as? StoreError)?.refusesArchive == true
            await endUse(of: taken.withLock { $0 }, discarding: isUseless)
            throw error
        }
    }

    /// Ends the use of fetched files, several at a time.
    private nonisolated func endUse(of requests: [TransferRequest], discarding: Bool) async {
        await withDiscardingTaskGroup { group in
            for request in requests {
                group.addTask { await self.transfers.release(request, discarding: discarding) }
            }
        }
    }

    private typealias Arrival = (file: StagedFile, fetchedBytes: UInt64)

    /// Fetches files, several at a time; returns them in the given order.
    private nonisolated func arrivals(
        of files: [RemoteFile], _ requests: [TransferRequest], _ release: Release, _ tag: String?,
        _ tracker: ReleaseProgress, _ taken: Locked<[TransferRequest]>
    ) async throws -> [Arrival] {
        try await withThrowingTaskGroup(of: (Int, Arrival).self) { group in
            var arrivals: [Int: Arrival] = [:]
            var coming: Set<Int> = []
            for (index, (file, request)) in zip(files, requests).enumerated() {
                while !Self.mayBegin(request, beside: coming.map { requests[$0] }),
                    let (done, arrival) = try await group.next()
                {
                    arrivals[done] = arrival
                    coming.remove(done)
                }
                coming.insert(index)
                group.addTask {
                    let arrival = try await self.arrival(of: file, request, release, tag, taken) {
                        tracker.update(index, $0)
                    }
                    tracker.fileEnded(index, arrival.file.size)
                    return (index, arrival)
                }
            }
            for try await (done, arrival) in group { arrivals[done] = arrival }
            return files.indices.compactMap { arrivals[$0] }
        }
    }

    /// Whether a file may be fetched beside others. With a rate limit, files are fetched one by one.
    private static func mayBegin(_ request: TransferRequest, beside others: [TransferRequest]) -> Bool {
        if others.isEmpty { return true }
        guard others.count < parallelFiles, request.bytesPerSecond == nil else { return false }
        return ([request] + others).map(\.size.estimate).saturatedSum <= parallelBytes
    }

    private nonisolated func arrival(
        of file: RemoteFile, _ plain: TransferRequest, _ release: Release, _ tag: String?,
        _ taken: Locked<[TransferRequest]>, progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> Arrival {
        if let copy = try await localCopy(of: file) { return (copy, 0) }
        var request = plain
        if let index = release.index(of: file), file.size.estimate > UInt64(ChunkIndex.fixedLength) {
            request.index = try await indexes.fetch(
                TransferRequest(index), fileSize: file.size.estimate, through: gate(request.metered))
        }
        let arrived = try await transfers.fetch(request, tag: tag, with: transfer, progress: progress)
        taken.withLock { [request] in $0.append(request) }
        return (StagedFile(file, arrived), arrived.fetchedBytes)
    }

    /// Finds the bytes of a file on this machine, outside the store.
    private nonisolated func localCopy(of file: RemoteFile) async throws -> StagedFile? {
        guard !file.copies.isEmpty else { return nil }
        return try await StopFlag.blocking { [fileSystem] flag in
            try LocalCopy(fileSystem: fileSystem, flag: flag).find(file)
        }
    }
}

extension TransferRequest {
    package init(_ file: RemoteFile, bytesPerSecond: UInt64? = nil, metered: MeteredUse = .deny) {
        self.init(
            label: file.name.string, locations: file.locations, size: file.size, digest: file.digest,
            bytesPerSecond: bytesPerSecond)
        gitBlob = file.gitBlob
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
