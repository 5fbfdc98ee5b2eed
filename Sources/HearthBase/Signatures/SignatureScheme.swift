import CCrypto

/// The signature schemes that this package verifies, by the names that signed metadata uses.
package enum SignatureScheme: String, Sendable, Hashable, CaseIterable {
    case ed25519
    case ecdsaP256 = "ecdsa-sha2-nistp256"
    case ecdsaP384 = "ecdsa-sha2-nistp384"
    case ecdsaP521 = "ecdsa-sha2-nistp521"
    case rsaPSS256 = "rsassa-pss-sha256"
    case rsaPSS384 = "rsassa-pss-sha384"
    case rsaPSS512 = "rsassa-pss-sha512"

    /// The sizes of RSA keys that are accepted: shorter ones are weak, longer ones cost seconds to verify with.
    static let rsaBits: ClosedRange<Int32> = 2048...8192

    /// The bytes of an Ed25519 public key, and of its private seed.
    static let ed25519KeyLength = 32

    /// The longest signature that is looked at: one of an RSA key of 8192 bits.
    package static let maximumSignatureLength = 1024

    /// The digest that is signed; `nil` for Ed25519, which signs the message itself.
    var digest: OpaquePointer? {
        switch self {
        case .ed25519: nil
        case .ecdsaP256, .rsaPSS256: EVP_sha256()
        case .ecdsaP384, .rsaPSS384: EVP_sha384()
        case .ecdsaP521, .rsaPSS512: EVP_sha512()
        }
    }

    /// Whether signatures have the padding PSS.
    var isPSS: Bool {
        switch self {
        case .rsaPSS256, .rsaPSS384, .rsaPSS512: true
        default: false
        }
    }

    /// The curve's name in OpenSSL, for ECDSA.
    private var curve: String? {
        switch self {
        case .ecdsaP256: "prime256v1"
        case .ecdsaP384: "secp384r1"
        case .ecdsaP521: "secp521r1"
        default: nil
        }
    }

    /// Whether a key of OpenSSL is one of this scheme: its kind, its curve and its size.
    func suits(_ key: OpaquePointer) -> Bool {
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_ED25519: return self == .ed25519
        case EVP_PKEY_RSA: return isPSS && Self.rsaBits.contains(EVP_PKEY_get_bits(key))
        case EVP_PKEY_EC:
            guard let curve else { return false }
            var name = [CChar](repeating: 0, count: 64)
            var length = 0
            guard EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1, length < name.count else {
                return false
            }
            return String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self) == curve
        default: return false
        }
    }
}
