#if canImport(CryptoKit)
import CryptoKit
import Foundation

extension VerifyingKey {
    /// Whether the bytes are a key of the scheme, in the one form that the system itself would write.
    var isUsable: Bool {
        switch scheme {
        case .ed25519: (try? Curve25519.Signing.PublicKey(rawRepresentation: bytes)) != nil
        // Other bytes of the same key would make two texts of one key.
        case .ecdsaP256: (try? P256.Signing.PublicKey(derRepresentation: bytes))?.derRepresentation == Data(bytes)
        case .ecdsaP384: (try? P384.Signing.PublicKey(derRepresentation: bytes))?.derRepresentation == Data(bytes)
        case .ecdsaP521: (try? P521.Signing.PublicKey(derRepresentation: bytes))?.derRepresentation == Data(bytes)
        case .rsaPSS256, .rsaPSS384, .rsaPSS512: SystemRSAKey(bytes) != nil
        }
    }

    /// Whether the signature is one of this key over the message. ECDSA's are in DER form, and hashed as the scheme says:
    /// CryptoKit takes the digest of the curve's size.
    func isSignature(_ signature: [UInt8], of message: UnsafeRawBufferPointer) -> Bool {
        switch scheme {
        case .ed25519:
            guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes) else { return false }
            return key.isValidSignature(signature, for: message)
        case .ecdsaP256:
            guard let key = try? P256.Signing.PublicKey(derRepresentation: bytes),
                let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: message)
        case .ecdsaP384:
            guard let key = try? P384.Signing.PublicKey(derRepresentation: bytes),
                let signature = try? P384.Signing.ECDSASignature(derRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: message)
        case .ecdsaP521:
            guard let key = try? P521.Signing.PublicKey(derRepresentation: bytes),
                let signature = try? P521.Signing.ECDSASignature(derRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: message)
        case .rsaPSS256, .rsaPSS384, .rsaPSS512:
            return SystemRSAKey(bytes)?.accepts(signature, of: message, scheme) ?? false
        }
    }
}

extension Ed25519Key {
    /// The 32 public bytes of a seed; `nil` unless it has 32 bytes.
    static func publicBytes(of seed: [UInt8]) -> [UInt8]? {
        guard seed.count == SignatureScheme.ed25519KeyLength else { return nil }
        return (try? Curve25519.Signing.PrivateKey(rawRepresentation: seed)).map {
            Array($0.publicKey.rawRepresentation)
        }
    }

    /// The 64 bytes of the signature over a message. CryptoKit adds random numbers: two signatures of one message differ,
    /// and both are right.
    package func sign(_ message: some ContiguousBytes) -> [UInt8] {
        message.withUnsafeBytes { message in
            guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed),
                let signature = try? key.signature(for: message)
            else { preconditionFailure("CryptoKit failed to sign with Ed25519") }
            return Array(signature)
        }
    }
}
#endif
