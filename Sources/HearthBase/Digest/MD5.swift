import CCrypto
import Foundation

/// MD5 of bytes in memory (OpenSSL `EVP_Digest`): S3 names the parts of an upload by it. It proves nothing against an
/// attacker.
package enum MD5 {
    /// The number of bytes in a digest.
    package static let byteCount = 16

    /// The digest of bytes; `nil` if this system's OpenSSL forbids MD5.
    package static func digest(of data: some ContiguousBytes) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        var count: UInt32 = 0
        let isDone = data.withUnsafeBytes { data in
            EVP_Digest(data.baseAddress, data.count, &bytes, &count, EVP_md5(), nil) == 1
        }
        return isDone && Int(count) == byteCount ? bytes : nil
    }
}
