import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthDelivery

/// What a killed process had written is used, and nothing that only looks like it.
@Suite(.timeLimit(.minutes(5))) struct WrittenRecordTests {
    private static let content = Content.pattern(offset: 3, count: 8 << 20)
    private static let digest = SHA256Digest(hashing: content.bytes)
    private static let part = FileIdentity(device: 7, inode: 4711)

    private func record(_ ranges: [Range<UInt64>]) -> WrittenRecord {
        var record = WrittenRecord(lifetime: "boot 1", digest: Self.digest, part: Self.part)
        record.written = RangeSet(ranges)
        return record
    }

    @Test(arguments: [[], [0..<1], [5..<9, 10..<UInt64.max]]) func isReadAsItWasWritten(_ ranges: [Range<UInt64>]) {
        let page = record(ranges).encoded
        #expect(page.count == WrittenRecord.byteCount)
        #expect(WrittenRecord(page) == record(ranges))
    }

    @Test func keepsTheFirstOfTooManyExtents() throws {
        let ranges = (0..<1000).map { UInt64($0) * 1_000_000_000..<UInt64($0) * 1_000_000_000 + 1 }
        let page = record(ranges).encoded
        #expect(page.count == WrittenRecord.byteCount)
        let found = try #require(WrittenRecord(page)).written.ranges
        #expect(found.count > 100 && Array(found) == Array(ranges.prefix(found.count)))
    }

    @Test func noPageWithAnotherByteIsRead() {
        let page = record([0..<100, 200..<300]).encoded
        let end = page.lastIndex(of: UInt8(ascii: "\n")) ?? 0
        for place in 0...end {
            var changed = page
            changed[place] ^= 1
            // The case of the digest's letters alone says nothing.
            #expect(WrittenRecord(changed).map { $0 == record([0..<100, 200..<300]) } ?? true, "byte \(place)")
        }
        for count in [0, 1, end, 4095] { #expect(WrittenRecord(page.prefix(count)) == nil) }
        #expect(WrittenRecord(page + [0]) == nil)
    }

    /// Lines with the right digest below them, which nothing of ours would write.
    @Test(arguments: [
        "", "\n", "hearth written 1", "hearth written 2\nboot\nDIGEST 7 4711", "hearth written 1\n\nDIGEST 7 4711",
        "hearth written 1\nboot\nDIGEST 7", "hearth written 1\nboot\nDIGEST 7 4711 1",
        "hearth written 1\nboot\nDIGES 7 4711", "hearth written 1\nboot\nDIGEST -7 4711",
        "hearth written 1\nboot\nDIGEST 7 4711\n5 5", "hearth written 1\nboot\nDIGEST 7 4711\n9 5",
        "hearth written 1\nboot\nDIGEST 7 4711\n0 5\n4 9", "hearth written 1\nboot\nDIGEST 7 4711\n10 20\n0 5",
        "hearth written 1\nboot\nDIGEST 7 4711\n0 18446744073709551616", "hearth written 1\nboot\nDIGEST 7 4711\n0 5 6",
        "hearth written 1\nboot\nDIGEST 7 4711\n0x0 5", "hearth written 1\nboot\nDIGEST 7 4711\n\u{FFFD} 5",
    ]) func linesThatMakeNoSenseAreNotRead(_ lines: String) {
        var bytes = Array((lines.replacing("DIGEST", with: Self.digest.hex) + "\n").utf8)
        bytes += Array((SHA256Digest(hashing: bytes).hex + "\n").utf8)
        bytes += [UInt8](repeating: UInt8(ascii: " "), count: WrittenRecord.byteCount - bytes.count)
        #expect(WrittenRecord(bytes) == nil)
    }

    // MARK: - In a transfer

    /// A system whose cache lives as long as a test says.
    private struct Machine: ForwardingFileSystem {
        let base: any FileSystem = LocalFileSystem()
        let cacheLifetime: String?
    }

    private func place(_ folder: TemporaryFolder) -> Path { Path(folder.path.string + "/" + Self.digest.hex) }

    /// What a process leaves that was killed before its first journal: the whole part file, 5 MiB of it written.
    private func leave(_ folder: TemporaryFolder, lifetime: String, digest: SHA256Digest = digest) throws {
        let disk = LocalFileSystem()
        try disk.makeFolders(place(folder))
        let part = try disk.open(place(folder).appending("data.part"), .createNew)
        try disk.allocate(part, size: Self.content.count)
        let held: [Range<UInt64>] = [0..<3 << 20, 4 << 20..<6 << 20]
        for range in held {
            try Self.content.slice(range).bytes.withUnsafeBytes { try disk.write(part, $0, at: range.lowerBound) }
        }
        var record = WrittenRecord(lifetime: lifetime, digest: digest, part: try disk.status(of: part).identity)
        record.written = RangeSet(held)
        try Data(record.encoded).write(to: place(folder).appending(WrittenRecord.name).url)
    }

    private func fetch(
        _ folder: TemporaryFolder, on disk: any FileSystem, from origin: MemoryOrigin = MemoryOrigin(content),
        hasDigest: Bool = true
    ) async throws -> UInt64 {
        var tuning = TransferTuning()
        tuning.pieceLength = 1 << 20
        tuning.stragglerInterval = nil
        let transfer = FileTransfer(
            http: origin, fileSystem: disk, time: HurriedClock().time, folder: folder.path, tuning: tuning)
        let request = TransferRequest(
            label: "m.gguf", locations: [try #require(URL(string: "http://127.0.0.1:1/m"))],
            size: .exact(Self.content.count), digest: hasDigest ? Self.digest : nil)
        let file = try await transfer.fetch(request) { _ in }
        #expect(file.digest == Self.digest)
        #expect(try LocalFileSystem().digest(ofFile: file.path) == Self.digest)
        return file.fetchedBytes
    }

    @Test func whatWasWrittenIsNotFetchedAgain() async throws {
        let folder = try TemporaryFolder()
        try leave(folder, lifetime: "boot 1")
        #expect(try await fetch(folder, on: Machine(cacheLifetime: "boot 1")) == 3 << 20)
    }

    @Test(arguments: ["boot 2", nil]) func anotherCacheKnowsNothingOfIt(_ lifetime: String?) async throws {
        let folder = try TemporaryFolder()
        try leave(folder, lifetime: "boot 1")
        #expect(try await fetch(folder, on: Machine(cacheLifetime: lifetime)) == Self.content.count)
    }

    @Test func bytesOfAnotherFileAreNotTakenForThese() async throws {
        let disk = Machine(cacheLifetime: "boot 1")
        let folder = try TemporaryFolder()
        try leave(folder, lifetime: "boot 1", digest: SHA256Digest(hashing: [1]))
        #expect(try await fetch(folder, on: disk) == Self.content.count)
        // A part file that was made anew has another inode, and one that was cut is too short.
        for isCut in [false, true] {
            let folder = try TemporaryFolder()
            try leave(folder, lifetime: "boot 1")
            let part = place(folder).appending("data.part")
            if !isCut { try FileManager.default.copyItem(atPath: part.string, toPath: part.string + ".copy") }
            if !isCut { try LocalFileSystem().rename(Path(part.string + ".copy"), to: part) }
            if isCut { try LocalFileSystem().truncate(LocalFileSystem().open(part, .readWrite), to: 5 << 20) }
            #expect(try await fetch(folder, on: disk) == Self.content.count, "cut: \(isCut)")
        }
    }

    /// Wrong bytes are found by the digest, whoever vouched for them.
    @Test func aRecordThatIsWrongCostsTheBytesAndNothingElse() async throws {
        let folder = try TemporaryFolder()
        try leave(folder, lifetime: "boot 1")
        let part = try LocalFileSystem().open(place(folder).appending("data.part"), .readWrite)
        try [UInt8](repeating: 0, count: 4096).withUnsafeBytes { try LocalFileSystem().write(part, $0, at: 8192) }
        #expect(try await fetch(folder, on: Machine(cacheLifetime: "boot 1")) == (3 << 20) + Self.content.count)
    }

    @Test func aFileWithoutADigestIsNotNoted() async throws {
        let folder = try TemporaryFolder()
        #expect(try await fetch(folder, on: Machine(cacheLifetime: "boot 1"), hasDigest: false) == Self.content.count)
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path.string)
        #expect(!names.contains { $0.hasSuffix("/written") }, "\(names)")
    }

    /// The disk loses what it said it would write: what was noted of it is taken back.
    @Test func whatTheDiskLostIsTakenBack() async throws {
        let folder = try TemporaryFolder()
        let disk = FaultyFileSystem()
        disk.fail(call: 1, of: .synchronize, errno: EIO)
        let outcome = await code { _ = try await fetch(folder, on: disk) }
        #expect(outcome == "io-failure")
        let path = place(folder).appending(WrittenRecord.name)
        let record = try #require(WrittenRecord(try LocalFileSystem().contents(ofFile: path, limit: 4096)))
        #expect(record.written.isEmpty)
        disk.heal()
        #expect(try await fetch(folder, on: disk) == Self.content.count)
    }
}
