#if !canImport(CryptoKit)
import CCrypto

/// A streaming SHA-256 (OpenSSL `EVP_sha256`, which uses the processor's SHA instructions if it has them).
package struct SHA256Hasher: ~Copyable {
    private let context: OpaquePointer

    /// Starts an empty hash.
    package init() {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            // Only a full heap or a library without SHA-256 leads here; no input can.
            preconditionFailure("OpenSSL offers no SHA-256")
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Adds bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        guard EVP_DigestUpdate(context, base, bytes.count) == 1 else {
            // After a failure the digest would be that of other bytes, so no caller could continue.
            preconditionFailure("OpenSSL failed to add bytes to a SHA-256")
        }
    }

    /// Ends the hash.
    package consuming func finalize() -> SHA256Digest {
        var bytes = [UInt8](repeating: 0, count: SHA256Digest.byteCount)
        var count: UInt32 = 0
        let isDone = bytes.withUnsafeMutableBufferPointer { EVP_DigestFinal_ex(context, $0.baseAddress, &count) == 1 }
        guard isDone, Int(count) == SHA256Digest.byteCount, let digest = SHA256Digest(bytes: bytes) else {
            preconditionFailure("OpenSSL failed to end a SHA-256")
        }
        return digest
    }
}
#endif
