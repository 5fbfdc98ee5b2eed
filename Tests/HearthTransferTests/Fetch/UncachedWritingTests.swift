import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthTransfer

/// How bytes are gathered before they are written.
@Suite struct WriteGathererTests {
    private var gatherer = WriteGatherer(for: Path("/part"))
    private static let size = UInt64(WriteBlock.size)

    private mutating func add(
        _ range: Range<UInt64>, at now: Duration = .zero, limit: Duration = .seconds(1)
    ) throws -> [WriteRun] {
        let bytes = Content.pattern(offset: range.lowerBound, count: UInt64(range.count)).bytes
        return try bytes.withUnsafeBytes {
            try gatherer.add($0, at: range.lowerBound, now: now, limit: limit)
        }
    }

    private func expect(_ runs: [WriteRun], _ ranges: [Range<UInt64>]) {
        #expect(runs.map(\.bytes) == ranges)
        for run in runs {
            let expected = Content.pattern(offset: run.bytes.lowerBound, count: UInt64(run.bytes.count)).bytes
            #expect(run.memory(run.bytes).elementsEqual(expected))
        }
    }

    @Test mutating func runsEndWhereBlocksOfTheFileEnd() throws {
        #expect(try add(0..<300_000).isEmpty)
        expect(try add(300_000..<600_000), [0..<Self.size])
        expect(gatherer.takeAll(), [Self.size..<600_000])
        // Another beginning: from then on places are multiples of the alignment again.
        expect(
            try add(10_000..<10_000 + 2 * Self.size),
            [10_000..<8_192 + Self.size, 8_192 + Self.size..<8_192 + 2 * Self.size])
        expect(gatherer.takeAll(), [8_192 + 2 * Self.size..<10_000 + 2 * Self.size])
        #expect(gatherer.takeAll().isEmpty)
    }

    @Test mutating func addressesAreAlignedLikePlaces() throws {
        _ = try add(5_000..<20_000)
        let run = try #require(gatherer.takeAll().first)
        let address = try #require(run.memory(8_192..<12_288).baseAddress)
        #expect(Int(bitPattern: address) % OpenFile.uncachedAlignment == 0)
    }

    @Test mutating func connectionsAreGatheredApart() throws {
        for step in 0..<8 as Range<UInt64> {
            _ = try add(step * 1_000..<(step + 1) * 1_000)
            _ = try add(1_000_000 + step * 1_000..<1_000_000 + (step + 1) * 1_000)
        }
        expect(gatherer.takeAll(), [0..<8_000, 1_000_000..<1_008_000])
    }

    @Test mutating func nothingWaitsForLong() throws {
        #expect(try add(0..<100).isEmpty)
        #expect(try add(5_000..<5_100, at: .milliseconds(600)).isEmpty)
        expect(try add(9_000..<9_100, at: .seconds(1)), [0..<100])
        let both = try add(9_100..<9_200, at: .seconds(2)).sorted { $0.bytes.lowerBound < $1.bytes.lowerBound }
        expect(both, [5_000..<5_100, 9_000..<9_200])
    }

    @Test mutating func whatConnectionsLeftBehindIsWrittenAtLast() throws {
        var runs: [WriteRun] = []
        for number in 0..<20 as Range<UInt64> {
            let ready = try add(number * 10_000..<number * 10_000 + 100 + number)
            #expect(ready.map(\.bytes.count) == (number < 8 ? [] : [100 + Int(number)]), "the longest goes first")
            runs += ready
        }
        #expect(runs.count == 12)
        #expect(gatherer.takeAll().count == 8)
        // Two runs that end at the same place: no byte of either is lost.
        #expect(try add(500..<1_000).isEmpty)
        expect(try add(900..<1_000), [500..<1_000])
    }

    @Test(
        arguments: [
            (0..<4_096, 0, 0..<4_096),
            (1..<8_192, 0, 4_096..<8_192), (0..<8_191, 0, 0..<4_096), (0..<8_192, 4_096, 4_096..<8_192),
            (0..<8_192, 4_097, nil), (1..<4_097, 0, nil), (4_095..<4_097, 0, nil), (0..<4_096, 1 << 40, nil),
        ] as [(Range<UInt64>, UInt64, Range<UInt64>?)])
    func whatCanGoPastTheCache(_ part: Range<UInt64>, _ cachedEnd: UInt64, _ expected: Range<UInt64>?) {
        #expect(WriteRun.uncachedPart(of: part, behind: cachedEnd) == expected)
    }

    @Test func aSlowDiskIsLeftToTheSystem() {
        var quick = UncachedTrial()
        for _ in 0..<200 { quick.wrote(512 << 10, in: .milliseconds(1)) }
        #expect(quick.pays)
        var slow = UncachedTrial()
        for _ in 0..<63 { slow.wrote(512 << 10, in: .milliseconds(5)) }
        #expect(slow.pays, "too early to say")
        slow.wrote(512 << 10, in: .milliseconds(5))
        #expect(!slow.pays)
    }
}

/// Transfers that write past the page cache.
@Suite struct UncachedWritingTests {
    private static let content = Content.pattern(offset: 7, count: 5_000_001)
    private static let digest = SHA256Digest(hashing: content.bytes)

    /// What a disk says to the wish to write past its cache.
    enum Disk: Sendable, CaseIterable { case obliging, cannotOpen, cannotWrite }

