import Foundation

/// An Ed25519 private key (OpenSSL `EVP_DigestSign`; CryptoKit `Curve25519.Signing` on Apple platforms). Never logged: its description names only the public half.
package struct Ed25519Key: Sendable, CustomStringConvertible, CustomReflectable {
    /// The 32 secret bytes.
    package let seed: [UInt8]
    /// The 32 public bytes.
    package let publicBytes: [UInt8]

    /// Makes a key of the system's random numbers.
    package init() {
        guard let key = Self(seed: .random(SignatureScheme.ed25519KeyLength)) else {
            // Every 32 bytes are a key, so only a library without Ed25519 leads here.
            preconditionFailure("the cryptographic library offers no Ed25519")
        }
        self = key
    }

    /// The key of a seed; `nil` unless it has 32 bytes.
    package init?(seed: [UInt8]) {
        guard let publicBytes = Self.publicBytes(of: seed) else { return nil }
        self.seed = seed
        self.publicBytes = publicBytes
    }

    package var description: String { "Ed25519 key \(publicBytes.hexadecimal)" }

    package var customMirror: Mirror { Mirror(self, children: ["publicBytes": publicBytes.hexadecimal]) }
}
