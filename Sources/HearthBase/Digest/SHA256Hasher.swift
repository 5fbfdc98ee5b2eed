import CCrypto

/// A streaming SHA-256 (OpenSSL `EVP_sha256`, which uses the processor's SHA instructions where it has them).
public struct SHA256Hasher: ~Copyable {
    private let context: OpaquePointer

    /// Starts an empty hash.
    public init() {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            // Only an exhausted heap or a library built without SHA-256 gets here; no input can.
            preconditionFailure("OpenSSL offers no SHA-256")
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Adds bytes.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        EVP_DigestUpdate(context, base, bytes.count)
    }

    /// Ends the hash.
    public consuming func finalize() -> SHA256Digest {
        let bytes = [UInt8](unsafeUninitializedCapacity: SHA256Digest.byteCount) { buffer, count in
            EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
            count = SHA256Digest.byteCount
        }
        guard let digest = SHA256Digest(bytes: bytes) else { preconditionFailure("SHA-256 is 32 bytes") }
        return digest
    }
}
