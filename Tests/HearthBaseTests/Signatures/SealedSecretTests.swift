import Foundation
import Testing

@testable import HearthBase

@Suite struct SealedSecretTests {
    private let label = Array("label".utf8)

    @Test(arguments: [1, 32, 4096]) func aSecretIsReadBack(_ count: Int) throws {
        let secret = (0..<count).map { UInt8($0 & 0xFF) }
        let sealed = try #require(SealedSecret(secret, passphrase: "pass", label: label, cost: .none))
        #expect(sealed.sealed.count == count && sealed.sealed != secret)
        #expect(sealed.opened(passphrase: "pass", label: label) == secret)
        #expect(sealed.opened(passphrase: "Pass", label: label) == nil)
        #expect(sealed.opened(passphrase: "pass", label: label + [0]) == nil)
    }

    @Test func nothingAndTooMuchAreRefused() {
        for count in [0, 4097] {
            let secret = [UInt8](repeating: 1, count: count)
            #expect(SealedSecret(secret, passphrase: "pass", label: label, cost: .none) == nil)
        }
    }

    @Test func everyChangedByteIsNoticed() throws {
        let whole = try #require(SealedSecret([1, 2, 3], passphrase: "pass", label: label, cost: .none))
        func flipped(_ bytes: [UInt8], _ index: Int) -> [UInt8] {
            var bytes = bytes
            bytes[index] ^= 1
            return bytes
        }
        for index in 0..<3 {
            let other = SealedSecret(
                cost: .none, salt: whole.salt, nonce: whole.nonce, sealed: flipped(whole.sealed, index), tag: whole.tag)
            #expect(other?.opened(passphrase: "pass", label: label) == nil)
        }
        for index in 0..<16 {
            let other = SealedSecret(
                cost: .none, salt: whole.salt, nonce: whole.nonce, sealed: whole.sealed, tag: flipped(whole.tag, index))
            #expect(other?.opened(passphrase: "pass", label: label) == nil)
        }
    }

    /// The second example of RFC 7914, section 12, in its first 32 bytes.
    @Test func theKeyIsThatOfTheStandard() throws {
        let cost = try #require(SealedSecret.Cost(n: 1024, r: 8, p: 16))
        let key = SealedSecret.key("password", Array("NaCl".utf8), cost)
        #expect(key?.hexadecimal == "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162")
    }

    @Test(arguments: [
        (UInt64(0), UInt64(1), UInt64(1)), (1, 1, 1), (3, 1, 1), (1 << 21, 1, 1), (16, 0, 1), (16, 9, 1), (16, 1, 0),
        (16, 1, 17), (.max, .max, .max),
    ])
    func costsOutOfRangeAreRefused(_ n: UInt64, _ r: UInt64, _ p: UInt64) {
        #expect(SealedSecret.Cost(n: n, r: r, p: p) == nil)
    }
}
