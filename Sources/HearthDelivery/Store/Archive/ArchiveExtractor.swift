import HearthBase

/// Unpacks an archive into a folder of a release in the making, and hashes each file on the way. Blocks.
struct ArchiveExtractor: Sendable {
    let plan: ArchivePlan
    let fileSystem: any FileSystem
    let flag: StopFlag

    /// Writes what the plan wants and brings it to the disk; the folders are the caller's to synchronise.
    /// - Parameters:
    ///   - archive: compared with its digest already.
    ///   - folder: exists, and nothing else is written.
    ///   - makeFolder: called for each folder before the first file in it.
    ///   - onPiece: hears how many bytes were written each time.
    /// - Throws: ``ArchiveError``, `FileError`, `CancellationError`.
    func extract(
        _ archive: Path, into folder: Path, makeFolder: (RelativePath) throws -> Void,
        onPiece: @escaping (UInt64) -> Void
    ) throws -> [Receipt.File] {
        var unpacked: [(entry: ArchiveEntry, place: RelativePath, digest: SHA256Digest)] = []
        let reader = ArchiveReader(
            label: plan.label, format: plan.format, limits: plan.limits, fileSystem: fileSystem, flag: flag)
        try reader.read(archive) { entry, contents in
            guard let place = try plan.place(of: entry) else { return }
            for parent in place.folders { try makeFolder(parent) }
            let file = try fileSystem.open(folder.appending(place), .createNew)
            // A full disk shows before the bytes are unpacked.
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
