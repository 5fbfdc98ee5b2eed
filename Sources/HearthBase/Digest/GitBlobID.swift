import CCrypto

/// Git's name of a file's contents: the SHA-1 of `blob <length>`, a NUL and the bytes, written as 40 lower-case
/// hexadecimal digits.
///
/// SHA-1 detects accidents. It detects an attack only as far as the source of the name is trusted. Hearth uses it if a
/// hub gives no better digest, and never in place of a SHA-256.
package struct GitBlobID: Sendable, Hashable, CustomStringConvertible {
    /// The number of bytes in the name.
    package static let byteCount = 20

    /// The 20 bytes.
    package let bytes: [UInt8]

    /// Reads 40 hexadecimal digits in either case, `nil` for other text.
    package init?(hex: some StringProtocol) {
        guard let bytes = [UInt8](hexadecimal: hex), bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    fileprivate init(finishing bytes: [UInt8]) { self.bytes = bytes }

    /// The 40 lower-case digits.
    package var hex: String { bytes.hexadecimal }

    package var description: String { hex }
}

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
