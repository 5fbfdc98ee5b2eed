import CCrypto

/// A streaming SHA-256 (OpenSSL `EVP_sha256`, which uses the processor's SHA instructions where it has them).
package struct SHA256Hasher: ~Copyable {
    private let context: OpaquePointer

    /// Starts an empty hash.
    package init() {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            // Only an exhausted heap or a library built without SHA-256 gets here; no input can.
            preconditionFailure("OpenSSL offers no SHA-256")
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Adds bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        guard EVP_DigestUpdate(context, base, bytes.count) == 1 else {
            // A failure leaves a digest of other bytes than these: no caller could go on with it.
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
