import Foundation
import HearthBase

/// A public key that can sign metadata, as metadata lists it.
package struct MetadataKey: Sendable, Hashable {
    package let verifying: VerifyingKey

    package init(_ verifying: VerifyingKey) { self.verifying = verifying }

    /// A key of a scheme; `nil` if the text holds none: 64 hexadecimal digits for Ed25519, else PEM.
    package init?(_ scheme: SignatureScheme, text: String) {
        guard let key = VerifyingKey(scheme, text: text) else { return nil }
        self.init(key)
    }

    /// A key of the scheme that suits the text; RSA keys sign with SHA-256. `nil` if the text holds none.
    package init?(text: String) {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let schemes: [SignatureScheme] = [.ed25519, .ecdsaP256, .ecdsaP384, .ecdsaP521, .rsaPSS256]
        guard let key = schemes.lazy.compactMap({ VerifyingKey($0, text: text) }).first else { return nil }
        self.init(key)
    }

    /// The key of 32 public bytes; `nil` for another count.
    package init?(ed25519 bytes: [UInt8]) { self.init(.ed25519, text: bytes.hexadecimal) }

    /// The text of the public half.
    package var text: String { verifying.text }

    /// The member of `keys` in a root.
    package var entry: JSONValue {
        let type =
            switch verifying.scheme {
            case .ed25519: "ed25519"
            case .ecdsaP256, .ecdsaP384, .ecdsaP521: "ecdsa"
            case .rsaPSS256, .rsaPSS384, .rsaPSS512: "rsa"
            }
        return .object([
            "keytype": .string(type), "scheme": .string(verifying.scheme.rawValue),
            "keyval": .object(["public": .string(text)]),
        ])
    }

    /// The name of the key: the SHA-256 of its entry.
    package var id: String { MetadataKeys.id(entry) }
}

/// A private key that signs metadata, in this process or elsewhere.
package protocol MetadataSigner: Sendable {
    /// The public half.
    var key: MetadataKey { get throws(TrustError) }
    /// The signature of a message. Blocks for as long as a person needs to touch a device.
    /// - Throws: ``TrustError`` with `bad-key`.
    func signature(of message: Data) throws(TrustError) -> [UInt8]
}

extension Ed25519Key: MetadataSigner {
    package var key: MetadataKey {
        get throws(TrustError) {
            guard let key = MetadataKey(ed25519: publicBytes) else {
                throw TrustError(.badKey, "this system cannot verify Ed25519 signatures")
            }
            return key
        }
    }

    package func signature(of message: Data) -> [UInt8] { sign(message) }
}
