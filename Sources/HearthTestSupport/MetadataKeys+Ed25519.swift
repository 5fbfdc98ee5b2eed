import HearthBase
import HearthCatalog

extension MetadataKeys {
    /// A key as metadata lists it.
    package static func entry(_ publicBytes: [UInt8]) -> JSONValue {
        .object([
            "keytype": .string("ed25519"), "scheme": .string(SignatureScheme.ed25519.rawValue),
            "keyval": .object(["public": .string(publicBytes.hexadecimal)]),
        ])
    }

    /// The name of a key.
    package static func id(of key: Ed25519Key) -> String { id(entry(key.publicBytes)) }
}
