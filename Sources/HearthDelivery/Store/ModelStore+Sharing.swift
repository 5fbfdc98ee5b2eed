import HearthBase

extension ModelStore {
    /// Of the files of a release that is to come, those that an installed release holds: found by digest and length in the
    /// receipts, and read again before they are trusted. They become one file with what is there, and are not fetched.
    ///
    /// Damaged releases count as well: the files of theirs that are right are as good as any.
    /// - Throws: `FileError`, `CancellationError`.
    func shared(_ release: Release) async throws -> [StagedFile] {
        // An archive is in no release as it is.
        let files = release.files.dropFirst(release.archive == nil ? 0 : 1)
        let wanted = files.filter { $0.digest != nil && $0.size.exact != nil }
        guard !wanted.isEmpty else { return [] }
        let holders = try await holders()
        let found = wanted.compactMap { file -> (RemoteFile, SHA256Digest, [Path])? in
            guard let digest = file.digest, let size = file.size.exact else { return nil }
            let places = holders[Content(digest: digest, size: size)] ?? []
            return places.isEmpty ? nil : (file, digest, places)
        }
        guard !found.isEmpty else { return [] }
        return try await StopFlag.blocking { [fileSystem] flag in
            let pump = FilePump(fileSystem: fileSystem, flag: flag)
            var shared: [StagedFile] = []
            for (file, digest, places) in found {
                for place in places {
                    guard let staged = try Self.read(place, digest, file, pump) else { continue }
                    shared.append(staged)
                    break
                }
            }
            return shared
        }
    }

    /// A file by what is in it.
    struct Content: Hashable {
        let digest: SHA256Digest
        let size: UInt64
    }

    /// Where each content is, by the receipts of all releases.
    func holders() async throws -> [Content: [Path]] {
        let inventory = try await inventory()
        let receipts =
            inventory.releases.map { ($0.folder, $0.receipt) }
            + inventory.damaged.compactMap { release in release.receipt.map { (release.folder, $0) } }
        var holders: [Content: [Path]] = [:]
        for (folder, receipt) in receipts {
            for file in receipt.files {
                holders[Content(digest: file.digest, size: file.size), default: []].append(folder.appending(file.name))
            }
        }
        return holders
    }

    /// The file at `place` if it is the one that is wanted. One that cannot be read is fetched instead.
    private nonisolated static func read(
        _ place: Path, _ digest: SHA256Digest, _ file: RemoteFile, _ pump: FilePump
    ) throws -> StagedFile? {
        do {
            guard let status = try pump.fileSystem.status(at: place, followLinks: false), status.kind == .file,
                status.size == file.size.exact, try pump.digest(of: place) == digest
            else { return nil }
            var staged = StagedFile(
                name: file.name, role: file.role, path: place, size: status.size, digest: digest, isVerified: true)
            staged.isShared = true
            staged.source = file.locations.first?.withoutSecrets
            return staged
        } catch let error as FileError {
            Log.write(.info, "delivery.store", "\(place) is not shared: \(error)")
            return nil
        }
    }
}
