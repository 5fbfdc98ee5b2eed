import HearthBase
import HearthTransfer

/// The sizes of pieces, and how many a file may have.
package struct PieceLimits: Sendable, Hashable {
    /// The longest piece in bytes; longer ones are ordered where a file would have too many pieces.
    package var length: UInt64
    /// The most pieces of a file at the same time.
    package var count: Int

    /// Pieces of 1 GiB, at most 16 of a file: the system serves tens of tasks well, and hundreds badly.
    package init(length: UInt64 = 1 << 30, count: Int = 16) {
        self.length = max(1, length)
        self.count = max(1, count)
    }

    /// Cuts missing bytes into pieces.
    /// - Parameters:
    ///   - held: bytes on the disk: pieces may contain some where gaps are many.
    ///   - count: the most pieces; gaps for which there is no piece are left out.
    package func cut(_ missing: RangeSet<UInt64>, held: RangeSet<UInt64>, count: Int) -> [Range<UInt64>] {
        guard count > 0 else { return [] }
        let spans = join(Array(missing.ranges), over: held, until: count)
        var length = length
        while Self.pieces(spans, length) > count { length *= 2 }
        return spans.flatMap { span in
            stride(from: span.lowerBound, to: span.upperBound, by: Int(clamping: length)).map {
                $0..<min(span.upperBound, $0 + length)
            }
        }
    }

    private static func pieces(_ spans: [Range<UInt64>], _ length: UInt64) -> Int {
        spans.reduce(0) { $0 + Int(clamping: (UInt64($1.count) + length - 1) / length) }
    }

    /// Joins neighbors, the nearest first, across held bytes only; then leaves out the shortest.
    private func join(
        _ spans: [Range<UInt64>], over held: RangeSet<UInt64>, until count: Int
    ) -> [Range<UInt64>] {
        var spans = spans
        while spans.count > count {
            let gaps = spans.indices.dropLast().map { ($0, spans[$0].upperBound..<spans[$0 + 1].lowerBound) }
            guard let (index, _) = gaps.filter({ held.holds($0.1) }).min(by: { $0.1.count < $1.1.count }) else { break }
            spans[index] = spans[index].lowerBound..<spans[index + 1].upperBound
            spans.remove(at: index + 1)
        }
        guard spans.count > count else { return spans }
        return spans.sorted { $0.count > $1.count }.prefix(count).sorted { $0.lowerBound < $1.lowerBound }
    }
}
