import CCrypto
import Foundation

/// A public key and the scheme of its signatures (OpenSSL `EVP_DigestVerify`).
package struct VerifyingKey: Sendable, Hashable {
    package let scheme: SignatureScheme
    /// The 32 bytes of an Ed25519 key; the DER form (`SubjectPublicKeyInfo`) of any other.
    private let bytes: [UInt8]

    /// The most characters of a key's text.
    package static let maximumTextLength = 8192

    /// Reads a public key: 64 hexadecimal digits for Ed25519, else PEM. `nil` if the text holds no key of the scheme.
    package init?(_ scheme: SignatureScheme, text: String) {
        guard text.utf8.count <= Self.maximumTextLength else { return nil }
        guard let bytes = scheme == .ed25519 ? [UInt8](hexadecimal: text) : Self.der(text) else { return nil }
        self.scheme = scheme
        self.bytes = bytes
        let isUsable = withKey { scheme.suits($0) }
        guard isUsable else { return nil }
    }

    /// The key as text: 64 hexadecimal digits for Ed25519, else PEM. Equal keys have equal texts.
    package var text: String {
        guard scheme != .ed25519 else { return bytes.hexadecimal }
        let body = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN PUBLIC KEY-----\n\(body)\n-----END PUBLIC KEY-----\n"
    }

    /// Whether the signature is one of this key over the message. A malformed signature never is.
    package func accepts(_ signature: [UInt8], of message: some ContiguousBytes) -> Bool {
        guard (1...SignatureScheme.maximumSignatureLength).contains(signature.count) else { return false }
        return message.withUnsafeBytes { message in
            withKey { key in Self.verify(signature, of: message, with: key, scheme) }
        }
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

    /// The bytes inside a PEM text. OpenSSL's own reader is not used: it accepts encrypted texts, and would then ask at
    /// the terminal for a password.
    private static func der(_ text: String) -> [UInt8]? {
        let lines = text.split(omittingEmptySubsequences: true) { $0.isNewline }
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        guard lines.count >= 3, lines.first == "-----BEGIN PUBLIC KEY-----", lines.last == "-----END PUBLIC KEY-----"
        else { return nil }
        return Data(base64Encoded: lines.dropFirst().dropLast().joined()).map(Array.init)
    }
}
