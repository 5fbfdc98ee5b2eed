import Foundation
import HearthBase
import HearthTestSupport
import Testing

struct SHA256Tests {
    /// FIPS 180-4's examples and NIST's long message.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            String(repeating: "a", count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
    ])
    func hashesKnownVectors(text: String, hex: String) {
        #expect(SHA256Digest(hashing: Data(text.utf8)).hex == hex)
    }

    @Test(arguments: [1, 3, 63, 64, 65, 127, 1000, 65_535, 65_536, 65_537])
    func hashesTheSameInAnyPieces(piece: Int) {
        var random = SeededGenerator(seed: 1)
        let bytes = (0..<200_000).map { _ in UInt8.random(in: 0 ... .max, using: &random) }
        var hasher = SHA256Hasher()
        for start in stride(from: 0, to: bytes.count, by: piece) {
            bytes[start..<min(start + piece, bytes.count)].withUnsafeBytes { hasher.update($0) }
            hasher.update(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        #expect(hasher.finalize() == SHA256Digest(hashing: bytes))
    }

    @Test(arguments: [0, 1, 55, 56, 63, 64, 65, 65_535, 65_536, 65_537, (1 << 20) - 1, 1 << 20, (1 << 20) + 1])
    func hashesFilesOfEveryBoundaryLength(count: Int) throws {
        let folder = try TemporaryFolder()
        let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        let path = try folder.write("file", data)
        #expect(try LocalFileSystem().digest(ofFile: path) == SHA256Digest(hashing: data))
    }

    @Test(arguments: [
        "", "ab", String(repeating: "a", count: 63), String(repeating: "a", count: 65),
        String(repeating: "g", count: 64), String(repeating: "a", count: 63) + " ",
        "0x" + String(repeating: "a", count: 62), String(repeating: "a", count: 62) + "\u{FF11}",
        String(repeating: "\u{FF11}", count: 64), "-" + String(repeating: "1", count: 63),
        String(repeating: "a", count: 63) + "\0", String(repeating: "é", count: 32),
    ])
    func refusesTextThatIsNoDigest(text: String) {
        #expect(SHA256Digest(hex: text) == nil)
        let json = try? JSONEncoder().encode([text])  // Only the decoding below is under test.
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([SHA256Digest].self, from: json ?? Data())
        }
    }

    @Test func readsBothCasesAndWritesLowerCase() throws {
        let digest = SHA256Digest(hashing: Data("abc".utf8))
        #expect(SHA256Digest(hex: digest.hex.uppercased()) == digest)
        #expect(digest.hex == digest.hex.lowercased())
        #expect(digest.short == "ba7816bf8f01")
        #expect(try JSONDecoder().decode(SHA256Digest.self, from: JSONEncoder().encode(digest)) == digest)
    }

    @Test func tellsDigestsApartAtEveryBit() throws {
        let digest = SHA256Digest(hashing: Data("abc".utf8))
        for bit in 0..<256 {
            var bytes = digest.bytes
            bytes[bit / 8] ^= 1 << (bit % 8)
            let other = try #require(SHA256Digest(bytes: bytes))
            #expect(other != digest)
            bytes[bit / 8] ^= 1 << (bit % 8)
            let same = try #require(SHA256Digest(bytes: bytes))
            #expect(same == digest && same.hashValue == digest.hashValue)
        }
    }

    @Test(arguments: [0, 1, 31, 33, 64]) func takesExactly32Bytes(count: Int) {
        #expect(SHA256Digest(bytes: [UInt8](repeating: 0, count: count)) == nil)
    }
}
