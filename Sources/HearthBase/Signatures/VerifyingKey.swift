import Foundation

/// A public key and the scheme of its signatures (OpenSSL `EVP_DigestVerify`; CryptoKit and Security on Apple platforms).
package struct VerifyingKey: Sendable, Hashable {
    package let scheme: SignatureScheme
    /// The 32 bytes of an Ed25519 key; the DER form (`SubjectPublicKeyInfo`) of any other.
    let bytes: [UInt8]

    /// The most characters of a key's text.
    package static let maximumTextLength = 8192

    /// Reads a public key: 64 hexadecimal digits for Ed25519, else PEM. `nil` if the text holds no key of the scheme.
    package init?(_ scheme: SignatureScheme, text: String) {
        guard text.utf8.count <= Self.maximumTextLength else { return nil }
        guard let bytes = scheme == .ed25519 ? [UInt8](hexadecimal: text) : Self.der(text) else { return nil }
        self.scheme = scheme
        self.bytes = bytes
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
        return message.withUnsafeBytes { isSignature(signature, of: $0) }
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
