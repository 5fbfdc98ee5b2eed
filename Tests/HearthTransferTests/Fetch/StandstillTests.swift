import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthTransfer

/// What people see, and what they can do, while no byte comes.
@Suite(.timeLimit(.minutes(5))) struct StandstillTests {
    private static let content = Content.pattern(count: 1_000_000)
    private static let digest = SHA256Digest(hashing: content.bytes)

    private let folder: TemporaryFolder
    private let clock = ManualClock()

    init() throws { folder = try TemporaryFolder() }

    private func request(indexed: Bool = false) throws -> TransferRequest {
        var request = TransferRequest(
            label: "m.gguf", locations: [try #require(URL(string: "http://127.0.0.1:1/m.gguf"))],
            size: .exact(Self.content.count), digest: Self.digest)
        guard indexed else { return request }
        var builder = ChunkIndexBuilder(length: 64 << 10)
        Self.content.bytes.withUnsafeBytes { builder.update($0) }
        request.index = try builder.finalize().index
        return request
    }

    private func transfer(_ http: any HTTPClient, _ disk: any FileSystem = LocalFileSystem()) -> FileTransfer {
        FileTransfer(http: http, fileSystem: disk, time: clock.time, folder: folder.path, pulse: clock.time)
    }

    /// Leaves what an earlier start recorded.
    private func leave(_ kept: UInt64) throws {
        let place = folder.path.appending(try #require(PathComponent(Self.digest.hex)))
        try LocalFileSystem().makeFolders(place)
        try Data(Self.content.bytes.prefix(Int(kept))).write(to: place.appending("data.part").url)
        var journal = TransferJournal(digest: Self.digest, size: Self.content.count, location: "http://127.0.0.1:1/m")
        journal.extents = [.init(start: 0, end: kept)]
        try journal.write(place.appending("journal"), in: LocalFileSystem())
    }

    /// A server that sends what it is fed, from the first byte on, and tells when it is asked for more.
    private struct FedServer: HTTPClient {
        let chunks: AsyncStream<[UInt8]>
        var asked: AsyncStream<Void>.Continuation?

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            let body = HTTPBody { [chunks, asked] in
                asked?.yield()
                for await chunk in chunks { return chunk }
                return nil
            }
            return HTTPResponse(
                status: 200, headers: ["Content-Length": "\(StandstillTests.content.count)"], url: request.url,
                body: body)
        }
    }

    @Test func aConnectionThatBringsNothingIsShownAsOne() async throws {
        let (chunks, feed) = AsyncStream.makeStream(of: [UInt8].self)
        let bytes = [UInt8](Self.content.bytes)
        let readings = Locked<[TransferProgress]>([])
        let (news, sink) = AsyncStream.makeStream(of: TransferProgress.self)
        let request = try request()
        let transfer = transfer(FedServer(chunks: chunks))
        let running = Task {
            try await transfer.fetch(request) { reading in
                readings.withLock { $0.append(reading) }
                sink.yield(reading)
            }
        }
        var seen = news.makeAsyncIterator()
        for end in [100_000, 200_000] {
            feed.yield(Array(bytes[(end - 100_000)..<end]))
            while let reading = await seen.next(), reading.completedBytes < UInt64(end) {}
            await pulse()
        }
        let moving = try #require(readings.withLock { $0.last { $0.bytesPerSecond != nil } })
        #expect(moving.bytesPerSecond ?? 0 > 0)
        let before = readings.withLock { $0.count }
        for _ in 0..<150 { await pulse() }
        let still = readings.withLock { Array($0[before...]) }
        #expect(still.allSatisfy { $0.state == .downloading && $0.completedBytes == 200_000 })
        let rates = still.compactMap(\.bytesPerSecond)
        #expect(zip(rates, rates.dropFirst()).allSatisfy { $0 > $1 } && rates.count > 50)
        #expect(rates.count <= 101, "ten a second, until there is nothing new to tell")
        #expect(still.last?.bytesPerSecond == 0 && still.last?.secondsLeft == nil)
        feed.yield(Array(bytes[200_000...]))
        feed.finish()
        #expect(try await running.value.digest == Self.digest)
    }

    @Test func bytesThatComeAgainHaveARate() async throws {
        try leave(500_000)
        let (chunks, feed) = AsyncStream.makeStream(of: [UInt8].self)
        let (asks, asked) = AsyncStream.makeStream(of: Void.self)
        let bytes = [UInt8](Self.content.bytes)
        let readings = Locked<[TransferProgress]>([])
        let request = try request()
        let transfer = transfer(FedServer(chunks: chunks, asked: asked))
        let running = Task { try await transfer.fetch(request) { reading in readings.withLock { $0.append(reading) } } }
        var heard = asks.makeAsyncIterator()
        await heard.next()
        await clock.sleepers(atLeast: 1)
        for end in [100_000, 200_000] {
            feed.yield(Array(bytes[(end - 100_000)..<end]))
            await heard.next()
            await pulse()
        }
        let last = try #require(readings.withLock { $0.last })
        #expect(last.completedBytes == 500_000 && last.repeatedBytes == 300_000)
        #expect(last.bytesPerSecond ?? 0 > 0)
        feed.yield(Array(bytes[200_000...]))
        feed.finish()
        #expect(try await running.value.digest == Self.digest)
    }

    /// Lets the time between two readings pass, and the transfer look at it.
    private func pulse() async {
        clock.advance(by: .milliseconds(100))
        await clock.sleepers(atLeast: 1)
    }

    /// A disk whose part files give some reads, and keep the next one waiting.
    private final class SlowDisk: ForwardingFileSystem {
        let base: any FileSystem = LocalFileSystem()
        private let condition = NSCondition()
        private nonisolated(unsafe) var isOpen = false
        private nonisolated(unsafe) var count = 0
        private let given: Int
        private let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)

        init(giving given: Int) { self.given = given }

        var reads: Int { condition.withLock { count } }

        func open() {
            condition.withLock {
                isOpen = true
                condition.broadcast()
            }
        }

        /// Returns once a read waits.
        func isWaitedFor() async { for await _ in arrivals { return } }

        func read(_ file: OpenFile, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws -> Int {
            if file.path.string.hasSuffix("data.part") {
                condition.withLock {
                    count += 1
                    if count > given, !isOpen { arrival.yield() }
                    while count > given, !isOpen { condition.wait() }
                }
            }
            return try base.read(file, into: buffer, at: offset)
        }
    }

    @Test(arguments: [true, false])
    func cancellingDoesNotWaitForWhatIsReadAgain(withIndex: Bool) async throws {
        let kept: UInt64 = 10 * (64 << 10)
        try leave(kept)

        let disk = SlowDisk(giving: 1)
        defer { disk.open() }
        let origin = MemoryOrigin(Self.content)
        let request = try request(indexed: withIndex)
        let transfer = transfer(origin, disk)
        let (news, sink) = AsyncStream.makeStream(of: TransferProgress.self)
        let running = Task { try await transfer.fetch(request) { sink.yield($0) } }
        await disk.isWaitedFor()
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .milliseconds(100))
        let first: UInt64 = withIndex ? 64 << 10 : 256 << 10
        var seen = news.makeAsyncIterator()
        while let reading = await seen.next() {
            #expect(reading.state == .verifying && reading.totalBytes == Self.content.count)
            #expect(reading.secondsLeft == nil, "how fast a disk is read says nothing of the network")
            if reading.completedBytes == first { break }
            #expect(reading.completedBytes == 0)
        }
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(disk.reads == 2, "one step, which still waits for the disk")
        #expect(origin.bytesTaken == 0)
        disk.open()

        let file = try await self.transfer(origin).fetch(request) { _ in }
        #expect(file.digest == Self.digest)
        #expect(file.fetchedBytes == Self.content.count - kept, "what was recorded is not fetched again")
        #expect(disk.reads == 2, "and nobody reads on")
    }
}
