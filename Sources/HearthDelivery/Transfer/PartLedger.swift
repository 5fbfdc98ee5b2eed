import HearthBase

/// What of a file is here and what of that is known to be right: the bookkeeping of a ``PartFile``, as a value.
///
/// With a chunk index every chunk is checked as soon as its last byte is here, in whatever order they come, and that is
/// all: the index has a digest of its own in the catalog, so its chunks are as good as the digest of the whole. Without
/// one, the whole is hashed, as far as its bytes are here from the first on without a gap.
struct PartLedger: Sendable {
    /// The bytes that are written.
    private(set) var written = RangeSet<UInt64>()
    /// The bytes of chunks that match the index.
    private(set) var proven = RangeSet<UInt64>()
    private let chunks: [ChunkIndex.Chunk]
    private var underCheck: Set<Int> = []

    init(index: ChunkIndex? = nil) { chunks = index?.chunks ?? [] }

    /// Whether chunks are checked one by one.
    var isIndexed: Bool { !chunks.isEmpty }

    /// The bytes from the first on that the hash of the whole may take; none where chunks are checked.
    var frontier: UInt64 { isIndexed ? 0 : written.prefixEnd }

    /// The bytes from the first on that need not be read again.
    func settledEnd(hashed: UInt64) -> UInt64 { isIndexed ? proven.prefixEnd : hashed }

    /// The bytes written, how many.
    var writtenCount: UInt64 { written.byteCount }

    /// The bytes written that are not waiting to be read again, how many.
    /// - Parameter hashed: how far the hash of the whole has come, where chunks are not checked.
    func checkedCount(hashed: UInt64) -> UInt64 {
        let waiting =
            isIndexed
            ? underCheck.reduce(0) { $0 + UInt64(bytes(ofChunk: $1).count) } : frontier - min(frontier, hashed)
        return writtenCount - min(writtenCount, waiting)
    }

    /// The bytes here that nobody has vouched for.
    var unproven: RangeSet<UInt64> { written.subtracting(proven) }

    /// The parts of a range that are worth being written: what is proven stays as it is.
    func writable(_ range: Range<UInt64>) -> [Range<UInt64>] {
        proven.isEmpty ? [range] : Array(RangeSet(range).subtracting(proven).ranges)
    }

    /// Notes bytes that were written; returns the chunks that are whole now and have to be checked.
    mutating func wrote(_ range: Range<UInt64>) -> [Int] {
        written.insert(contentsOf: range)
        guard isIndexed, !range.isEmpty else { return [] }
        var whole: [Int] = []
        var number = firstChunk(endingAfter: range.lowerBound)
        while number < chunks.count, chunks[number].offset < range.upperBound {
            let bytes = self.bytes(ofChunk: number)
            let isNew = !underCheck.contains(number) && !proven.contains(bytes.lowerBound)
            if isNew, written.holds(bytes) {
                underCheck.insert(number)
                whole.append(number)
            }
            number += 1
        }
        return whole
    }

    /// Bytes of one chunk.
    struct Slice: Sendable, Equatable {
        let chunk: Int
        /// Where the chunk begins.
        let start: UInt64
        let bytes: Range<UInt64>
    }

    /// The chunks that bytes are part of, and which bytes of each.
    func slices(of range: Range<UInt64>) -> [Slice] {
        guard isIndexed, !range.isEmpty else { return [] }
        var slices: [Slice] = []
        var number = firstChunk(endingAfter: range.lowerBound)
        while number < chunks.count, chunks[number].offset < range.upperBound {
            let bytes = self.bytes(ofChunk: number)
            slices.append(Slice(chunk: number, start: bytes.lowerBound, bytes: bytes.clamped(to: range)))
            number += 1
        }
        return slices
    }

    /// Notes what the check of a chunk said; returns the bytes to be fetched again.
    mutating func checked(_ number: Int, isRight: Bool) -> Range<UInt64>? {
        // A chunk that was forgotten meanwhile proves nothing.
        guard underCheck.remove(number) != nil else { return nil }
        let bytes = self.bytes(ofChunk: number)
        if isRight {
            proven.insert(contentsOf: bytes)
            return nil
        }
        written.remove(contentsOf: bytes)
        return bytes
    }

    /// Forgets every byte that is not proven.
    mutating func forgetUnproven() {
        written = proven
        underCheck = []
    }

    /// The place of a chunk in the file.
    func bytes(ofChunk number: Int) -> Range<UInt64> {
        let chunk = chunks[number]
        return chunk.offset..<chunk.offset + UInt64(chunk.length)
    }

    /// What is to be done to check a chunk.
    func check(ofChunk number: Int) -> PartVerifier.Check {
        PartVerifier.Check(chunk: number, bytes: bytes(ofChunk: number), expected: chunks[number].digest)
    }

    private func firstChunk(endingAfter offset: UInt64) -> Int {
        var (low, high) = (0, chunks.count)
        while low < high {
            let middle = (low + high) / 2
            if chunks[middle].offset + UInt64(chunks[middle].length) > offset {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }
}

extension RangeSet<UInt64> {
    /// The bytes from the first on without a gap.
    var prefixEnd: UInt64 {
        guard let first = ranges.first, first.lowerBound == 0 else { return 0 }
        return first.upperBound
    }

    /// How many bytes these are.
    var byteCount: UInt64 { ranges.reduce(0) { $0 + UInt64($1.count) } }

    /// Whether every byte of a range is in here.
    func holds(_ range: Range<UInt64>) -> Bool { isSuperset(of: RangeSet(range)) }
}
