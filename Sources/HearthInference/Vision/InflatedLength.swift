/// The unpacked length of a zlib stream (RFC 1950, 1951), found without unpacking it: what is copied from where is only counted,
/// so it takes no memory whatever the stream says.
struct InflatedLength {
    /// The bytes that come out; `nil` for a stream that is broken, cut off, or gives more than `limit`.
    static func measure(_ bytes: [UInt8], limit: Int) -> Int? {
        // Deflate with a window of at most 32 KiB, and no dictionary agreed on before.
        guard bytes.count >= 2, bytes[0] & 15 == 8, bytes[0] >> 4 <= 7, bytes[1] & 32 == 0,
            (Int(bytes[0]) << 8 | Int(bytes[1])) % 31 == 0
        else { return nil }
        return bytes.withUnsafeBufferPointer { buffer in
            var meter = Meter(bits: Bits(UnsafeBufferPointer(rebasing: buffer[2...])), limit: limit)
            return meter.run() ? meter.count : nil
        }
    }

    /// Bits, the lowest of each byte first.
    private struct Bits {
        private let buffer: UnsafeBufferPointer<UInt8>
        private var place = 0
        private var held: UInt64 = 0
        private var heldCount = 0

        init(_ buffer: UnsafeBufferPointer<UInt8>) { self.buffer = buffer }

        /// The next 16 bits, zeros after the end; nothing is taken.
        mutating func peek() -> Int {
            while heldCount < 32, place < buffer.count {
                held |= UInt64(buffer[place]) << UInt64(heldCount)
                heldCount += 8
                place += 1
            }
            return Int(held & 0xFFFF)
        }

        /// `false` when there are not that many left.
        mutating func skip(_ count: Int) -> Bool {
            guard count <= heldCount else { return false }
            held >>= UInt64(count)
            heldCount -= count
            return true
        }

        /// At most 16 bits.
        mutating func take(_ count: Int) -> Int? {
            let value = peek() & ((1 << count) - 1)
            return skip(count) ? value : nil
        }

        /// Goes to the next whole byte.
        mutating func align() { _ = skip(heldCount % 8) }

        mutating func skipBytes(_ count: Int) -> Bool {
            // What is held is whole bytes here.
            let fromHeld = min(count, heldCount / 8)
            _ = skip(fromHeld * 8)
            let rest = count - fromHeld
            guard rest <= buffer.count - place else { return false }
            place += rest
            return true
        }
    }

    /// A prefix code as a table: for the next bits, symbol and length; 0 for bits that are no code.
    private struct Code {
        private var table: [UInt16]
        private let mask: Int

        /// `nil` for lengths that are no code: more codes than there is room for.
        init?(_ lengths: ArraySlice<UInt8>) {
            let longest = Int(lengths.max() ?? 0)
            var next = [Int](repeating: 0, count: 17)
            var counts = [Int](repeating: 0, count: 17)
            for length in lengths where length > 0 { counts[Int(length)] += 1 }
            var code = 0
            for length in 1..<16 {
                next[length] = code
                code = (code + counts[length]) << 1
                guard next[length] + counts[length] <= 1 << length else { return nil }
            }
            table = [UInt16](repeating: 0, count: 1 << longest)
            mask = (1 << longest) - 1
            for (symbol, length) in lengths.enumerated() where length > 0 {
                let length = Int(length)
                var reversed = 0
                for bit in 0..<length where next[length] >> bit & 1 == 1 { reversed |= 1 << (length - 1 - bit) }
                next[length] += 1
                for entry in stride(from: reversed, to: table.count, by: 1 << length) {
                    table[entry] = UInt16(symbol << 4 | length)
                }
            }
        }

        func symbol(_ bits: inout Bits) -> Int? {
            let entry = Int(table[bits.peek() & mask])
            guard entry & 15 > 0, bits.skip(entry & 15) else { return nil }
            return entry >> 4
        }
    }

