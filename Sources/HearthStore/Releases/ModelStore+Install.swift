import Foundation
import HearthBase
import HearthCatalog

extension ModelStore {
    /// Installs a release from files, completely or not at all.
    ///
    /// Files below ``transfersFolder`` are moved from there, others are copied and stay. A file that another release
    /// already holds is re-read and stored once. If a release with the same content is installed, its bytes are
    /// re-read: damaged ones are replaced, and intact ones stay. If other bytes have the plain name, the release gets a
    /// content tag. Blocks no task of the cooperative pool; can be cancelled until the release moves into place.
    /// - Parameters:
    ///   - release: the release from its catalog.
    ///   - files: every file of the release that is not in its archive, with digests computed on this device.
    ///   - archive: the archive of a release that comes in one, compared with its digest; its contents are unpacked.
    ///   - origin: the manifest that lists the release.
    ///   - progress: receives the bytes unpacked.
    /// - Returns: the release with its final identity.
    /// - Throws: `reserved-name`, `staged-file-changed`, `classes-mismatch`, `home-busy`,
    ///   the codes of a refused archive; `FileError`.
    package func install(
        _ release: Release, files: [StagedFile], archive: StagedFile? = nil, origin: Origin?,
        progress: @escaping StoreProgress = { _, _ in }
    ) async throws -> InstalledRelease {
        try check(release, files, archive)
        try await prepare()
        let work = Installation(release: release, files: files, archive: archive, origin: origin, date: time.now)

        if let kept = try await keep(work) { return kept }
        let staging = try await committing {
            try deactivateUnknown(release.identity)
            return try Staging(release.identity, layout: layout, fileSystem: fileSystem)
        }
        defer { staging.close() }
        let staged: Receipt
        do {
            let holders = try await holders()
            staged = try await StopFlag.blocking { try work.fill(staging, holders: holders, flag: $0, progress) }
        } catch let error as FileError where error.code == .notFound {
            // Another process may have installed the same files, which removes them from the transfers folder.
            if let kept = try await keep(work) { return kept }
            throw error
        }
        return try await committing {
            let identity = try directory.identity(for: staged.content, publishedAs: release.identity)
            var receipt = staged.named(identity)
            if case .whole(let there) = try directory.find(identity), there.isVerified { receipt.isVerified = true }
            try staging.commit(receipt)
            consume(work)
            return try require(identity)
        }
    }

    /// The identity for a release with these bytes: that of an installed one, else a new one.
    package func identity(for content: SHA256Digest, publishedAs identity: ReleaseIdentity) async throws
        -> ReleaseIdentity
    {
        try await inspect()
        return try directory.identity(for: content, publishedAs: identity)
    }

    /// The installed releases of one version and variant, with and without a content tag; the live one first.
    package func installed(sameNameAs identity: ReleaseIdentity) async throws -> [ReleaseIdentity] {
        let active = try await state(of: identity.family).active
        let all = try directory.releases(publishedAs: identity)
        return all.filter { $0 == active } + all.filter { $0 != active }
    }

    /// The installed release that has these bytes, if re-hashing shows that it is whole.
    private func keep(_ work: Installation) async throws -> InstalledRelease? {
        let installed = try directory.releases(publishedAs: work.release.identity)
        for identity in installed {
            guard case .whole(let found) = try directory.find(identity), work.isDone(by: found) else { continue }
            let folder = layout.folder(of: identity)
            let checks = try await StopFlag.blocking { [fileSystem] flag in
                try Verification(receipt: found, folder: folder, fileSystem: fileSystem, flag: flag).compare(
                    found.files)
            }
            guard checks.allSatisfy({ $0.outcome == .intact }) else { continue }
            let kept = try await committing { () -> InstalledRelease? in
                guard case .whole(var current) = try directory.find(identity), work.isDone(by: current) else {
                    return nil
                }
                if work.isVerified, !current.isVerified {
                    current.isVerified = true
                    try fileSystem.replaceContents(of: HomeLayout.receipt(in: folder), with: try current.data())
                }
                // An earlier attempt may have failed between the move and bringing it to the disk.
                try fileSystem.synchronizeFolder(folder.parent)
                consume(work)
                return try read(identity)
            }
            if let kept { return kept }
        }
        return nil
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
            if let objection = file.name.reservation {
                throw StoreError(
                    .reservedName, "\(model) cannot be installed: its file \(file.name) has a name of the store's own",
                    context: ErrorContext(model: model, file: file.name.string, found: objection))
            }
        }
        guard !files.isEmpty || archive != nil else {
            throw StoreError(
                .stagedFileChanged, "\(model) came without a file", context: ErrorContext(model: model))
        }
        try Staging.refuseEqualNames(files.map(\.name), of: release.identity)
        // A digest in the catalog entry is the one promised for the file of that name.
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

    /// Removes the files from the transfers folder: the release has names of its own for them.
    private func consume(_ work: Installation) {
        for file in work.files + [work.archive].compactMap(\.self) where layout.isTransfer(file.path) {
            do {
                try fileSystem.removeFile(file.path)
            } catch {
                Log.write(.info, "\(file.path) stays until the next start: \(error)")
            }
        }
    }
}
