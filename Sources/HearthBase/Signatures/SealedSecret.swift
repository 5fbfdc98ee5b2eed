import Foundation

#if canImport(CryptoKit)
import CryptoKit
#else
import CCrypto
#endif

/// A secret encrypted with a passphrase: scrypt (RFC 7914) makes the key, AES-256-GCM encrypts and authenticates.
package struct SealedSecret: Sendable, Hashable {
    /// The cost of one guess of the passphrase: about `128 × r × n` bytes of memory.
    package struct Cost: Sendable, Hashable {
        package let n: UInt64
        package let r: UInt64
        package let p: UInt64

        /// 128 MiB, about a third of a second on one core.
        package static let `default` = Cost(checked: 1 << 17, 8, 1)
        /// For tests only: no protection.
        package static let none = Cost(checked: 1 << 4, 1, 1)

        private init(checked n: UInt64, _ r: UInt64, _ p: UInt64) { (self.n, self.r, self.p) = (n, r, p) }

        /// A cost read from a file; `nil` if it is no cost of scrypt, or would take more than 1 GiB of memory.
        package init?(n: UInt64, r: UInt64, p: UInt64) {
            guard (2...(1 << 20)).contains(n), n.nonzeroBitCount == 1, (1...8).contains(r), (1...16).contains(p) else {
                return nil
            }
            self.init(checked: n, r, p)
        }
    }

    package let cost: Cost
    package let salt: [UInt8]
    package let nonce: [UInt8]
    package let sealed: [UInt8]
    package let tag: [UInt8]

    package static let saltLength = 16
    package static let nonceLength = 12
    package static let tagLength = 16
    /// The longest secret.
    package static let maximumLength = 4096

    /// A secret read from a file; `nil` if a part has a wrong length.
    package init?(cost: Cost, salt: [UInt8], nonce: [UInt8], sealed: [UInt8], tag: [UInt8]) {
        guard salt.count == Self.saltLength, nonce.count == Self.nonceLength, tag.count == Self.tagLength,
            (1...Self.maximumLength).contains(sealed.count)
        else { return nil }
        (self.cost, self.salt, self.nonce, self.sealed, self.tag) = (cost, salt, nonce, sealed, tag)
    }

    /// Encrypts a secret of 1 to 4096 bytes. Blocks for as long as the cost says.
    /// - Parameter label: open text that belongs to the secret; another label does not open it.
    /// - Returns: `nil` if there is not enough memory.
    package init?(_ secret: [UInt8], passphrase: String, label: [UInt8], cost: Cost = .default) {
        let salt = [UInt8].random(Self.saltLength)
        let nonce = [UInt8].random(Self.nonceLength)
        guard (1...Self.maximumLength).contains(secret.count), var key = Self.key(passphrase, salt, cost),
            let result = Self.crypt(secret, key, nonce, label: label, tag: nil)
        else { return nil }
        Self.erase(&key)
        self.init(cost: cost, salt: salt, nonce: nonce, sealed: result.bytes, tag: result.tag)
    }

    /// The secret; `nil` if passphrase or label is another, a byte was changed, or there is not enough memory. Blocks
    /// for as long as the cost says.
    package func opened(passphrase: String, label: [UInt8]) -> [UInt8]? {
        guard var key = Self.key(passphrase, salt, cost) else { return nil }
        defer { Self.erase(&key) }
        return Self.crypt(sealed, key, nonce, label: label, tag: tag)?.bytes
    }

    #if canImport(CryptoKit)
    static func key(_ passphrase: String, _ salt: [UInt8], _ cost: Cost) -> [UInt8]? {
        Scrypt.key(Array(passphrase.precomposedStringWithCanonicalMapping.utf8), salt: salt, cost: cost)
    }

    /// Overwrites a key so that no optimization leaves it in memory.
    private static func erase(_ key: inout [UInt8]) { memset_s(&key, key.count, 0, key.count) }

    /// Decrypts if a tag is given, else encrypts.
    private static func crypt(
        _ bytes: [UInt8], _ key: [UInt8], _ nonce: [UInt8], label: [UInt8], tag given: [UInt8]?
    ) -> (bytes: [UInt8], tag: [UInt8])? {
        let key = SymmetricKey(data: key)
        guard let nonce = try? AES.GCM.Nonce(data: nonce) else { return nil }
        guard let given else {
            guard let box = try? AES.GCM.seal(bytes, using: key, nonce: nonce, authenticating: label) else {
                return nil
            }
            return (Array(box.ciphertext), Array(box.tag))
        }
        guard let box = try? AES.GCM.SealedBox(nonce: nonce, ciphertext: bytes, tag: given),
            let opened = try? AES.GCM.open(box, using: key, authenticating: label)
        else { return nil }
        return (Array(opened), given)
    }
    #else
    static func key(_ passphrase: String, _ salt: [UInt8], _ cost: Cost) -> [UInt8]? {
        var key = [UInt8](repeating: 0, count: 32)
        let memory = 128 * cost.r * (cost.n + cost.p + 2)
        let text = passphrase.precomposedStringWithCanonicalMapping
        let isDone = text.withCString {
            EVP_PBE_scrypt($0, text.utf8.count, salt, salt.count, cost.n, cost.r, cost.p, memory, &key, key.count) == 1
        }
        if !isDone { ERR_clear_error() }
        return isDone ? key : nil
    }

    private static func erase(_ key: inout [UInt8]) { OPENSSL_cleanse(&key, key.count) }

    /// Decrypts if a tag is given, else encrypts.
    private static func crypt(
        _ bytes: [UInt8], _ key: [UInt8], _ nonce: [UInt8], label: [UInt8], tag given: [UInt8]?
    ) -> (bytes: [UInt8], tag: [UInt8])? {
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        defer {
            EVP_CIPHER_CTX_free(context)
            // A refused tag leaves entries in the thread's error queue, which later calls would report.
            ERR_clear_error()
        }
        var output = [UInt8](repeating: 0, count: bytes.count + 16)
        var tag = given ?? [UInt8](repeating: 0, count: tagLength)
        var (count, rest) = (Int32(0), Int32(0))
        guard EVP_CipherInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce, given == nil ? 1 : 0) == 1,
            EVP_CipherUpdate(context, nil, &count, label, Int32(label.count)) == 1,
            EVP_CipherUpdate(context, &output, &count, bytes, Int32(bytes.count)) == 1
        else { return nil }
        if given != nil {
            guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), &tag) == 1 else { return nil }
        }
        let isRight = output.withUnsafeMutableBytes { buffer in
            let end = buffer.baseAddress?.advanced(by: Int(count)).assumingMemoryBound(to: UInt8.self)
            return EVP_CipherFinal_ex(context, end, &rest) == 1
        }
        guard isRight, Int(count + rest) == bytes.count else { return nil }
        if given == nil {
            guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagLength), &tag) == 1 else { return nil }
        }
        return (Array(output.prefix(bytes.count)), tag)
    }
    #endif
}
