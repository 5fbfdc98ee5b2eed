import Foundation
import HearthBase
import HearthTestSupport
import Testing

@Suite struct ChunkIndexTests {
    private func index(_ bytes: [UInt8], length: UInt32) throws -> (index: ChunkIndex, digest: SHA256Digest) {
        let folder = try TemporaryFolder()
        let path = try folder.write("m", Data(bytes))
        return try ChunkIndex.make(ofFile: path, on: LocalFileSystem(), length: length)
    }

    @Test(arguments: [0, 1, 9, 10, 11, 30, 1 << 20, (1 << 20) + 3])
    func hashesTheWholeAndItsParts(_ count: Int) throws {
        let length: UInt32 = count > 100 ? 300_000 : 10
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let (index, digest) = try index(bytes, length: length)
        #expect(digest == SHA256Digest(hashing: bytes))
        #expect(index.fileSize == UInt64(count))
        #expect(index.chunks.count == (count + Int(length) - 1) / Int(length))
        for chunk in index.chunks {
            let part = Array(bytes[Int(chunk.offset)..<Int(chunk.offset) + Int(chunk.length)])
            #expect(chunk.digest == SHA256Digest(hashing: part))
        }
        #expect(try ChunkIndex(encoded: index.encoded, expectedFileSize: UInt64(count)) == index)
    }

    @Test func isWrittenAsTheFormatSays() throws {
        let encoded = try index([1, 2, 3], length: 2).index.encoded
        let expected =
            Array("HIDX".utf8) + [1, 0, 0, 0] + [3, 0, 0, 0, 0, 0, 0, 0] + [2, 0, 0, 0]
            + [2, 0, 0, 0] + SHA256Digest(hashing: [1, 2] as [UInt8]).bytes
            + [1, 0, 0, 0] + SHA256Digest(hashing: [3] as [UInt8]).bytes
        #expect(Array(encoded) == expected)
    }

    @Test(
        arguments: [
            // what is changed: offset, bytes
            (0, [0x48, 0x49, 0x44, 0x59]), (4, [2]), (5, [2]), (5, [255]), (6, [1]), (7, [1]), (8, [4]), (15, [0x80]),
            (16, [1]), (16, [3]), (16, [0xFF, 0xFF, 0xFF, 0xFF]), (20, [0]), (20, [3]), (20, [1]), (56, [0]), (56, [2]),
            (56, [0xFF, 0xFF, 0xFF, 0xFF]),
        ] as [(Int, [UInt8])])
    func refusesWhatDoesNotFit(_ offset: Int, _ change: [UInt8]) throws {
        var bytes = Array(try index([1, 2, 3], length: 2).index.encoded)
        bytes.replaceSubrange(offset..<offset + change.count, with: change)
        let error = try #require(throws: DigestError.self) { try ChunkIndex(encoded: Data(bytes)) }
        #expect(error.code == .indexInvalid)
    }

    @Test func refusesEveryOtherLength() throws {
        let encoded = try index([1, 2, 3], length: 2).index.encoded
        for count in 0..<encoded.count {
            #expect(throws: DigestError.self) { try ChunkIndex(encoded: encoded.prefix(count)) }
        }
        #expect(throws: DigestError.self) { try ChunkIndex(encoded: encoded + [0]) }
        #expect(throws: DigestError.self) { try ChunkIndex(encoded: encoded, expectedFileSize: 4) }
    }

    @Test func contentDefinedChunksMayDifferInLength() throws {
        let digest = SHA256Digest(hashing: [] as [UInt8])
        let index = ChunkIndex(kind: .contentDefined, lengths: [(1, digest), (5, digest), (2, digest)])
        #expect(try ChunkIndex(encoded: index.encoded, expectedFileSize: 8) == index)
        let fixed = ChunkIndex(kind: .fixed, lengths: [(1, digest), (5, digest)])
        #expect(throws: DigestError.self) { try ChunkIndex(encoded: fixed.encoded) }
    }
}
