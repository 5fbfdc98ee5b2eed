/// The tokens of a vocabulary in the order of their bytes: tokens that begin alike stand together, so that a beginning that a
/// grammar refuses is checked once for all of them.
package struct TokenTrie: Sendable {
    private var bytes: [UInt8] = []
    /// The place of each token's first byte, and the end of the last token.
    private var starts: [Int] = [0]
    /// The bytes each token has in common with the one before it.
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

    /// The result of taking a byte.
    package enum Step {
        case taken, refused
        /// So does every byte after it.
        case takenWithAllAfter
    }

    /// Calls `body` with each token whose bytes are taken one after the other.
    /// - Parameters:
    ///   - take: takes a byte that follows those taken before.
    ///   - back: gives back all bytes taken but so many.
    package func visit(take: (UInt8) -> Step, back: (Int) -> Void, _ body: (Int32) -> Void) {
        var taken = 0
        // The bytes before the one that decided about all tokens that begin so.
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
