#if canImport(CryptoKit)
import Foundation
import Security

/// An RSA public key of Apple's Security (`SecKey`), for signatures with the padding PSS.
struct SystemRSAKey {
    private let key: SecKey
    /// The bits of the modulus.
    private let bits: Int

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
        self.bits = parts.bits
    }

    /// Whether the signature is one of this key over the message, with a salt of any length.
    func accepts(_ signature: [UInt8], of message: UnsafeRawBufferPointer, _ scheme: SignatureScheme) -> Bool {
        guard let encoding = PSSEncoding(scheme), signature.count == (bits + 7) / 8 else { return false }
        // Raising to the public exponent is what encryption without a padding does.
        let number = NSData(data: Data(signature))
        guard let raised = SecKeyCreateEncryptedData(key, .rsaEncryptionRaw, number as CFData, nil) else {
            return false
        }
        let bytes = [UInt8](Data(referencing: raised as NSData))
        guard bytes.count <= signature.count else { return false }
        let padded = [UInt8](repeating: 0, count: signature.count - bytes.count) + bytes
        return encoding.accepts(padded, bits: bits, of: message)
    }
}
#endif
