import HearthBase
import HearthCatalog

/// A file's contents by digest and length.
struct FileContent: Hashable, Sendable {
    let digest: SHA256Digest
    let size: UInt64
}

extension Receipt.File {
    var content: FileContent { FileContent(digest: digest, size: size) }
}

/// The places of each content in installed releases, by their receipts. Each is re-read before it is trusted.
struct ContentPlaces: Sendable {
    let fileSystem: any FileSystem
    private var paths: [FileContent: [Path]] = [:]

    init(fileSystem: any FileSystem) { self.fileSystem = fileSystem }

    subscript(content: FileContent) -> [Path] { paths[content] ?? [] }

    mutating func add(_ path: Path, of content: FileContent) { paths[content, default: []].append(path) }

    /// Finds files of a new release that installed releases already hold. Intact files of damaged releases count too.
    func shared(_ release: Release) async throws -> [StagedFile] {
        // No release contains a packed archive.
        let files = release.files.dropFirst(release.archive == nil ? 0 : 1)
        let found = files.compactMap { file -> (RemoteFile, FileContent, [Path])? in
            guard let digest = file.digest, let size = file.size.exact else { return nil }
            let content = FileContent(digest: digest, size: size)
            return paths[content].map { (file, content, $0) }
        }
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

    /// Finds an intact file beside a damaged one with the same contents; `nil` if there is none.
    func intactCopy(of file: Receipt.File) async throws -> Path? {
        let content = file.content
        let places = self[content]
        guard places.count > 1 else { return nil }
        return try await StopFlag.blocking { [fileSystem] flag in
            try FilePump(fileSystem: fileSystem, flag: flag).intact(content, at: places)
        }
    }
}

extension FilePump {
    /// Finds the first of some files that has the given content, by reading it. Passes over unreadable files.
    fileprivate func intact(_ content: FileContent, at places: [Path]) throws -> Path? {
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

extension StoreHome {
    /// The places of each content, by the receipts of all releases, damaged ones included.
    func places() throws -> ContentPlaces {
        let inventory = try inventory()
        let receipts =
            inventory.releases.map { ($0.folder, $0.receipt) }
            + inventory.damaged.compactMap { release in release.receipt.map { (release.folder, $0) } }
        var places = ContentPlaces(fileSystem: fileSystem)
        for (folder, receipt) in receipts {
            for file in receipt.files { places.add(folder.appending(file.name), of: file.content) }
        }
        return places
    }
}
