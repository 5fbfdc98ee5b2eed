import Foundation
import HearthBase
import HearthCatalog

/// A publisher's key in a file: encrypted with a passphrase, or a command that signs elsewhere.
///
/// ```json
/// { "format": 1, "scheme": "ed25519", "public": "…",
///   "sealed": { "n": 131072, "r": 8, "p": 1, "salt": "…", "nonce": "…", "data": "…", "tag": "…" } }
/// { "format": 1, "scheme": "ecdsa-sha2-nistp256", "public": "-----BEGIN PUBLIC KEY-----…", "command": ["sign", "slot 1"] }
/// ```
/// The public half is open, so that a key is found and shown without its passphrase.
package struct TrustKeyFile: Sendable, Hashable {
    /// The private half.
    package enum Secret: Sendable, Hashable {
        case sealed(SealedSecret)
        /// The program and its arguments. It reads the bytes to sign on its input, and prints the signature in hexadecimal
        /// digits.
        case command([String])
    }

    package let key: MetadataKey
    package let secret: Secret

    /// The most bytes of a file.
    package static let sizeLimit = 32768
    /// The extension of the files.
    package static let fileExtension = "key"

    /// A new Ed25519 key. Blocks for as long as the cost of the passphrase says.
    /// - Throws: ``TrustError`` with `bad-key` if there is not enough memory to encrypt it.
    package init(_ key: Ed25519Key, passphrase: String, cost: SealedSecret.Cost = .default) throws(TrustError) {
        self.key = try key.key
        guard
            let sealed = SealedSecret(
                key.seed, passphrase: passphrase, label: Array(self.key.text.utf8), cost: cost)
        else {
            throw TrustError(
                .badKey, "there is not enough memory to encrypt the key",
                context: ErrorContext(remedy: "Close other programs, and try again."))
        }
        secret = .sealed(sealed)
    }

    /// A key that a command signs with.
    package init(_ key: MetadataKey, command: [String]) {
        self.key = key
        secret = .command(command)
    }

    /// Reads a file.
    /// - Throws: ``TrustError`` with `bad-key`.
    package init(parsing data: Data, file: String) throws(TrustError) {
        let problem: String
        do {
            let members = try JSONValue(parsing: data).members ?? [:]
            guard members["format"] == .number("1") else { throw KeyProblem("its format is not 1") }
            guard let scheme = Self.text(members["scheme"]).flatMap(SignatureScheme.init(rawValue:)),
                let key = Self.text(members["public"]).flatMap({ MetadataKey(scheme, text: $0) })
            else { throw KeyProblem("it has no public key of a known scheme") }
            self.key = key
            secret = try Self.secret(members, scheme)
            return
        } catch let error as KeyProblem {
            problem = error.text
        } catch {
            problem = "\(error)"
        }
        throw TrustError(
            .badKey, "\(file) is not a key: \(problem)",
            context: ErrorContext(file: file, remedy: "Give a file that was made as a key, or another copy of it."))
    }

    private struct KeyProblem: Error {
        let text: String
        init(_ text: String) { self.text = text }
    }

    private static func secret(_ members: JSONMembers, _ scheme: SignatureScheme) throws -> Secret {
        if case .array(let items)? = members["command"] {
            let words = items.compactMap(text)
            guard (1...64).contains(words.count), words.count == items.count, words[0].isEmpty == false,
                words.allSatisfy({ !$0.utf8.contains(0) })
            else { throw KeyProblem("its command is not a list of 1 to 64 texts") }
            return .command(words)
        }
        guard let sealed = members["sealed"]?.members else { throw KeyProblem("it has no private half") }
        func number(_ name: String) -> UInt64 {
            if case .number(let text)? = sealed[name] { UInt64(text) ?? 0 } else { 0 }
        }
        func bytes(_ name: String) -> [UInt8] { text(sealed[name]).flatMap { [UInt8](hexadecimal: $0) } ?? [] }
        guard scheme == .ed25519 else { throw KeyProblem("only an Ed25519 key can be in a file") }
        guard let cost = SealedSecret.Cost(n: number("n"), r: number("r"), p: number("p")) else {
            throw KeyProblem("the cost of its passphrase is out of range")
        }
        guard
            let secret = SealedSecret(
                cost: cost, salt: bytes("salt"), nonce: bytes("nonce"), sealed: bytes("data"), tag: bytes("tag"))
        else { throw KeyProblem("its private half is damaged") }
        return .sealed(secret)
    }

    private static func text(_ value: JSONValue?) -> String? {
        if case .string(let text)? = value { text } else { nil }
    }

    /// The bytes of the file.
    package var data: Data {
        var members: JSONMembers = [
            "format": .integer(1), "scheme": .string(key.verifying.scheme.rawValue), "public": .string(key.text),
        ]
        switch secret {
        case .command(let words): members["command"] = .array(words.map { .string($0) })
        case .sealed(let sealed):
            members["sealed"] = .object([
                "n": .integer(sealed.cost.n), "r": .integer(sealed.cost.r), "p": .integer(sealed.cost.p),
                "salt": .string(sealed.salt.hexadecimal), "nonce": .string(sealed.nonce.hexadecimal),
                "data": .string(sealed.sealed.hexadecimal), "tag": .string(sealed.tag.hexadecimal),
            ])
        }
        return JSONValue.object(members).data
    }

    /// Decrypts the private half; `nil` for another passphrase or a damaged file. Blocks for as long as the cost says.
    package func opened(passphrase: String) -> Ed25519Key? {
        guard case .sealed(let sealed) = secret,
            let seed = sealed.opened(passphrase: passphrase, label: Array(key.text.utf8)),
            let opened = Ed25519Key(seed: seed), opened.publicBytes.hexadecimal == key.text
        else { return nil }
        return opened
    }
}

/// The public key of any key file: one of ``TrustKeyFile``, 64 hexadecimal digits, or PEM.
package enum PublicKeyFile {
    /// - Throws: ``TrustError`` with `bad-key`.
    package static func read(_ data: Data, file: String) throws(TrustError) -> MetadataKey {
        if data.first(where: { !$0.isWhitespace }) == UInt8(ascii: "{") {
            return try TrustKeyFile(parsing: data, file: file).key
        }
        guard data.count <= TrustKeyFile.sizeLimit, let key = MetadataKey(text: String(decoding: data, as: UTF8.self))
        else {
            throw TrustError(
                .badKey, "\(file) holds no public key",
                context: ErrorContext(
                    file: file, expected: "a key file, 64 hexadecimal digits, or PEM (PUBLIC KEY)",
                    remedy: "Ask the owner of the key for the file of its public half."))
        }
        return key
    }
}

extension UInt8 {
    fileprivate var isWhitespace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
