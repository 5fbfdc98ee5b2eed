import HearthBase
import HearthCatalog

extension ModelStore {
    /// Finds files of a new release that installed releases already hold, by digest and length in the receipts. Each is
    /// re-read before it is trusted; then it is stored once and not fetched.
    ///
    /// Intact files of damaged releases count as well.
    /// - Throws: `FileError`, `CancellationError`.
    package func shared(_ release: Release) async throws -> [StagedFile] {
        // No release contains a packed archive.
        let files = release.files.dropFirst(release.archive == nil ? 0 : 1)
        let wanted = files.compactMap { file -> (RemoteFile, Content)? in
            guard let digest = file.digest, let size = file.size.exact else { return nil }
            return (file, Content(digest: digest, size: size))
        }
        guard !wanted.isEmpty else { return [] }
        let holders = try await holders()
        let found = wanted.compactMap { file, content in holders[content].map { (file, content, $0) } }
        guard !found.isEmpty else { return [] }
        return try await StopFlag.blocking { [fileSystem] flag in
            let pump = FilePump(fileSystem: fileSystem, flag: flag)
            return try found.compactMap { file, content, places in
                try pump.intact(content, at: places).map { place in
                    var staged = StagedFile(
                        name: file.name, role: file.role, path: place, size: content.size, digest: content.digest,
                        isVerified: true)
                    staged.isShared = true
                    staged.source = file.locations.first?.withoutSecrets
                    return staged
                }
            }
        }
    }

    /// A file's contents by digest and length.
    struct Content: Hashable {
        package let digest: SHA256Digest
        package let size: UInt64
    }

    /// The places of each content, by the receipts of all releases.
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
}

extension FilePump {
    /// Finds the first of some files that has the given content, by reading it. Passes over unreadable files.
    func intact(_ content: ModelStore.Content, at places: [Path]) throws -> Path? {
        var seen: Set<FileIdentity> = []
        for place in places {
            do {
                guard let status = try fileSystem.status(at: place, followLinks: false), status.kind == .file,
                    status.size == content.size, seen.insert(status.identity).inserted,
                    try digest(of: place) == content.digest
                else { continue }
                return place
            } catch let error as FileError {
                Log.write(.info, "\(place) is not used: \(error)")
            }
        }
        return nil
    }
}
