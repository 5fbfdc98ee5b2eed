import HearthBase

extension Staging {
    /// Stores files of this release once with equal ones of installed releases or of this release.
    ///
    /// For files whose digest was unknown before they arrived: those of an archive, and those that a hub names by git's
    /// hash. If sharing fails, the file stays as it is and only takes more space. Runs before the folders are
    /// synchronised.
    /// - Parameter places: the places of each content, by the receipts of installed releases; re-read before they are
    ///   trusted.
    /// - Throws: `CancellationError`; `FileError` if an unfinished name would stay in the release.
    func share(_ files: [Receipt.File], with places: ContentPlaces, flag: StopFlag) throws {
        var places = places
        for file in files where file.size > 0 {
            try flag.check()
            let content = file.content
            let path = folder.appending(file.name)
            for place in places[content] {
                if try share(file, at: path, with: place, flag) { break }
            }
            places.add(path, of: content)
        }
    }

    /// Replaces `path` by a second name of the equal file at `place`, by a rename; `false` if that is impossible.
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
                    // Another file took that place meanwhile; its bytes were not read.
                    try fileSystem.removeFile(temporary)
                    return false
                }
            } else if try !clone(try fileSystem.open(place, .read), to: temporary) {
                return false
            }
            try fileSystem.rename(temporary, to: path)
            return true
        } catch let error as FileError {
            Log.write(.info, "\(file.name) of \(identity) is not shared with \(place): \(error)")
            try fileSystem.removeFile(temporary)
            return false
        }
    }
}
