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
        let order = pieces.indices.filter { !pieces[$0].isEmpty }
            .sorted { pieces[$0].lexicographicallyPrecedes(pieces[$1]) }
        others = pieces.indices.filter { pieces[$0].isEmpty }.map { Int32($0) }
        bytes.reserveCapacity(order.reduce(0) { $0 + pieces[$1].count })
        var last: [UInt8] = []
        for token in order {
            let piece = pieces[token]
            common.append(UInt16(clamping: zip(last, piece).prefix { $0 == $1 }.count))
            bytes += piece
            starts.append(bytes.count)
            tokens.append(Int32(token))
            last = piece
        }
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
