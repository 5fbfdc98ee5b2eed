import AppleFoundation

// developer.apple.com/documentation/security/seckey
public final class SecKey: @unchecked Sendable {}

// developer.apple.com/documentation/security/ksecattrkeytype
public var kSecAttrKeyType: CFString { get {} }
// developer.apple.com/documentation/security/ksecattrkeytypersa
public var kSecAttrKeyTypeRSA: CFString { get {} }
// developer.apple.com/documentation/security/ksecattrkeyclass
public var kSecAttrKeyClass: CFString { get {} }
// developer.apple.com/documentation/security/ksecattrkeyclasspublic
public var kSecAttrKeyClassPublic: CFString { get {} }

// developer.apple.com/documentation/security/seckeyalgorithm
public struct SecKeyAlgorithm: Hashable, RawRepresentable, @unchecked Sendable {
    public let rawValue: CFString
    public init(rawValue: CFString) {}
    // developer.apple.com/documentation/security/seckeyalgorithm/rsaencryptionraw
    public static var rsaEncryptionRaw: SecKeyAlgorithm { get {} }
}

// developer.apple.com/documentation/security/seckeycreatewithdata(_:_:_:)
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {}

// developer.apple.com/documentation/security/seckeycreateencrypteddata(_:_:_:_:)
public func SecKeyCreateEncryptedData(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ plaintext: CFData, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {}
