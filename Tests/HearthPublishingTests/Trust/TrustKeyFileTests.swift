import Foundation
import HearthBase
import HearthCatalog
import Testing

@testable import HearthPublishing

@Suite(.timeLimit(.minutes(10))) struct TrustKeyFileTests {
    private let key = Ed25519Key()

    private func file() throws -> TrustKeyFile { try TrustKeyFile(key, passphrase: "correct horse", cost: .none) }

    @Test func aKeyIsReadBackWithItsPassphraseOnly() throws {
        let read = try TrustKeyFile(parsing: file().data, file: "a.key")
        #expect(try read == TrustKeyFile(parsing: read.data, file: "a.key"))
        #expect(try read.key.id == key.key.id)
        #expect(read.opened(passphrase: "correct horse")?.seed == key.seed)
        for wrong in ["", "correct horse ", "Correct horse", "correct\u{0}horse"] {
            #expect(read.opened(passphrase: wrong) == nil)
        }
        // The same text in another Unicode normalisation opens it as well.
        let accented = try TrustKeyFile(key, passphrase: "caf\u{e9} at noon", cost: .none)
        #expect(accented.opened(passphrase: "cafe\u{301} at noon") != nil)
        #expect(!String(decoding: read.data, as: UTF8.self).contains(key.seed.hexadecimal))
    }

    @Test func twoFilesOfOneKeyHaveNothingSecretInCommon() throws {
        let (one, two) = (try file(), try file())
        guard case .sealed(let first) = one.secret, case .sealed(let second) = two.secret else {
            Issue.record("not sealed")
            return
        }
        #expect(first.salt != second.salt && first.nonce != second.nonce && first.sealed != second.sealed)
    }

    @Test(arguments: ["salt", "nonce", "data", "tag", "public"]) func aChangedFileDoesNotOpen(_ field: String) throws {
        var members = try #require(try JSONValue(parsing: file().data).members)
        if field == "public" {
            members["public"] = .string(Ed25519Key().publicBytes.hexadecimal)
        } else {
            var sealed = try #require(members["sealed"]?.members)
            guard case .string(let text)? = sealed[field] else { return }
            sealed[field] = .string((text.first == "0" ? "1" : "0") + text.dropFirst())
            members["sealed"] = .object(sealed)
        }
        let read = try TrustKeyFile(parsing: JSONValue.object(members).data, file: "a.key")
        #expect(read.opened(passphrase: "correct horse") == nil)
    }

    @Test(arguments: [
        ("n", JSONValue.integer(UInt64(1) << 40)), ("n", .integer(1000)), ("n", .integer(0)), ("r", .integer(1 << 20)),
        ("p", .integer(1000)), ("n", .string("16")), ("salt", .string("00")), ("nonce", .string("zz")),
        ("tag", .string("")), ("data", .string("")), ("data", .integer(1)),
    ])
    func hostileCostsAndLengthsAreRefused(_ field: String, _ value: JSONValue) throws {
        var members = try #require(try JSONValue(parsing: file().data).members)
        var sealed = try #require(members["sealed"]?.members)
        sealed[field] = value
        members["sealed"] = .object(sealed)
        let data = JSONValue.object(members).data
        let error = #expect(throws: TrustError.self) { try TrustKeyFile(parsing: data, file: "a.key") }
        #expect(error?.code.rawValue == "bad-key")
    }

    @Test(arguments: [
        "", "{", "[]", "{}", "{\"format\": 2}", "{\"format\": 1}", "{\"format\": 1, \"scheme\": \"rot13\"}",
        "{\"format\": 1, \"scheme\": \"ed25519\", \"public\": \"00\"}", "-----BEGIN PRIVATE KEY-----",
    ])
    func whatIsNoKeyIsRefused(_ text: String) throws {
        let error = #expect(throws: TrustError.self) { try TrustKeyFile(parsing: Data(text.utf8), file: "a.key") }
        #expect(error?.code.rawValue == "bad-key")
        #expect(error?.message.hasPrefix("a.key is not a key: ") == true)
    }

    @Test func aCommandIsReadBack() throws {
        let made = TrustKeyFile(try key.key, command: ["sign", "--slot", "9c"])
        let read = try TrustKeyFile(parsing: made.data, file: "a.key")
        #expect(read == made)
        #expect(read.opened(passphrase: "") == nil)
        for command in [JSONValue.array([]), .array([.integer(1)]), .array([.string("")])] {
            var members = try #require(try JSONValue(parsing: made.data).members)
            members["command"] = command
            let data = JSONValue.object(members).data
            #expect(throws: TrustError.self) { try TrustKeyFile(parsing: data, file: "a.key") }
        }
    }

    @Test func publicHalvesAreReadInEveryForm() throws {
        let hex = key.publicBytes.hexadecimal
        for text in [hex, "  \(hex.uppercased())\n"] {
            #expect(try PublicKeyFile.read(Data(text.utf8), file: "a.pub") == key.key)
        }
        #expect(try PublicKeyFile.read(file().data, file: "a.key") == key.key)
        for text in ["", "00", hex + "00", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"] {
            let error = #expect(throws: TrustError.self) { try PublicKeyFile.read(Data(text.utf8), file: "a.pub") }
            #expect(error?.code.rawValue == "bad-key")
        }
    }

    @Test func aSignerThatSignsWithAnotherKeyIsRefused() throws {
        struct Liar: MetadataSigner {
            let key: MetadataKey
            let bytes: [UInt8]
            func signature(of message: Data) -> [UInt8] { bytes }
        }
        var file = SignedMetadata(.timestamp, signed: .object(["version": .integer(1)]))
        for bytes in [[], [0], Ed25519Key().sign(Data())] {
            let error = #expect(throws: TrustError.self) { try file.sign(with: Liar(key: key.key, bytes: bytes)) }
            #expect(error?.code.rawValue == "bad-key")
        }
        #expect(file.signatures.isEmpty)
    }
}