    private struct Meter {
        var bits: Bits
        let limit: Int
        var count = 0

        /// `false` when it is broken, cut off or too much.
        mutating func run() -> Bool {
            // Blocks that bring nothing cost more than bytes that do.
            var empty = 0
            while true {
                let before = count
                guard let isLast = bits.take(1), let kind = bits.take(2) else { return false }
                let isWhole =
                    switch kind {
                    case 0: stored()
                    case 1: compressed(Self.fixed.symbols, Self.fixed.distances)
                    case 2: described()
                    default: false
                    }
                if count == before { empty += 1 }
                guard isWhole, count <= limit, empty <= 1000 else { return false }
                if isLast == 1 { return true }
            }
        }

        private mutating func stored() -> Bool {
            bits.align()
            guard let length = bits.take(16), let check = bits.take(16), length ^ check == 0xFFFF else { return false }
            count += length
            return bits.skipBytes(length)
        }

        private mutating func described() -> Bool {
            guard let symbols = bits.take(5), let distances = bits.take(5), let lengths = bits.take(4) else {
                return false
            }
            let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
            var outer = [UInt8](repeating: 0, count: 19)
            for index in 0..<lengths + 4 {
                guard let length = bits.take(3) else { return false }
                outer[order[index]] = UInt8(length)
            }
            guard let code = Code(outer[...]) else { return false }
            let total = symbols + 257 + distances + 1
            var inner: [UInt8] = []
            while inner.count < total {
                guard let symbol = code.symbol(&bits) else { return false }
                switch symbol {
                case 16:
                    guard let last = inner.last, let more = bits.take(2) else { return false }
                    inner += [UInt8](repeating: last, count: 3 + more)
                case 17:
                    guard let more = bits.take(3) else { return false }
                    inner += [UInt8](repeating: 0, count: 3 + more)
                case 18:
                    guard let more = bits.take(7) else { return false }
                    inner += [UInt8](repeating: 0, count: 11 + more)
                default: inner.append(UInt8(symbol))
                }
            }
            guard inner.count == total, let first = Code(inner[..<(symbols + 257)]),
                let second = Code(inner[(symbols + 257)...])
            else { return false }
            return compressed(first, second)
        }

        private mutating func compressed(_ symbols: Code, _ distances: Code) -> Bool {
            while count <= limit {
                guard let symbol = symbols.symbol(&bits) else { return false }
                if symbol < 256 {
                    count += 1
                } else if symbol == 256 {
                    return true
                } else {
                    guard symbol < 286, let more = bits.take(Self.lengths[symbol - 257].more),
                        let distance = distances.symbol(&bits), distance < 30,
                        let further = bits.take(Self.distances[distance].more),
                        // Nothing lies before the beginning.
                        Self.distances[distance].base + further <= count
                    else { return false }
                    count += Self.lengths[symbol - 257].base + more
                }
            }
            return false
        }

        private static let fixed: (symbols: Code, distances: Code) = {
            let lengths =
                [UInt8](repeating: 8, count: 144) + [UInt8](repeating: 9, count: 112) + [UInt8](repeating: 7, count: 24)
                + [UInt8](repeating: 8, count: 8)
            guard let symbols = Code(lengths[...]), let distances = Code([UInt8](repeating: 5, count: 30)[...]) else {
                preconditionFailure("the code of RFC 1951 is one")
            }
            return (symbols, distances)
        }()

        /// The lengths and distances that symbols stand for, and the bits that add to them.
        private static let lengths = steps(from: 3, every: 4, count: 28) + [(base: 258, more: 0)]
        private static let distances = steps(from: 1, every: 2, count: 30)

        private static func steps(from first: Int, every group: Int, count: Int) -> [(base: Int, more: Int)] {
            var base = first
            return (0..<count).map { index in
                let more = max(0, index / group - 1)
                defer { base += 1 << more }
                return (base, more)
            }
        }
    }
}
