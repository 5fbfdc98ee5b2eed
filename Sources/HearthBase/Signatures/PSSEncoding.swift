#if canImport(CryptoKit)
import CryptoKit
import Foundation

/// The padding PSS of an RSA signature (RFC 8017, section 9.1), for salts of any length: Apple's Security itself accepts salts of
/// the digest's length alone.
struct PSSEncoding {
    /// The scheme's digest of bytes.
    private let hash: ([UInt8]) -> [UInt8]

    /// `nil` for a scheme without this padding.
    init?(_ scheme: SignatureScheme) {
        switch scheme {
        case .rsaPSS256: hash = { Array(SHA256.hash(data: $0)) }
        case .rsaPSS384: hash = { Array(SHA384.hash(data: $0)) }
        case .rsaPSS512: hash = { Array(SHA512.hash(data: $0)) }
        case .ed25519, .ecdsaP256, .ecdsaP384, .ecdsaP521: return nil
        }
    }

    /// Whether the number of a signature, raised to the public exponent, is the encoding of a message.
    /// - Parameters:
    ///   - bytes: the number in as many bytes as the modulus has.
    ///   - bits: the bits of the modulus.
    func accepts(_ bytes: [UInt8], bits: Int, of message: UnsafeRawBufferPointer) -> Bool {
        // The encoding has one bit less than the modulus, and so perhaps one byte less.
        let surplus = bytes.count - (bits + 6) / 8
        guard surplus >= 0, bytes.prefix(surplus).allSatisfy({ $0 == 0 }) else { return false }
        let encoded = Array(bytes.dropFirst(surplus))
        let digest = hash(Array(message))
        let count = encoded.count - digest.count - 1
        guard count > 0, encoded.last == 0xBC else { return false }
        let (masked, proof) = (encoded[..<count], Array(encoded[count..<count + digest.count]))
        // The bits of the first byte that the encoding has.
        let used: UInt8 = 0xFF >> UInt8(8 * encoded.count - bits + 1)
        guard let first = masked.first, first & ~used == 0 else { return false }
        var block = zip(masked, mask(proof, count)).map { $0 ^ $1 }
        block[0] &= used
        // Zeros, a one, and the salt.
        guard let mark = block.firstIndex(where: { $0 != 0 }), block[mark] == 1 else { return false }
        return hash([UInt8](repeating: 0, count: 8) + digest + block[(mark + 1)...]) == proof
    }

    /// MGF1 (RFC 8017, appendix B.2.1): as many bytes as wanted out of a seed.
    private func mask(_ seed: [UInt8], _ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var index: UInt32 = 0
        while bytes.count < count {
            bytes += hash(seed + (0..<4).map { UInt8(truncatingIfNeeded: index >> (24 - 8 * UInt32($0))) })
            index += 1
        }
        return Array(bytes.prefix(count))
    }
}
#endif
