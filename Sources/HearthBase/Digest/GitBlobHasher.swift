#if !canImport(CryptoKit)
import CCrypto

/// Computes git's name of a file's contents in one pass (OpenSSL `EVP_sha1`).
package struct GitBlobHasher: ~Copyable {
    private let context: OpaquePointer

    /// Starts the name of contents of `size` bytes; the result is only valid for exactly that number.
    /// - Throws: ``DigestError`` with `digest-unavailable` if the system's OpenSSL refuses SHA-1.
    package init(size: UInt64) throws(DigestError) {
        guard let context = EVP_MD_CTX_new() else { throw Self.unavailable() }
        let head = Array("blob \(size)\0".utf8)
        guard EVP_DigestInit_ex(context, EVP_sha1(), nil) == 1, EVP_DigestUpdate(context, head, head.count) == 1 else {
            EVP_MD_CTX_free(context)
            throw Self.unavailable()
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Adds bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) throws(DigestError) {
        guard let base = bytes.baseAddress else { return }
        guard EVP_DigestUpdate(context, base, bytes.count) == 1 else { throw Self.unavailable() }
    }

    /// Ends the name.
    package consuming func finalize() throws(DigestError) -> GitBlobID {
        var bytes = [UInt8](repeating: 0, count: GitBlobID.byteCount)
        var count: UInt32 = 0
        let isDone = bytes.withUnsafeMutableBufferPointer { EVP_DigestFinal_ex(context, $0.baseAddress, &count) == 1 }
        guard isDone, Int(count) == GitBlobID.byteCount else { throw Self.unavailable() }
        return GitBlobID(finishing: bytes)
    }

    private static func unavailable() -> DigestError {
        DigestError(
            .unavailable, "this system computes no SHA-1, the digest a hub gives for small files",
            context: ErrorContext(remedy: "Allow SHA-1 in the system's OpenSSL, or use a source that gives SHA-256."))
    }
}
#endif
