import Foundation

#if canImport(CryptoKit)
import CryptoKit
#else
import CCrypto
#endif

/// Digests that others demand, of bytes in memory (OpenSSL `EVP_Digest`; CryptoKit on Apple platforms). The raw value is the number of bytes.
package enum ForeignDigest: Int {
    /// S3 names the parts of an upload by it. It proves nothing against an attacker.
    case md5 = 16
    /// For metadata of publishers that use it.
    case sha512 = 64

    /// The digest of bytes; `nil` if this system's OpenSSL forbids it.
    package func digest(of data: some ContiguousBytes) -> [UInt8]? {
        #if canImport(CryptoKit)
        data.withUnsafeBytes { data in
            switch self {
            case .md5: Array(Insecure.MD5.hash(data: data))
            case .sha512: Array(SHA512.hash(data: data))
            }
        }
        #else
        var bytes = [UInt8](repeating: 0, count: rawValue)
        var count: UInt32 = 0
        let isDone = data.withUnsafeBytes { data in
            EVP_Digest(data.baseAddress, data.count, &bytes, &count, self == .md5 ? EVP_md5() : EVP_sha512(), nil) == 1
        }
        return isDone && Int(count) == rawValue ? bytes : nil
        #endif
    }
}
