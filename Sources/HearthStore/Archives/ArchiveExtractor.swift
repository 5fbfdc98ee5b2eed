import HearthBase

/// Unpacks an archive into a staging folder, and hashes each file on the way. Blocks.
struct ArchiveExtractor: Sendable {
    package let plan: ArchivePlan
    package let fileSystem: any FileSystem
    package let flag: StopFlag
    let library: ArchiveLibrary

    /// Writes the files of the plan and brings them to the disk; the caller synchronises the folders.
    /// - Parameters:
    ///   - archive: the archive, compared with its digest by the caller.
    ///   - folder: an existing folder; nothing is written elsewhere.
    ///   - makeFolder: called for each folder before the first file in it.
    ///   - onPiece: receives the number of bytes written each time.
    /// - Throws: ``StoreError``, `FileError`, `CancellationError`.
    func extract(
        _ archive: Path, into folder: Path, makeFolder: (RelativePath) throws -> Void,
        onPiece: @escaping (UInt64) -> Void
    ) throws -> [Receipt.File] {
        var unpacked: [(entry: ArchiveEntry, place: RelativePath, digest: SHA256Digest)] = []
        let reader = ArchiveReader(
            label: plan.label, format: plan.format, limits: plan.limits, fileSystem: fileSystem, flag: flag,
            library: library)
        try reader.read(archive) { entry, contents in
            guard let place = try plan.place(of: entry) else { return }
            for parent in place.folders { try makeFolder(parent) }
            let file = try fileSystem.open(folder.appending(place), .createNew)
            // Reserves the space first, so that a full disk shows before bytes are unpacked.
            try fileSystem.allocate(file, size: entry.size)
            var hasher = SHA256Hasher()
            var offset: UInt64 = 0
            try contents { block in
                hasher.update(block)
                try fileSystem.write(file, block, at: offset)
                offset += UInt64(block.count)
                onPiece(UInt64(block.count))
            }
            let digest = hasher.finalize()
            try plan.check(entry, digest)
            try fileSystem.synchronize(file)
            unpacked.append((entry, place, digest))
        }
        return try plan.files(unpacked)
    }
}
