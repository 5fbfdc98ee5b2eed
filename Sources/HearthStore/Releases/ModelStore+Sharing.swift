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

    /// The file at `place` if it has the right bytes. `nil` if it cannot be read: it is then fetched instead.
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
