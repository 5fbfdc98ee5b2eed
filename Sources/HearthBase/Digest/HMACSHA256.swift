#if !canImport(CryptoKit)
import CCrypto
import Foundation

/// A keyed SHA-256 of bytes in memory (RFC 2104; OpenSSL `EVP_Q_mac`).
package enum HMACSHA256 {
    /// The 32 bytes of the code over a message.
    /// - Parameter key: at least one byte.
    package static func code(of message: some ContiguousBytes, key: some ContiguousBytes) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: SHA256Digest.byteCount)
        var count = 0
        let isDone = key.withUnsafeBytes { key in
            message.withUnsafeBytes { message in
                EVP_Q_mac(
                    nil, "HMAC", nil, "SHA256", nil, key.baseAddress, key.count,
                    message.bindMemory(to: UInt8.self).baseAddress, message.count, &bytes,
                    SHA256Digest.byteCount, &count) != nil
            }
        }
        guard isDone, count == bytes.count else {
            // Only a full heap or a library without HMAC leads here; no input can.
            preconditionFailure("OpenSSL offers no HMAC with SHA-256")
        }
        return bytes
    }
}
#endif
