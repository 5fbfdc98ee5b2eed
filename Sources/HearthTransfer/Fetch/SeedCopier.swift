import HearthBase

/// Copies chunks from seeds into a part file. Blocks.
///
/// A seed is only read, and each chunk from one is checked against the chunk index. So a seed may be damaged, and may
/// change meanwhile.
struct SeedCopier {
    package let fileSystem: any FileSystem
    package let flag: StopFlag

    /// Copies every chunk of which no byte is held.
    ///
    /// If a seed cannot be read, its chunks are downloaded. If the part file cannot be written, the transfer ends.
    /// - Returns: the bytes copied, not checked yet.
    package func copy(
        _ seeds: [Path], into part: OpenFile, of index: ChunkIndex, besides held: RangeSet<UInt64>
    ) throws -> RangeSet<UInt64> {
        var copied = RangeSet<UInt64>()
        for seed in seeds {
            do {
                guard let status = try fileSystem.status(at: seed, followLinks: false), status.kind == .file,
                    status.size > 0
                else { continue }
                let source = try fileSystem.open(seed, .read)
                let taken = held.union(copied)
                let wanted = index.chunks.filter { !taken.overlaps($0.bytes) }
                try copy(wanted, from: source, of: status.size, into: part, &copied)
            } catch let failure as PartFailure {
                throw failure.cause
            } catch let error as FileError {
                Log.write(.info, "\(seed) is not reused: \(error)")
            }
        }
        return copied
    }

    private func copy(
        _ wanted: [ChunkIndex.Chunk], from source: OpenFile, of size: UInt64, into part: OpenFile,
        _ copied: inout RangeSet<UInt64>
    ) throws {
        let whole = wanted.map(\.bytes).filter { $0.upperBound <= size }
        if try clone(source, of: size, into: part) {
            for bytes in whole { copied.insert(contentsOf: bytes) }
            return
        }
        let pump = FilePump(fileSystem: fileSystem, flag: flag)
        for range in whole {
            let count = try pump.read(source, range) { bytes, offset in
                do {
                    try fileSystem.write(part, bytes, at: offset)
                } catch {
                    throw PartFailure(cause: error)
                }
            }
            if count == UInt64(range.count) { copied.insert(contentsOf: range) }
        }
    }

    /// Shares the blocks of a whole copy with an empty part file; `false` if the disk cannot.
    private func clone(_ source: OpenFile, of size: UInt64, into part: OpenFile) throws -> Bool {
        do {
            guard try fileSystem.status(of: part).size == 0 else { return false }
            return try fileSystem.clone(source, to: part)
        } catch {
            throw PartFailure(cause: error)
        }
    }

    private struct PartFailure: Error {
        let cause: any Error
    }
}

extension ChunkIndex.Chunk {
    /// The place of the chunk in its file.
    package var bytes: Range<UInt64> { offset..<offset + UInt64(length) }
}

extension RangeSet<UInt64> {
    fileprivate func overlaps(_ range: Range<UInt64>) -> Bool { !intersection(RangeSet(range)).isEmpty }
}
