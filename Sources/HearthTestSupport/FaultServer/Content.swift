import Foundation

/// The bytes of a scripted body: given bytes, or a generated pattern, so that gigabytes need no memory.
package enum Content: Sendable {
    case data(Data)
    /// `count` bytes of an endless pattern, from its byte `offset`.
    case pattern(offset: UInt64 = 0, count: UInt64)

    package var count: UInt64 {
        switch self {
        case .data(let data): UInt64(data.count)
        case .pattern(_, let count): count
        }
    }

    /// A part of the bytes.
    package func slice(_ range: Range<UInt64>) -> Content {
        switch self {
        case .data(let data):
            .data(data.dropFirst(Int(range.lowerBound)).prefix(Int(range.upperBound - range.lowerBound)))
        case .pattern(let offset, _):
            .pattern(offset: offset + range.lowerBound, count: range.upperBound - range.lowerBound)
        }
    }

    /// All the bytes, in memory.
    package var bytes: Data {
        var all = Data(capacity: Int(count))
        var done: UInt64 = 0
        while done < count {
            let piece = withBytes(from: done, upTo: 1 << 20) { Data($0) }
            all.append(piece)
            done += UInt64(piece.count)
        }
        return all
    }

    /// Passes some of the bytes from `start` to the body: at least one, at most `limit`.
    func withBytes<Result>(
        from start: UInt64, upTo limit: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let wanted = Int(min(UInt64(limit), count - start))
        switch self {
        case .data(let data):
            return try data.withUnsafeBytes {
                try body(UnsafeRawBufferPointer(rebasing: $0[Int(start)..<Int(start) + wanted]))
            }
        case .pattern(let offset, _):
            let phase = Int((offset + start) % UInt64(Self.period))
            return try Self.table.withUnsafeBytes {
                try body(UnsafeRawBufferPointer(rebasing: $0[phase..<phase + min(wanted, Self.period)]))
            }
        }
    }

    /// A prime just below 1 MiB, so that the pattern differs at any two offsets that are powers of two.
    private static let period = 1_048_573

    /// Two periods of bytes from a generator with a fixed seed (splitmix64).
    private static let table: [UInt8] = {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        let once = (0..<period).map { _ -> UInt8 in
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return UInt8(truncatingIfNeeded: word ^ (word >> 31))
        }
        return once + once
    }()
}
