import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthTransfer

/// Local bytes are reused where the chunk index says they are right, and nothing else of a seed gets through.
@Suite(.timeLimit(.minutes(5))) struct SeedTests {
    private static let length: UInt32 = 16 << 10
    private static let content = Content.pattern(offset: 3, count: 150_000)
    private static let bytes = Array(content.bytes)
    private static let digest = SHA256Digest(hashing: content.bytes)

    private let folder: TemporaryFolder
    private let origin = MemoryOrigin(content)

    init() throws { folder = try TemporaryFolder() }

    private func index() throws -> ChunkIndex {
        var builder = ChunkIndexBuilder(length: Self.length)
        Self.bytes.withUnsafeBytes { builder.update($0) }
        return try builder.finalize().index
    }

    /// Fetches the file; returns the bytes that came over the network.
    private func fetch(
        _ seeds: [Path], hasIndex: Bool = true, on disk: any FileSystem = LocalFileSystem()
    ) async throws -> UInt64 {
        var tuning = TransferTuning()
        tuning.pieceLength = UInt64(Self.length)
        tuning.stragglerInterval = nil
        var request = TransferRequest(
            label: "m.gguf", locations: [try #require(URL(string: "http://127.0.0.1:1/m"))],
            size: .exact(Self.content.count), digest: Self.digest)
        if hasIndex { request.index = try index() }
        request.seeds = seeds
        let transfer = FileTransfer(
            http: origin, fileSystem: disk, time: HurriedClock().time, folder: folder.path("transfers"), tuning: tuning)
        let file = try await transfer.fetch(request) { _ in }
        #expect(try LocalFileSystem().digest(ofFile: file.path) == Self.digest)
        #expect(file.fetchedBytes == origin.bytesTaken)
        return file.fetchedBytes
    }

    private func seed(_ bytes: [UInt8], _ name: String = "seed") throws -> Path {
        try folder.write(name, Data(bytes))
    }

    @Test func ofADamagedCopyOnlyTheDamagedChunksAreFetched() async throws {
        var damaged = Self.bytes
        damaged[5] ^= 1
        damaged[100_000] ^= 1
        let seed = try seed(damaged)
        #expect(try await fetch([seed]) == 2 * UInt64(Self.length))
        #expect(try Array(Data(contentsOf: seed.url)) == damaged, "a seed is only read")
    }

    @Test func aWholeCopyNeedsNoNetwork() async throws {
        #expect(try await fetch([seed(Self.bytes)]) == 0)
    }

    @Test func ofAShorterCopyTheRestIsFetched() async throws {
        let held = 3 * UInt64(Self.length)
        #expect(try await fetch([seed(Array(Self.bytes.prefix(Int(held) + 7)))]) == Self.content.count - held)
    }

    @Test func eachSeedGivesWhatTheOthersLack() async throws {
        let first = try seed(Array(Self.bytes.prefix(49_152)))
        var damaged = Self.bytes
        damaged.replaceSubrange(..<49_152, with: repeatElement(0, count: 49_152))
        #expect(try await fetch([first, seed(damaged, "second")]) == 0)
    }

    @Test func whatCannotBeReusedIsFetched() async throws {
        let link = folder.path("link")
        try LocalFileSystem().makeLink(at: link, to: try seed(Self.bytes).string)
        #expect(try await fetch([folder.path("absent"), folder.path, link]) == Self.content.count)
    }

    @Test func withoutAnIndexNoSeedIsUsed() async throws {
        #expect(try await fetch([seed(Self.bytes)], hasIndex: false) == Self.content.count)
    }

    @Test func aSeedThatCannotBeReadCostsTheDownload() async throws {
        let disk = FaultyFileSystem()
        let seed = try seed(Self.bytes)
        disk.fail(call: 1, of: .read, errno: EIO)
        #expect(try await fetch([seed], on: disk) == Self.content.count)
    }

    /// Bytes of a chunk that an earlier attempt has fetched are not written over by a damaged seed.
    @Test func whatIsHereAlreadyStays() async throws {
        let disk = LocalFileSystem()
        let place = Path(folder.path("transfers").string + "/" + Self.digest.hex)
        try disk.makeFolders(place)
        let part = try disk.open(place.appending("data.part"), .createNew)
        try Self.bytes[0..<10_000].withUnsafeBytes { try disk.write(part, $0, at: 0) }
        var journal = TransferJournal(digest: Self.digest, size: Self.content.count, location: "http://127.0.0.1:1/m")
        journal.held = RangeSet(0..<10_000)
        try journal.write(place.appending("journal"), in: disk)
        var damaged = Self.bytes
        damaged[5] ^= 1
        #expect(try await fetch([seed(damaged)]) == UInt64(Self.length) - 10_000)
    }
}
