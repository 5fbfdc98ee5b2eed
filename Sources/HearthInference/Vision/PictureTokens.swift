import HearthBase

/// The numbers of pictures in a ledger of tokens: negative, one for each position, derived from the picture's digest.
///
/// So two ledgers agree exactly as far as their texts and pictures do, in this process and in any other that reads a
/// saved state.
package enum PictureTokens {
    /// The numbers of one part of a picture, -1 and below.
    /// - Parameters:
    ///   - part: the number of the part.
    ///   - count: the number of its positions.
    package static func tokens(of digest: SHA256Digest, part: Int, count: Int) -> [Int32] {
        var tokens: [Int32] = []
        var block = 0
        while tokens.count < count {
            let bytes = SHA256Digest(hashing: Array("\(digest.hex) \(part) \(block)".utf8)).bytes
            for place in stride(from: 0, to: bytes.count, by: 4) where tokens.count < count {
                let number = bytes[place..<place + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                tokens.append(-1 - Int32(number >> 1))
            }
            block += 1
        }
        return tokens
    }
}
