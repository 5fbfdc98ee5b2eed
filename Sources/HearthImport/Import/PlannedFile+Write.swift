import Foundation
import HearthBase

extension PlannedFile {
    /// Writes the GGUF file. Blocks.
    ///
    /// The bytes are collected in `<target>.part`, with a journal in `<target>.part.json`; one rename then makes the
    /// file. After an error, a cancellation or a crash both stay, and the next call with the same folder and target goes
    /// on after the journalled bytes. A caller that gives up removes both (``removeUnfinished(target:fileSystem:)``).
    /// At most one call may write to a target at a time. Uses at most four threads, and at most 200 MB of memory besides the header.
    /// - Parameters:
    ///   - target: the file to write; an existing one is replaced.
    ///   - flag: stops the import before the next 4 MiB.
    ///   - progress: receives the finished share, 0 to 1, on any thread.
    /// - Throws: ``ImportError`` with `damaged` for weights that are not numbers or end too early; `FileError`, such as
    ///   `disk-full` before anything is converted; `CancellationError`.
    package func write(
        to target: Path, flag: StopFlag, progress: @escaping @Sendable (Double) -> Void
    ) throws -> ImportReport {
        try write(to: target, flag: flag, pace: ImportPace(), progress: progress)
    }

    /// Writes the GGUF file at a pace.
    func write(
        to target: Path, flag: StopFlag, pace: ImportPace, progress: @escaping @Sendable (Double) -> Void
    ) throws -> ImportReport {
        let slabs = try ImportSlab.all(of: items, byteCount: pace.slabBytes)
        let (file, journal) = try openPart(of: target, slabCount: slabs.count, pace)
        let resumed = slabs.prefix(journal.slabs).reduce(0 as UInt64) { $0 + UInt64($1.outputBytes) }
        let run = ImportRun(
            plan: self, slabs: slabs, file: file, target: target, flag: flag, report: progress,
            state: Locked(
                ImportProgress(
                    count: slabs.count, journal: journal, writtenBytes: resumed,
                    checkpointBytes: pace.checkpointBytes)),
            key: journal.key)
        let losses = try run.convert(threads: pace.threads)
        try fileSystem.synchronize(file)
        try fileSystem.rename(ImportJournal.part(of: target), to: target)
        try fileSystem.synchronizeFolder(target.parent)
        try fileSystem.removeFile(ImportJournal.place(of: target))
        progress(1)
        return ImportReport(
            fileSize: layout.fileSize, tensorCount: layout.offsets.count, resumedBytes: resumed,
            roundedScales: losses.roundedScales, roundedBlocks: losses.roundedBlocks)
    }

    /// Removes what an interrupted import left beside a target.
    package static func removeUnfinished(target: Path, fileSystem: any FileSystem = LocalFileSystem()) throws {
        try ImportJournal.removeTemporaries(of: target, fileSystem)
        try fileSystem.removeFile(ImportJournal.place(of: target))
        try fileSystem.removeFile(ImportJournal.part(of: target))
    }

    /// Opens the unfinished file where the last import stopped, or makes a new one of the final length.
    private func openPart(
        of target: Path, slabCount: Int, _ pace: ImportPace
    ) throws -> (OpenFile, ImportJournal) {
        let (part, place) = (ImportJournal.part(of: target), ImportJournal.place(of: target))
        try ImportJournal.removeTemporaries(of: target, fileSystem)
        let key = try key(pace)
        // A journal that cannot be read belongs to no file.
        if let data = try? fileSystem.contents(ofFile: place, limit: ImportJournal.maximumByteCount),
            let journal = try? ImportJournal(data: data), journal.key == key, (0...slabCount).contains(journal.slabs),
            try fileSystem.status(at: part, followLinks: false)?.kind == .file
        {
            let file = try fileSystem.open(part, .update)
            if try fileSystem.status(of: file).size == layout.fileSize { return (file, journal) }
        }
        try Self.removeUnfinished(target: target, fileSystem: fileSystem)
        let file = try fileSystem.open(part, .createNew)
        try fileSystem.allocate(file, size: layout.fileSize)
        try layout.header.withUnsafeBytes { try fileSystem.write(file, $0, at: 0) }
        for (values, offset) in zip(factors, layout.offsets) {
            try values.withUnsafeBytes { try fileSystem.write(file, $0, at: offset) }
        }
        return (file, ImportJournal(key: key, slabs: 0, losses: ConversionLosses()))
    }

    /// The digest of all that decides the file: the header, the version, and the shards as they are now.
    private func key(_ pace: ImportPace) throws -> String {
        var hasher = SHA256Hasher()
        layout.header.withUnsafeBytes { hasher.update($0) }
        var text = "\(ModelImport.version) \(settings) \(pace.slabBytes)"
        for shard in shards {
            let status = try fileSystem.status(of: shard)
            text += " \(status.identity.device) \(status.identity.inode) \(status.size)"
            text += " \(status.modified.timeIntervalSince1970)"
        }
        for item in items { text += " \(item.weights.shard) \(item.weights.offset)" }
        Data(text.utf8).withUnsafeBytes { hasher.update($0) }
        return hasher.finalize().description
    }
}
