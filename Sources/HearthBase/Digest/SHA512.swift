import CCrypto
import Foundation

/// SHA-512 of bytes in memory (OpenSSL `EVP_Digest`), for metadata of publishers that use it.
package enum SHA512 {
    /// The number of bytes in a digest.
    package static let byteCount = 64

    /// The digest of bytes.
    package static func digest(of data: some ContiguousBytes) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        var count: UInt32 = 0
        let isDone = data.withUnsafeBytes { data in
            EVP_Digest(data.baseAddress, data.count, &bytes, &count, EVP_sha512(), nil) == 1
        }
        guard isDone, Int(count) == byteCount else {
            // Only a library without SHA-512 leads here; no input can.
            preconditionFailure("OpenSSL offers no SHA-512")
        }
        return bytes
    }
}
