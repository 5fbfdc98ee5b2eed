import HearthBase

/// Local bytes reused for a file: an installed, older or damaged copy on this machine.
///
/// A transfer only reads a seed, and checks each chunk from one against the request's chunk index. So a seed may be
/// damaged, may change meanwhile and may be another version of the file. A request without a chunk index uses no
/// seeds.
package struct TransferSeed: Sendable, Hashable {
    /// The file.
    package var path: Path
    /// The chunks of the file, in any order; `nil` for a copy of the requested file, whose chunks lie at their own
    /// places.
    package var chunks: [ChunkIndex.Chunk]?

    /// A seed of the given facts.
    package init(path: Path, chunks: [ChunkIndex.Chunk]? = nil) {
        self.path = path
        self.chunks = chunks
    }
}

/// Copies chunks from seeds into a part file. Blocks.
struct SeedCopier {
    package let fileSystem: any FileSystem
    package let flag: StopFlag

    /// Copies every chunk of which no byte is held.
    ///
    /// If a seed cannot be read, its chunks are downloaded. If the part file cannot be written, the transfer ends.
    /// - Returns: the bytes copied, not checked yet.
    package func copy(
        _ seeds: [TransferSeed], into part: OpenFile, of index: ChunkIndex, besides held: RangeSet<UInt64>
    ) throws -> RangeSet<UInt64> {
        var copied = RangeSet<UInt64>()
        for seed in seeds {
            do {
                guard let status = try fileSystem.status(at: seed.path, followLinks: false), status.kind == .file,
                    status.size > 0
                else { continue }
                let source = try fileSystem.open(seed.path, .read)
                let taken = held.union(copied)
                let wanted = index.chunks.filter { !taken.overlaps($0.bytes) }
                try copy(wanted, from: source, of: status.size, seed, into: part, &copied)
            } catch let failure as PartFailure {
                throw failure.cause
            } catch let error as FileError {
                Log.write(.info, "delivery.transfer", "\(seed.path) is not reused: \(error)")
            }
        }
        return copied
    }

    private func copy(
        _ wanted: [ChunkIndex.Chunk], from source: OpenFile, of size: UInt64, _ seed: TransferSeed,
        into part: OpenFile, _ copied: inout RangeSet<UInt64>
    ) throws {
        let places: [ChunkPlace: UInt64]? = seed.chunks.map { chunks in
            Dictionary(chunks.map { (ChunkPlace($0), $0.offset) }, uniquingKeysWith: { first, _ in first })
        }
        if places == nil, try clone(source, of: size, into: part) {
            for chunk in wanted where chunk.bytes.upperBound <= size { copied.insert(contentsOf: chunk.bytes) }
            return
        }
        let pump = FilePump(fileSystem: fileSystem, flag: flag)
        for chunk in wanted {
            let place = places.map { $0[ChunkPlace(chunk)] } ?? chunk.offset
            guard let place, place <= size, UInt64(chunk.length) <= size - place else { continue }
            let count = try pump.read(source, place..<place + UInt64(chunk.length)) { bytes, offset in
                do {
                    try fileSystem.write(part, bytes, at: chunk.offset + (offset - place))
                } catch {
                    throw PartFailure(cause: error)
                }
            }
            if count == chunk.length { copied.insert(contentsOf: chunk.bytes) }
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

    /// Identifies a chunk by its bytes, wherever it lies.
    private struct ChunkPlace: Hashable {
        let length: UInt32
        let digest: SHA256Digest

        init(_ chunk: ChunkIndex.Chunk) {
            length = chunk.length
            digest = chunk.digest
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
