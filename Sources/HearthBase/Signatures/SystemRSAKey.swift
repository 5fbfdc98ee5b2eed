#if canImport(CryptoKit)
import Foundation
import Security

/// An RSA public key of Apple's Security (`SecKey`), for signatures with the padding PSS.
struct SystemRSAKey {
    private let key: SecKey

    /// Reads `SubjectPublicKeyInfo` in DER form; `nil` if it holds no RSA key of an accepted size.
    init?(_ bytes: [UInt8]) {
        guard let parts = RSAKeyBytes(bytes), let bits = Int32(exactly: parts.bits),
            SignatureScheme.rsaBits.contains(bits)
        else { return nil }
        let attributes = NSDictionary(
            objects: [kSecAttrKeyTypeRSA as NSString, kSecAttrKeyClassPublic as NSString],
            forKeys: [kSecAttrKeyType as NSString, kSecAttrKeyClass as NSString])
        let data = NSData(data: Data(parts.inner))
        guard let key = SecKeyCreateWithData(data as CFData, attributes as CFDictionary, nil) else { return nil }
        self.key = key
    }

    /// Whether the signature is one of this key over the message. The salt is as long as the digest, as TUF and RFC 8017
    /// recommend: Security verifies no other length, which OpenSSL does.
    func accepts(_ signature: [UInt8], of message: UnsafeRawBufferPointer, _ scheme: SignatureScheme) -> Bool {
        let algorithm: SecKeyAlgorithm? =
            switch scheme {
            case .rsaPSS256: .rsaSignatureMessagePSSSHA256
            case .rsaPSS384: .rsaSignatureMessagePSSSHA384
            case .rsaPSS512: .rsaSignatureMessagePSSSHA512
            case .ed25519, .ecdsaP256, .ecdsaP384, .ecdsaP521: nil
            }
        guard let algorithm else { return false }
        let (text, proof) = (NSData(data: Data(message)), NSData(data: Data(signature)))
        return SecKeyVerifySignature(key, algorithm, text as CFData, proof as CFData, nil)
    }
}
#endif
