import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthStore
import HearthTransfer

/// Fetches the files of a release.
struct Fetching: Sendable {
    /// The transfers under way, in this process and others.
    let transfers: TransferManager
    let transfer: FileTransfer
    let indexes: ChunkIndexFetcher
    let remoteHead: RemoteHead
    let network: any NetworkMonitor
    let fileSystem: any FileSystem
    let time: TimeSource

    /// The most files of one release that are fetched at the same time.
    private static let parallelFiles = 16
    /// The most bytes of files that are fetched at the same time; a larger file is fetched alone, over many
    /// connections. So a killed process loses no more bytes than with one large file.
    private static let parallelBytes: UInt64 = 16 << 20

    /// Fetches files in parallel, or joins the transfers that already do. This pull keeps the transfers until `install`
    /// returns. The first failure stops the other fetches, which keep their bytes.
    func fetchAll<Outcome: Sendable>(
        _ files: [RemoteFile], _ requests: [TransferRequest], of release: Release, for purpose: TransferPurpose,
        _ tracker: ReleaseProgress, install: ([StagedFile]) async throws -> Outcome
    ) async throws -> (Outcome, fetchedBytes: UInt64) {
        let taken = Locked<[TransferRequest]>([])
        do {
            let fetched = try await tracker.whileTicking {
                try await self.fetchFiles(files, requests, release, purpose.tag, tracker, taken)
            }
            let installed = try await install(fetched.map(\.file))
            await endUse(of: taken.withLock { $0 }, discarding: true)
            return (installed, fetched.map(\.fetchedBytes).saturatedSum)
        } catch {
            // A refused archive would be refused again, so its bytes are discarded.
            let isUseless = (error as? StoreError)?.refusesArchive == true
            await endUse(of: taken.withLock { $0 }, discarding: isUseless)
            throw error
        }
    }

    /// Ends the use of fetched files, several at a time.
    private func endUse(of requests: [TransferRequest], discarding: Bool) async {
        await withDiscardingTaskGroup { group in
            for request in requests {
                group.addTask { await self.transfers.release(request, discarding: discarding) }
            }
        }
    }

    private typealias Fetched = (file: StagedFile, fetchedBytes: UInt64)

    /// Fetches files, several at a time; returns them in the given order.
    private func fetchFiles(
        _ files: [RemoteFile], _ requests: [TransferRequest], _ release: Release, _ tag: String?,
        _ tracker: ReleaseProgress, _ taken: Locked<[TransferRequest]>
    ) async throws -> [Fetched] {
        try await withThrowingTaskGroup(of: (Int, Fetched).self) { group in
            var fetched: [Int: Fetched] = [:]
            var coming: Set<Int> = []
            for (index, (file, request)) in zip(files, requests).enumerated() {
                while !Self.mayBegin(request, beside: coming.map { requests[$0] }),
                    let (done, file) = try await group.next()
                {
                    fetched[done] = file
                    coming.remove(done)
                }
                coming.insert(index)
                group.addTask {
                    let fetched = try await self.fetchFile(file, request, release, tag, taken) {
                        tracker.update(index, $0)
                    }
                    tracker.fileEnded(index, fetched.file.size)
                    return (index, fetched)
                }
            }
            for try await (done, file) in group { fetched[done] = file }
            return files.indices.compactMap { fetched[$0] }
        }
    }

    /// Whether a file may be fetched beside others. With a rate limit, files are fetched one by one.
    private static func mayBegin(_ request: TransferRequest, beside others: [TransferRequest]) -> Bool {
        if others.isEmpty { return true }
        guard others.count < parallelFiles, request.bytesPerSecond == nil else { return false }
        return ([request] + others).map(\.size.estimate).saturatedSum <= parallelBytes
    }

    private func fetchFile(
        _ file: RemoteFile, _ plain: TransferRequest, _ release: Release, _ tag: String?,
        _ taken: Locked<[TransferRequest]>, progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> Fetched {
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
    private func localCopy(of file: RemoteFile) async throws -> StagedFile? {
        guard !file.copies.isEmpty else { return nil }
        return try await StopFlag.blocking { [fileSystem] flag in
            try LocalCopy(fileSystem: fileSystem, flag: flag).find(file)
        }
    }

    /// Refuses files whose last attempt brought wrong bytes: they are fetched again when a person asks for them.
    /// - Throws: `TransferError` with `checksum-mismatch`; `FileError`.
    func refuseCorrupted(_ files: [RemoteFile]) async throws {
        for file in files {
            guard try await transfers.isCorrupted(TransferRequest(file)) else { continue }
            throw TransferError(
                .checksumMismatch, "the last download of \(file.name) did not match its checksum",
                context: ErrorContext(
                    file: file.name.string, expected: file.digest?.hex,
                    remedy: "Pull the model to try again, and tell the publisher if it stays so."))
        }
    }

    func gate(_ metered: MeteredUse) -> NetworkGate {
        NetworkGate(policy: NetworkPolicy(metered: metered), monitor: network, time: time)
    }

    /// Reads the beginning of an offered file, as ``RemoteHead/read(_:upTo:until:)`` does, and keeps none of it.
    func head(
        of file: RemoteFile, metered: MeteredUse, upTo limit: Int, until isEnough: (Data) throws -> Bool
    ) async throws -> Data {
        var file = file
        file.locations = try await gate(metered).admitted(file.locations)
        return try await remoteHead.read(TransferRequest(file), upTo: limit, until: isEnough)
    }
}

extension TransferRequest {
    package init(_ file: RemoteFile, bytesPerSecond: UInt64? = nil, metered: MeteredUse = .deny) {
        self.init(
            label: file.name.string, locations: file.locations, size: file.size, digest: file.digest,
            bytesPerSecond: bytesPerSecond)
        isPublic = file.isPublic
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
