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

public struct SecKeyAlgorithm: Hashable, Sendable {
    let digest: String
    public static let rsaSignatureMessagePSSSHA256 = SecKeyAlgorithm(digest: "SHA256")
    public static let rsaSignatureMessagePSSSHA384 = SecKeyAlgorithm(digest: "SHA384")
    public static let rsaSignatureMessagePSSSHA512 = SecKeyAlgorithm(digest: "SHA512")
}

/// Reads `RSAPublicKey` (RFC 8017), the inner structure alone.
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    guard attributes[kSecAttrKeyType] as? NSString == kSecAttrKeyTypeRSA,
        attributes[kSecAttrKeyClass] as? NSString == kSecAttrKeyClassPublic
    else { return nil }
    let bytes = [UInt8](keyData as Data)
    return bytes.withUnsafeBufferPointer { buffer in
        var position = buffer.baseAddress
        guard let key = d2i_PublicKey(EVP_PKEY_RSA, nil, &position, buffer.count) else {
            ERR_clear_error()
            return nil
        }
        return SecKey(key)
    }
}

/// Accepts salts of the digest's length alone, as Apple's does.
public func SecKeyVerifySignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signedData: CFData, _ signature: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
    guard let context = EVP_MD_CTX_new() else { return false }
    defer {
        EVP_MD_CTX_free(context)
        ERR_clear_error()
    }
    var settings: OpaquePointer?
    let (proof, text) = ([UInt8](signature as Data), [UInt8](signedData as Data))
    guard
        EVP_DigestVerifyInit(context, &settings, EVP_get_digestbyname(algorithm.digest), nil, key.pointer) == 1,
        EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING) == 1,
        EVP_PKEY_CTX_set_rsa_pss_saltlen(settings, RSA_PSS_SALTLEN_DIGEST) == 1
    else { return false }
    return EVP_DigestVerify(context, proof + [0], proof.count, text + [0], text.count) == 1
}
