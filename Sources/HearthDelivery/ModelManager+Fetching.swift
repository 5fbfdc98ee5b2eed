import HearthBase

/// How the files of a release come over.
extension ModelManager {
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
            let isUseless = Self.isFinal(error, of: release, for: purpose)
            for request in taken { await transfers.letGo(request, discarding: isUseless) }
            throw error
        }
    }

    /// Whether what came is of no use to the next pull, for its bytes are the promised ones: an archive that is refused now will be the
    /// next time too, and what is held back is refused before it is fetched. Where nothing was promised only the bytes tell what they
    /// are. They stay to be compared with, until somebody who asked for them by name has had them tried: others may come under that name.
    private static func isFinal(_ error: any Error, of release: Release, for purpose: TransferPurpose) -> Bool {
        let isHeldBack =
            (error as? ActivationError)?.code == .probeFailed || (error as? DeliveryError)?.code == .heldBack
        return error is ArchiveError || (isHeldBack && (release.promised != nil || purpose.isNamed))
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
