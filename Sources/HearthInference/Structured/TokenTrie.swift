/// The tokens of a vocabulary in the order of their bytes. Tokens with the same beginning follow one another, so a
/// beginning that a grammar refuses is checked once for all of them.
package struct TokenTrie: Sendable {
    private var bytes: [UInt8] = []
    /// The place of each token's first byte, and the end of the last token.
    private var starts: [Int] = [0]
    /// The length of each token's common beginning with the token before.
    private var common: [UInt16] = []
    private var tokens: [Int32] = []

    /// The tokens without bytes.
    package let others: [Int32]

    /// - Parameter pieces: the bytes of each token.
    package init(_ pieces: [[UInt8]]) {
        // The first bytes as a number decide nearly every comparison, and cost less than a walk along two arrays.
        let order = pieces.indices.filter { !pieces[$0].isEmpty }.map { (front: Self.front(pieces[$0]), token: $0) }
            .sorted { left, right in
                left.front == right.front
                    ? pieces[left.token].lexicographicallyPrecedes(pieces[right.token]) : left.front < right.front
            }
        others = pieces.indices.filter { pieces[$0].isEmpty }.map { Int32($0) }
        bytes.reserveCapacity(order.reduce(0) { $0 + pieces[$1.token].count })
        var last: [UInt8] = []
        for (_, token) in order {
            let piece = pieces[token]
            var length = 0
            while length < last.count, length < piece.count, last[length] == piece[length] { length += 1 }
            common.append(UInt16(clamping: length))
            bytes += piece
            starts.append(bytes.count)
            tokens.append(Int32(token))
            last = piece
        }
    }

    /// The first eight bytes of a piece as a number, with zeros after a shorter one.
    private static func front(_ piece: [UInt8]) -> UInt64 {
        var front: UInt64 = 0
        for place in 0..<8 { front = front << 8 | (place < piece.count ? UInt64(piece[place]) : 0) }
        return front
    }

    /// The number of tokens with bytes.
    package var count: Int { tokens.count }

    /// The result for one byte.
    package enum Step {
        case taken, refused
        /// The byte and all bytes after it fit.
        case takenWithAllAfter
    }

    /// Calls `body` with each token whose bytes all fit.
    /// - Parameters:
    ///   - take: checks the byte that follows the bytes taken before.
    ///   - back: keeps the first bytes of those taken, and drops the rest.
    package func visit(take: (UInt8) -> Step, back: (Int) -> Void, _ body: (Int32) -> Void) {
        var taken = 0
        // The number of bytes before the byte that decided for all tokens with that beginning.
        var decided: (place: Int, isTaken: Bool)?
        for index in tokens.indices {
            let shared = Int(common[index])
            if let decided, shared > decided.place {
                if decided.isTaken { body(tokens[index]) }
                continue
            }
            decided = nil
            if shared < taken {
                back(shared)
                taken = shared
            }
            let piece = bytes[starts[index]..<starts[index + 1]]
            for byte in piece.dropFirst(taken) where decided == nil {
                switch take(byte) {
                case .taken: taken += 1
                case .refused: decided = (taken, false)
                case .takenWithAllAfter: decided = (taken, true)
                }
            }
            if decided?.isTaken ?? true { body(tokens[index]) }
        }
    }
}
