#if !canImport(CryptoKit)
import CCrypto
import Foundation

extension SignatureScheme {
    /// The digest that is signed; `nil` for Ed25519, which signs the message itself.
    var digest: OpaquePointer? {
        switch self {
        case .ed25519: nil
        case .ecdsaP256, .rsaPSS256: EVP_sha256()
        case .ecdsaP384, .rsaPSS384: EVP_sha384()
        case .ecdsaP521, .rsaPSS512: EVP_sha512()
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

extension VerifyingKey {
    /// Whether OpenSSL reads the bytes as a key of the scheme.
    var isUsable: Bool { withKey { scheme.suits($0) } }

    /// Whether the signature is one of this key over the message.
    func isSignature(_ signature: [UInt8], of message: UnsafeRawBufferPointer) -> Bool {
        withKey { key in Self.verify(signature, of: message, with: key, scheme) }
    }

    private static func verify(
        _ signature: [UInt8], of message: UnsafeRawBufferPointer, with key: OpaquePointer, _ scheme: SignatureScheme
    ) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            // A refused signature leaves entries in the thread's error queue, which later calls would report.
            ERR_clear_error()
        }
        var settings: OpaquePointer?
        guard EVP_DigestVerifyInit(context, &settings, scheme.digest, nil, key) == 1 else { return false }
        if scheme.isPSS {
            guard EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING) == 1,
                EVP_PKEY_CTX_set_rsa_pss_saltlen(settings, RSA_PSS_SALTLEN_AUTO) == 1
            else { return false }
        }
        // One call, because Ed25519 has no streaming form. An empty message still needs an address.
        let empty: [UInt8] = [0]
        return empty.withUnsafeBufferPointer { empty in
            let start = message.bindMemory(to: UInt8.self).baseAddress ?? empty.baseAddress
            return EVP_DigestVerify(context, signature, signature.count, start, message.count) == 1
        }
    }

    /// Calls `body` with OpenSSL's form of the key; `false` if OpenSSL cannot read it.
    private func withKey(_ body: (OpaquePointer) -> Bool) -> Bool {
        guard let key = Self.load(bytes, scheme) else {
            ERR_clear_error()
            return false
        }
        defer { EVP_PKEY_free(key) }
        return body(key)
    }

    private static func load(_ bytes: [UInt8], _ scheme: SignatureScheme) -> OpaquePointer? {
        if scheme == .ed25519 {
            guard bytes.count == SignatureScheme.ed25519KeyLength else { return nil }
            return EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count)
        }
        return bytes.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            guard let key = d2i_PUBKEY(nil, &position, buffer.count) else { return nil }
            // Bytes after the key would make two texts of one key.
            guard let start = buffer.baseAddress, let position, position - start == buffer.count else {
                EVP_PKEY_free(key)
                return nil
            }
            return key
        }
    }
}

extension Ed25519Key {
    /// The 32 public bytes of a seed; `nil` unless it has 32 bytes.
    static func publicBytes(of seed: [UInt8]) -> [UInt8]? {
        guard let key = load(seed) else { return nil }
        defer { EVP_PKEY_free(key) }
        var bytes = [UInt8](repeating: 0, count: SignatureScheme.ed25519KeyLength)
        var count = bytes.count
        return EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1 && count == bytes.count ? bytes : nil
    }

    /// The 64 bytes of the signature over a message.
    package func sign(_ message: some ContiguousBytes) -> [UInt8] {
        message.withUnsafeBytes { message in
            var signature = [UInt8](repeating: 0, count: 64)
            var count = signature.count
            guard let key = Self.load(seed), let context = EVP_MD_CTX_new() else {
                preconditionFailure("OpenSSL has no memory for a signature")
            }
            defer {
                EVP_MD_CTX_free(context)
                EVP_PKEY_free(key)
            }
            let bytes = message.isEmpty ? [0] : Array(message)
            guard EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
                EVP_DigestSign(context, &signature, &count, bytes, message.count) == 1, count == signature.count
            else { preconditionFailure("OpenSSL failed to sign with Ed25519") }
            return signature
        }
    }

    private static func load(_ seed: [UInt8]) -> OpaquePointer? {
        guard seed.count == SignatureScheme.ed25519KeyLength else { return nil }
        return EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
    }
}
#endif
