import CCrypto
import Foundation

/// An Ed25519 private key (OpenSSL `EVP_DigestSign`). Never logged: its description names only the public half.
package struct Ed25519Key: Sendable, CustomStringConvertible, CustomReflectable {
    /// The 32 secret bytes.
    package let seed: [UInt8]
    /// The 32 public bytes.
    package let publicBytes: [UInt8]

    /// Makes a key of the system's random numbers.
    package init() {
        guard let key = Self(seed: .random(SignatureScheme.ed25519KeyLength)) else {
            // Every 32 bytes are a key, so only a library without Ed25519 leads here.
            preconditionFailure("OpenSSL offers no Ed25519")
        }
        self = key
    }

    /// The key of a seed; `nil` unless it has 32 bytes.
    package init?(seed: [UInt8]) {
        guard let key = Self.load(seed) else { return nil }
        defer { EVP_PKEY_free(key) }
        var bytes = [UInt8](repeating: 0, count: SignatureScheme.ed25519KeyLength)
        var count = bytes.count
        guard EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1, count == bytes.count else { return nil }
        self.seed = seed
        publicBytes = bytes
    }

    /// The 64 bytes of the signature over a message.
    package func sign(_ message: some ContiguousBytes) -> [UInt8] {
        message.withUnsafeBytes { message in
            var signature = [UInt8](repeating: 0, count: 64)
            var count = signature.count
            guard let key = Self.load(seed), let context = EVP_MD_CTX_new() else {
                preconditionFailure("OpenSSL has no memory for a signature")
            }
            defer {
                EVP_MD_CTX_free(context)
                EVP_PKEY_free(key)
            }
            let bytes = message.isEmpty ? [0] : Array(message)
            guard EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
                EVP_DigestSign(context, &signature, &count, bytes, message.count) == 1, count == signature.count
            else { preconditionFailure("OpenSSL failed to sign with Ed25519") }
            return signature
        }
    }

    private static func load(_ seed: [UInt8]) -> OpaquePointer? {
        guard seed.count == SignatureScheme.ed25519KeyLength else { return nil }
        return EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
    }

    package var description: String { "Ed25519 key \(publicBytes.hexadecimal)" }

    package var customMirror: Mirror { Mirror(self, children: ["publicBytes": publicBytes.hexadecimal]) }
}
