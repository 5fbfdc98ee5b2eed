// RSA keys with the names of Apple's Security, over OpenSSL.
import CCrypto
import Foundation
import StandIns

public final class SecKey: @unchecked Sendable {
    let pointer: OpaquePointer
    init(_ pointer: OpaquePointer) { self.pointer = pointer }
    deinit { EVP_PKEY_free(pointer) }
}

nonisolated(unsafe) public let kSecAttrKeyType: CFString = "type"
nonisolated(unsafe) public let kSecAttrKeyTypeRSA: CFString = "42"
nonisolated(unsafe) public let kSecAttrKeyClass: CFString = "kcls"
nonisolated(unsafe) public let kSecAttrKeyClassPublic: CFString = "0"

public enum SecKeyAlgorithm: Sendable { case rsaEncryptionRaw }

/// Reads `RSAPublicKey` (RFC 8017), the inner structure alone.
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    guard attributes[kSecAttrKeyType] as? NSString == kSecAttrKeyTypeRSA,
        attributes[kSecAttrKeyClass] as? NSString == kSecAttrKeyClassPublic
    else { return nil }
    let bytes = [UInt8](Data(referencing: keyData))
    return bytes.withUnsafeBufferPointer { buffer in
        var position = buffer.baseAddress
        guard let key = d2i_PublicKey(EVP_PKEY_RSA, nil, &position, buffer.count) else {
            ERR_clear_error()
            return nil
        }
        return SecKey(key)
    }
}

/// Raises a number below the modulus, in as many bytes as the modulus has, to the public exponent.
public func SecKeyCreateEncryptedData(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ plaintext: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    guard let context = EVP_PKEY_CTX_new(key.pointer, nil) else { return nil }
    defer {
        EVP_PKEY_CTX_free(context)
        ERR_clear_error()
    }
    let number = [UInt8](Data(referencing: plaintext))
    var bytes = [UInt8](repeating: 0, count: number.count)
    var count = bytes.count
    guard EVP_PKEY_encrypt_init(context) == 1, EVP_PKEY_CTX_set_rsa_padding(context, RSA_NO_PADDING) == 1,
        EVP_PKEY_encrypt(context, &bytes, &count, number, number.count) == 1
    else { return nil }
    return NSData(data: Data(bytes.prefix(count)))
}
