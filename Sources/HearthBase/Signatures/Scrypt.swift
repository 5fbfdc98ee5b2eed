#if canImport(CryptoKit)
import Foundation

/// The key derivation scrypt (RFC 7914), which CryptoKit lacks.
enum Scrypt {
    /// The first 32 bytes of the key; `nil` if there is not enough memory. Blocks for as long as the cost says.
    static func key(_ passphrase: [UInt8], salt: [UInt8], cost: SealedSecret.Cost) -> [UInt8]? {
        let width = 32 * Int(cost.r)
        // The words of a block, a block of work, and one block for each step of the mixing.
        let count = width * (Int(cost.n) + 2)
        guard let memory = malloc(4 * count) else { return nil }
        let words = memory.bindMemory(to: UInt32.self, capacity: count)
        defer {
            memset_s(memory, 4 * count, 0, 4 * count)
            free(memory)
        }
        let (block, work, table) = (words, words + width, words + 2 * width)
        var mixed: [UInt8] = []
        let blocks = pbkdf2(passphrase, salt, count: Int(cost.p) * 4 * width)
        for start in stride(from: 0, to: blocks.count, by: 4 * width) {
            for word in 0..<width {
                block[word] = (0..<4).reduce(0) { $0 | UInt32(blocks[start + 4 * word + $1]) << (8 * UInt32($1)) }
            }
            mix(block, work, table, width: width, steps: Int(cost.n))
            for word in 0..<width {
                mixed += (0..<4).map { UInt8(truncatingIfNeeded: block[word] >> (8 * UInt32($0))) }
            }
        }
        return pbkdf2(passphrase, mixed, count: 32)
    }

    /// PBKDF2 with HMAC-SHA-256 and one iteration (RFC 8018).
    private static func pbkdf2(_ passphrase: [UInt8], _ salt: [UInt8], count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var index: UInt32 = 0
        while bytes.count < count {
            index += 1
            let number = (0..<4).map { UInt8(truncatingIfNeeded: index >> (24 - 8 * UInt32($0))) }
            bytes += HMACSHA256.code(of: salt + number, key: passphrase)
        }
        return Array(bytes.prefix(count))
    }

    private typealias Words = UnsafeMutablePointer<UInt32>

    /// scryptROMix: fills a table with the steps of the block, and mixes the block with entries that it chooses itself.
    private static func mix(_ block: Words, _ work: Words, _ table: Words, width: Int, steps: Int) {
        for step in 0..<steps {
            (table + step * width).update(from: block, count: width)
            mixBlock(block, work, width: width)
        }
        for _ in 0..<steps {
            // The number of steps is a power of two.
            let entry = table + (Int(block[width - 16]) & (steps - 1)) * width
            for word in 0..<width { block[word] ^= entry[word] }
            mixBlock(block, work, width: width)
        }
    }

    /// scryptBlockMix: chains Salsa20/8 over the parts of 16 words; parts of even number come first in the result.
    private static func mixBlock(_ block: Words, _ work: Words, width: Int) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 32) { scratch in
            guard let chain = scratch.baseAddress else { return }
            let rounds = chain + 16
            chain.update(from: block + width - 16, count: 16)
            let half = width / 2
            for part in 0..<(width / 16) {
                for word in 0..<16 { chain[word] ^= block[16 * part + word] }
                rounds.update(from: chain, count: 16)
                for _ in 0..<4 { doubleRound(rounds) }
                for word in 0..<16 { chain[word] &+= rounds[word] }
                (work + (part % 2) * half + (part / 2) * 16).update(from: chain, count: 16)
            }
            block.update(from: work, count: width)
        }
    }

    /// Two rounds of Salsa20: over the columns and over the rows.
    private static func doubleRound(_ x: Words) {
        quarter(x, 0, 4, 8, 12)
        quarter(x, 5, 9, 13, 1)
        quarter(x, 10, 14, 2, 6)
        quarter(x, 15, 3, 7, 11)
        quarter(x, 0, 1, 2, 3)
        quarter(x, 5, 6, 7, 4)
        quarter(x, 10, 11, 8, 9)
        quarter(x, 15, 12, 13, 14)
    }

    @inline(__always)
    private static func quarter(_ x: Words, _ a: Int, _ b: Int, _ c: Int, _ d: Int) {
        x[b] ^= rotated(x[a] &+ x[d], 7)
        x[c] ^= rotated(x[b] &+ x[a], 9)
        x[d] ^= rotated(x[c] &+ x[b], 13)
        x[a] ^= rotated(x[d] &+ x[c], 18)
    }

    @inline(__always)
    private static func rotated(_ word: UInt32, _ bits: UInt32) -> UInt32 { word << bits | word >> (32 - bits) }
}
#endif
