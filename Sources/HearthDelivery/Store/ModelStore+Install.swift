import Foundation
import HearthBase

extension ModelStore {
    /// Makes files a release of this device: all of them, or nothing.
    ///
    /// Files below ``transfersFolder`` are taken from there without a copy, others are copied and stay. What another release has
    /// with the same bytes is read again and stored once. Where the same
    /// release is installed already its bytes are read again: if they are right nothing changes, else it is replaced.
    /// Blocks no task of the cooperative pool; cancellation is heeded until the release moves into place.
    /// - Parameters:
    ///   - release: what its catalog says of it.
    ///   - files: every file of the release that is not in its archive, with digests computed on this device.
    ///   - archive: the archive of a release that comes in one, compared with its digest; what is in it is unpacked.
    ///   - origin: the manifest it came from.
    ///   - progress: hears of bytes unpacked, at most ten times a second.
    ///   - trial: tries what is about to take the place of other bytes that are live; they stay where it throws. `nil` makes
    ///     live what is whole.
    /// - Throws: what `trial` throws; `reserved-name`, `staged-file-changed`, `classes-mismatch`, `home-busy`; `release-in-use` where another release of that version is there
    ///   and read; ``ArchiveError``, `FileError`.
    public func install(
        _ release: Release, files: [StagedFile], archive: StagedFile? = nil, origin: URL?,
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in },
        trial: (@Sendable (InstalledRelease) async throws -> Void)? = nil
    ) async throws -> InstalledRelease {
        let identity = release.identity
        try check(release, files, archive)
        try await prepare()
        let work = Installation(release: release, files: files, archive: archive, origin: origin, date: time.now)

        if let kept = try await keep(work) { return kept }
        let before = try folderIdentity(identity)
        if trial != nil { try await expectUntried(identity) }
        let staging = try await committing {
            try Staging(identity, layout: layout, fileSystem: fileSystem)
        }
        defer { staging.close() }
        let receipt: Receipt
        do {
            let reporter = ProgressReporter(time: time, report: progress)
            let holders = try await holders()
            receipt = try await StopFlag.blocking { try work.fill(staging, holders: holders, flag: $0, reporter) }
        } catch let error as FileError where error.code == .notFound {
            // Another process may have installed the same files, and taken them from the transfers folder.
            if let kept = try await keep(work) { return kept }
            throw error
        }
        var isTried = false
        while true {
            if let trial, !isTried, try replacesLive(receipt) {
                try await tryOut(staging, receipt, in: trial)
                isTried = true
            }
            let installed = try await committing { () -> InstalledRelease? in
                // Another process that was quicker installed the same release: its work is as good.
                let isAnother = try folderIdentity(identity) != before
                if isAnother, case .whole(let found) = try shelf.find(identity), found.isSameContent(as: receipt),
                    found.isVerified || !receipt.isVerified
                {
                    Log.write(.info, "delivery.store", "\(identity) was installed by another process meanwhile")
                } else if trial != nil, try replacesLive(receipt) {
                    // What became live only now is not replaced by what nobody has tried.
                    guard isTried else { return nil }
                    try replaceLive(by: staging, receipt)
                } else {
                    try staging.commit(receipt)
                }
                consume(work)
                guard let installed = try read(identity) else { throw notInstalled(identity.description) }
                return installed
            }
            if let installed { return installed }
        }
    }

    /// The installed release, if re-hashing shows that it is the same already.
    private func keep(_ work: Installation) async throws -> InstalledRelease? {
        let identity = work.release.identity
        guard case .whole(let found) = try shelf.find(identity), work.isDone(by: found) else { return nil }
        let folder = layout.folder(of: identity)
        let report = try await StopFlag.blocking { [fileSystem] flag in
            try Verification(receipt: found, folder: folder, fileSystem: fileSystem, flag: flag).run()
        }
        guard report.isIntact else { return nil }
        return try await committing { () -> InstalledRelease? in
            guard case .whole(var current) = try shelf.find(identity), work.isDone(by: current) else { return nil }
            if work.isVerified, !current.isVerified {
                current.isVerified = true
                try fileSystem.replaceContents(of: HomeLayout.receipt(in: folder), with: try current.data())
            }
            // An earlier attempt may have failed between moving the release in and bringing that to the disk.
            try fileSystem.synchronizeFolder(folder.parent)
            consume(work)
            return try read(identity)
        }
    }

    private func check(_ release: Release, _ files: [StagedFile], _ archive: StagedFile?) throws {
        let model = release.identity.description
        if HomeLayout.isReserved(release.identity) {
            throw StoreError(
                .reservedName,
                "\(model) cannot be installed: the store keeps the name "
                    + "\(release.identity.folderName) for itself", context: ErrorContext(model: model))
        }
        for file in files {
            if let objection = Receipt.objection(to: file.name) {
                throw StoreError(
                    .reservedName, "\(model) cannot be installed: its file \(file.name) has a name of the store's own",
                    context: ErrorContext(model: model, file: file.name.string, found: objection))
            }
        }
        guard !files.isEmpty || archive != nil else {
            throw StoreError(
                .stagedFileChanged, "\(model) came without a file", context: ErrorContext(model: model))
        }
        var names = DistinctPaths()
        for file in files {
            guard let other = names.insert(file.name) else { continue }
            throw StoreError(
                .stagedFileChanged, "\(file.name) and \(other) of \(model) cannot lie in one folder",
                context: ErrorContext(model: model, file: file.name.string))
        }
        // What an entry promises about a file's bytes holds for the file of that name.
        for (index, remote) in release.files.enumerated() {
            let isArchive = index == 0 && release.archive != nil
            let staged = isArchive ? archive : files.first { $0.name == remote.name }
            guard let file = staged, let promised = remote.digest else { continue }
            guard promised == file.digest else {
                throw StoreError(
                    .stagedFileChanged, "\(file.name) is not the file that \(model) promises",
                    context: ErrorContext(
                        model: model, file: file.path.string, expected: promised.hex, found: file.digest.hex))
            }
        }
    }

    func folderIdentity(_ identity: ReleaseIdentity) throws -> FileIdentity? {
        try fileSystem.status(at: layout.folder(of: identity), followLinks: false)?.identity
    }

    /// Takes the first name from files that have one in the release now.
    private func consume(_ work: Installation) {
        for file in work.files + [work.archive].compactMap(\.self) where layout.isTransfer(file.path) {
            do {
                try fileSystem.removeFile(file.path)
            } catch {
                Log.write(.info, "delivery.store", "\(file.path) stays until the next start: \(error)")
            }
        }
    }
}

extension Receipt {
    /// The digest of all that the release holds: of names, lengths and digests of its files.
    var content: SHA256Digest { SHA256Digest(listing: files.map { ($0.name, $0.size, $0.digest) }) }

    /// Whether two receipts tell of the same bytes.
    func isSameContent(as other: Receipt) -> Bool {
        guard identity == other.identity, files.count == other.files.count else { return false }
        return zip(files.sorted { $0.name < $1.name }, other.files.sorted { $0.name < $1.name })
            .allSatisfy { $0.isSameContent(as: $1) }
    }
}
