import Foundation

#if canImport(CryptoKit)
import CryptoKit
#else
import CCrypto
#endif

/// A SHA-256 digest: 32 bytes, written as 64 lower-case hexadecimal digits.
public struct SHA256Digest: CodedAsText, Sendable, Hashable, Codable, CustomStringConvertible {
    /// The number of bytes in a digest.
    public static let byteCount = 32

    /// The 32 bytes.
    public let bytes: [UInt8]

    /// A digest of exactly 32 bytes, `nil` for any other count.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// Reads 64 hexadecimal digits in either case, `nil` for other text.
    public init?(hex: some StringProtocol) {
        guard let bytes = [UInt8](hexadecimal: hex) else { return nil }
        self.init(bytes: bytes)
    }

    package init?(_ text: String) { self.init(hex: text) }

    /// The digest of bytes already in memory.
    public init(hashing data: some ContiguousBytes) {
        var hasher = SHA256Hasher()
        data.withUnsafeBytes { hasher.update($0) }
        self = hasher.finalize()
    }

    /// The 64 lower-case digits.
    public var hex: String { bytes.hexadecimal }

    /// The first 12 digits, which are enough for a person to distinguish digests.
    public var short: String { String(hex.prefix(12)) }

    public var description: String { hex }

    /// Compares all bytes in constant time (`CRYPTO_memcmp`; `timingsafe_bcmp` on Apple platforms), so that the duration
    /// does not depend on the first difference.
    public static func == (left: Self, right: Self) -> Bool {
        #if canImport(CryptoKit)
        timingsafe_bcmp(left.bytes, right.bytes, byteCount) == 0
        #else
        CRYPTO_memcmp(left.bytes, right.bytes, byteCount) == 0
        #endif
    }
}

extension [UInt8] {
    /// Bytes of the system's random numbers.
    package static func random(_ count: Int) -> Self {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    /// Reads an even number of hexadecimal digits, `nil` for other text.
    package init?(hexadecimal text: some StringProtocol) {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index].hexadecimalValue, let low = digits[index + 1].hexadecimalValue else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        self = bytes
    }

    /// Two lower-case hexadecimal digits for each byte.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

extension UInt8 {
    /// The value of an ASCII hexadecimal digit.
    fileprivate var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
