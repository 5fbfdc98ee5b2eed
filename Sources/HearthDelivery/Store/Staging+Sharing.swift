import HearthBase

extension Staging {
    /// Lets files that are here become one with equal ones: of installed releases, else of this release.
    ///
    /// For files whose digest nobody knew before their bytes had come: those of an archive, and those a hub names by git's hash
    /// alone. What does not work out costs room and nothing else: the file stays as it came. Before the folders are
    /// synchronised.
    /// - Parameter holders: where each content is, by the receipts of installed releases; read again before it is trusted.
    /// - Throws: `CancellationError`; `FileError` where an unfinished name would stay in the release.
    func share(_ files: [Receipt.File], with holders: [ModelStore.Content: [Path]], flag: StopFlag) throws {
        var holders = holders
        for file in files where file.size > 0 {
            try flag.check()
            let content = ModelStore.Content(digest: file.digest, size: file.size)
            let path = folder.appending(file.name)
            for place in holders[content] ?? [] {
                if try share(file, at: path, with: place, flag) { break }
            }
            holders[content, default: []].append(path)
        }
    }

    /// Puts a second name of the file at `place` where an equal one is, by a rename; `false` where that cannot be done.
    private func share(_ file: Receipt.File, at path: Path, with place: Path, _ flag: StopFlag) throws -> Bool {
        let temporary = folder.appendingTemporary(besides: "shared")
        do {
            guard let own = try fileSystem.status(at: path, followLinks: false),
                let other = try fileSystem.status(at: place, followLinks: false), other.kind == .file,
                other.size == file.size
            else { return false }
            if own.identity == other.identity { return true }
            let found = try FilePump(fileSystem: fileSystem, flag: flag).digest(of: place)
            guard found == file.digest else { return false }
            if try link(place, to: temporary) {
                guard try fileSystem.status(at: temporary, followLinks: false)?.identity == other.identity else {
                    // Another file was put there meanwhile, which nobody has read.
                    try fileSystem.removeFile(temporary)
                    return false
                }
            } else if try !clone(try fileSystem.open(place, .read), to: temporary) {
                return false
            }
            try fileSystem.rename(temporary, to: path)
            return true
        } catch let error as FileError {
            Log.write(.info, "delivery.store", "\(file.name) of \(identity) is not shared with \(place): \(error)")
            try fileSystem.removeFile(temporary)
            return false
        }
    }
}
