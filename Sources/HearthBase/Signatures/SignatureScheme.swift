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

    /// Whether signatures have the padding PSS.
    var isPSS: Bool {
        switch self {
        case .rsaPSS256, .rsaPSS384, .rsaPSS512: true
        default: false
        }
    }
}