    /// Notes how the part file is written and read.
    private final class WatchedDisk: ForwardingFileSystem {
        struct Notes: Sendable {
            var uncached: [Int32: Bool] = [:]
            var uncachedBytes = 0
            var cachedBytes = 0
            var reads = 0
            var unaligned = 0
        }

        let base: any FileSystem = LocalFileSystem()
        let kind: Disk
        let notes = Locked(Notes())

        init(_ kind: Disk) { self.kind = kind }

        func open(_ path: Path, _ mode: OpenMode, permissions: UInt32) throws -> OpenFile {
            if mode == .uncached, kind == .cannotOpen { throw FileError(errno: EINVAL, doing: "open", path: path) }
            let file = try base.open(path, mode, permissions: permissions)
            notes.withLock { $0.uncached[file.descriptor] = mode == .uncached }
            return file
        }

        func write(_ file: OpenFile, _ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
            let isUncached = notes.withLock { $0.uncached[file.descriptor] ?? false }
            if isUncached, kind == .cannotWrite { throw FileError(errno: EINVAL, doing: "write", path: file.path) }
            let address = bytes.baseAddress.map { Int(bitPattern: $0) } ?? 0
            let isAligned = [address, bytes.count, Int(offset)].allSatisfy { $0 % OpenFile.uncachedAlignment == 0 }
            let isPart = file.path.lastComponent == "data.part"
            notes.withLock { notes in
                if isUncached { notes.uncachedBytes += bytes.count } else if isPart { notes.cachedBytes += bytes.count }
                if isUncached, !isAligned { notes.unaligned += 1 }
            }
            try base.write(file, bytes, at: offset)
        }

        func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
            notes.withLock { $0.reads += file.path.lastComponent == "data.part" ? 1 : 0 }
            return try base.read(file, into: buffer, at: offset)
        }
    }

    private func request() throws -> TransferRequest {
        var builder = ChunkIndexBuilder(length: 256 << 10)
        Self.content.bytes.withUnsafeBytes { builder.update($0) }
        var request = TransferRequest(
            label: "m.gguf", locations: [try #require(URL(string: "http://127.0.0.1:1/m"))],
            size: .exact(Self.content.count), digest: Self.digest)
        request.index = try builder.finalize().index
        return request
    }

    private func fetch(_ folder: Path, _ disk: any FileSystem, pieces: UInt64 = 1 << 20) async throws -> TransferredFile
    {
        var tuning = TransferTuning()
        tuning.pieceLength = pieces
        tuning.stragglerInterval = nil
        tuning.recordBytes = 1 << 20
        tuning.recordInterval = .seconds(3600)
        tuning.cachedBytes = 300_000
        let transfer = FileTransfer(
            http: MemoryOrigin(Self.content), fileSystem: disk, time: HurriedClock().time, folder: folder,
            tuning: tuning)
        return try await transfer.fetch(request()) { _ in }
    }

    private func expectWhole(_ file: TransferredFile) throws {
        #expect(file.size == Self.content.count)
        #expect(try LocalFileSystem().digest(ofFile: file.path) == Self.digest)
    }

    @Test(arguments: Disk.allCases) func theBytesAreRightWhateverTheDiskCanDo(_ kind: Disk) async throws {
        let folder = try TemporaryFolder()
        let disk = WatchedDisk(kind)
        try expectWhole(try await fetch(folder.path, disk))
        let notes = disk.notes.withLock { $0 }
        #expect(notes.uncachedBytes + notes.cachedBytes == Int(Self.content.count), "every byte is written once")
        #expect(notes.unaligned == 0)
        #expect(notes.reads == 0, "what comes in order is hashed from memory")
        if kind == .obliging { #expect(notes.uncachedBytes > 4_000_000) }
    }

    /// Pieces that are no multiples of anything, of several connections in one chunk: it is read again when it is whole.
    @Test(arguments: Disk.allCases) func chunksThatComeOutOfOrderAreReadAgain(_ kind: Disk) async throws {
        let folder = try TemporaryFolder()
        let disk = WatchedDisk(kind)
        try expectWhole(try await fetch(folder.path, disk, pieces: 100_000))
        let notes = disk.notes.withLock { $0 }
        #expect(notes.uncachedBytes + notes.cachedBytes == Int(Self.content.count))
        #expect(notes.unaligned == 0)
        #expect(notes.reads > 0)
    }

    /// Any write may fail, past the cache or not: that is said, and the next attempt brings the rest.
    @Test(arguments: [ENOSPC, EIO]) func aWriteThatFailsCostsOnlyWhatWasNotRecorded(_ number: Int32) async throws {
        for call in stride(from: 1, through: 30, by: TestExtent.isFull ? 3 : 9) {
            let folder = try TemporaryFolder()
            let disk = FaultyFileSystem()
            disk.fail(call: call, of: .write, errno: number)
            do {
                try expectWhole(try await fetch(folder.path, disk))
            } catch let error as FileError {
                #expect(error.code == (number == EIO ? .ioFailure : .diskFull))
            }
            disk.heal()
            let journal = try TransferJournal.read(folder.path("\(Self.digest.hex)/journal"), in: LocalFileSystem())
            let file = try await fetch(folder.path, disk)
            try expectWhole(file)
            #expect(file.fetchedBytes == Self.content.count - (journal?.held.byteCount ?? 0), "write \(call)")
        }
    }
}
