import HearthBase

/// Keeps account of the written and the checked bytes of a ``PartFile``, as a value.
///
/// With a chunk index, each chunk is checked as soon as it is whole, in any order. The catalog holds the index's own
/// digest, so checked chunks are as good as the digest of the whole. Without an index, the file is hashed from its
/// first byte up to the first gap.
struct PartLedger: Sendable {
    /// The bytes that are written.
    package private(set) var written = RangeSet<UInt64>()
    /// The bytes of chunks that match the index.
    private(set) var proven = RangeSet<UInt64>()
    private let chunks: [ChunkIndex.Chunk]
    private var underCheck: Set<Int> = []

    init(index: ChunkIndex? = nil) { chunks = index?.chunks ?? [] }

    /// Whether chunks are checked one by one.
    var isIndexed: Bool { !chunks.isEmpty }

    /// How far the whole may be hashed: up to the first gap; 0 where chunks are checked.
    var frontier: UInt64 { isIndexed ? 0 : written.prefixEnd }

    /// The end of the bytes from the first on that need not be read again.
    func settledEnd(hashed: UInt64) -> UInt64 { isIndexed ? proven.prefixEnd : hashed }

    /// The number of written bytes.
    var writtenCount: UInt64 { written.byteCount }

    /// The number of written bytes that do not wait for a check.
    /// - Parameter hashed: how far the whole is hashed; used without an index only.
    func checkedCount(hashed: UInt64) -> UInt64 {
        let waiting =
            isIndexed
            ? underCheck.reduce(0) { $0 + UInt64(bytes(ofChunk: $1).count) } : frontier - min(frontier, hashed)
        return writtenCount - min(writtenCount, waiting)
    }

    /// The parts of a range to write: all but the proven bytes.
    func writable(_ range: Range<UInt64>) -> [Range<UInt64>] {
        proven.isEmpty ? [range] : Array(RangeSet(range).subtracting(proven).ranges)
    }

    /// Notes written bytes; returns the chunks that became whole and have to be checked.
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
        package let chunk: Int
        /// Where the chunk begins.
        package let start: UInt64
        package let bytes: Range<UInt64>
    }

    /// Cuts a range into the parts that belong to each chunk.
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

    /// Notes the result of a chunk's check; returns the bytes to fetch again.
    package mutating func checked(_ number: Int, isRight: Bool) -> Range<UInt64>? {
        // The result is void if the chunk was forgotten meanwhile.
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
    package func bytes(ofChunk number: Int) -> Range<UInt64> { chunks[number].bytes }

    /// The check of a chunk.
    package func check(ofChunk number: Int) -> PartVerifier.Check {
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
    /// The end of the bytes from 0 on without a gap.
    var prefixEnd: UInt64 {
        guard let first = ranges.first, first.lowerBound == 0 else { return 0 }
        return first.upperBound
    }

    /// The number of bytes in all ranges.
    package var byteCount: UInt64 { ranges.reduce(0) { $0 + UInt64($1.count) } }

    /// Whether the set contains every byte of a range.
    package func holds(_ range: Range<UInt64>) -> Bool { isSuperset(of: RangeSet(range)) }
}
