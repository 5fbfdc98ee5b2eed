import CCrypto

/// The name git gives a file's contents: the SHA-1 of `blob <length>`, a NUL and the bytes, written as 40 lower-case
/// hexadecimal digits.
///
/// SHA-1 withstands accidents, and an attacker only as far as the place that names the file does: Hearth takes it where a
/// hub gives nothing better, never in place of a SHA-256.
public struct GitBlobID: Sendable, Hashable, CustomStringConvertible {
    /// The number of bytes in the name.
    public static let byteCount = 20

    /// The 20 bytes.
    public let bytes: [UInt8]

    /// Reads 40 hexadecimal digits in either case, `nil` for anything else.
    public init?(hex: some StringProtocol) {
        guard let bytes = [UInt8](hexadecimal: hex), bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    fileprivate init(finishing bytes: [UInt8]) { self.bytes = bytes }

    /// The name of bytes already in memory.
    public init(hashing bytes: [UInt8]) {
        var hasher = GitBlobHasher(size: UInt64(bytes.count))
        bytes.withUnsafeBytes { hasher.update($0) }
        self = hasher.finalize()
    }

    /// The 40 lower-case digits.
    public var hex: String { bytes.hexadecimal }

    public var description: String { hex }
}

/// Names a file's contents as git does, in one pass (OpenSSL `EVP_sha1`).
public struct GitBlobHasher: ~Copyable {
    private let context: OpaquePointer

    /// Starts the name of contents of `size` bytes; with any other number of bytes it is the name of nothing.
    public init(size: UInt64) {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha1(), nil) == 1 else {
            // Only an exhausted heap or a library built without SHA-1 gets here; no input can.
            preconditionFailure("OpenSSL offers no SHA-1")
        }
        self.context = context
        Array("blob \(size)\0".utf8).withUnsafeBytes { update($0) }
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Adds bytes.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        EVP_DigestUpdate(context, base, bytes.count)
    }

    /// Ends the name.
    public consuming func finalize() -> GitBlobID {
        let bytes = [UInt8](unsafeUninitializedCapacity: GitBlobID.byteCount) { buffer, count in
            EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
            count = GitBlobID.byteCount
        }
        return GitBlobID(finishing: bytes)
    }
}
