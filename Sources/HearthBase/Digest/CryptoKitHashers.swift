#if canImport(CryptoKit)
import CryptoKit
import Foundation

/// A streaming SHA-256 (CryptoKit, which uses the processor's SHA instructions).
package struct SHA256Hasher: ~Copyable {
    private var hash = SHA256()

    /// Starts an empty hash.
    package init() {}

    /// Adds bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bufferPointer: bytes) }

    /// Ends the hash.
    package consuming func finalize() -> SHA256Digest {
        guard let digest = SHA256Digest(bytes: Array(hash.finalize())) else {
            preconditionFailure("CryptoKit made a SHA-256 of another length")
        }
        return digest
    }
}

/// Computes git's name of a file's contents in one pass (CryptoKit `Insecure.SHA1`).
package struct GitBlobHasher: ~Copyable {
    private var hash = Insecure.SHA1()

    /// Starts the name of contents of `size` bytes; the result is only valid for exactly that number. Never throws here:
    /// CryptoKit always has SHA-1.
    package init(size: UInt64) throws(DigestError) {
        Array("blob \(size)\0".utf8).withUnsafeBytes { hash.update(bufferPointer: $0) }
    }

    /// Adds bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) throws(DigestError) {
        hash.update(bufferPointer: bytes)
    }

    /// Ends the name.
    package consuming func finalize() throws(DigestError) -> GitBlobID { GitBlobID(finishing: Array(hash.finalize())) }
}

/// A keyed SHA-256 of bytes in memory (RFC 2104; CryptoKit `HMAC`).
package enum HMACSHA256 {
    /// The 32 bytes of the code over a message.
    /// - Parameter key: at least one byte.
    package static func code(of message: some ContiguousBytes, key: some ContiguousBytes) -> [UInt8] {
        message.withUnsafeBytes { message in
            Array(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key)))
        }
    }
}
#endif
