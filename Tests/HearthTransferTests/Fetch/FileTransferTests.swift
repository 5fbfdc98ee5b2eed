import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthTransfer

/// Real sockets, a real disk, and a server that misbehaves.
@Suite(.timeLimit(.minutes(10))) struct FileTransferTests {
    static let content = Content.pattern(count: 300_000)
    static let digest = SHA256Digest(hashing: content.bytes)
    private static let http = CurlHTTPClient()

    private let folder: TemporaryFolder
    private let clock = HurriedClock()

    init() throws { folder = try TemporaryFolder() }

    private func request(
        _ server: FaultServer, size: FileSize = .exact(content.count), digest: SHA256Digest? = digest
    ) throws -> TransferRequest {
        TransferRequest(label: "m.gguf", locations: [try server.url("/m.gguf")], size: size, digest: digest)
    }

    private func fetch(
        _ request: TransferRequest, progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> TransferredFile {
        try await FileTransfer(http: Self.http, fileSystem: LocalFileSystem(), time: clock.time, folder: folder.path)
            .fetch(request, progress: progress)
    }

    private func expectWhole(_ file: TransferredFile) throws {
        #expect(file.digest == Self.digest)
        #expect(file.size == Self.content.count)
        #expect(
            try LocalFileSystem().digest(ofFile: file.path) == Self.digest, "what is on the disk, not what was seen")
    }

    @Test func bringsAWholeFile() async throws {
        let server = try FaultServer(FaultServer.file(Self.content))
        let file = try await fetch(try request(server))
        try expectWhole(file)
        #expect(file.fetchedBytes == Self.content.count)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [1, 2, 1000, 65_535, 65_536, 65_537, 150_000, 299_999])
    func goesOnWhereAConnectionBroke(at offset: UInt64) async throws {
        let server = try FaultServer { request in
            let reply = FaultServer.answer(request, with: Self.content)
            return request.index == 0 ? reply.dropped(after: offset) : reply
        }
        try expectWhole(try await fetch(try request(server)))
        let requests = await server.wait { $0.requests.count == 2 && $0.requests[1].outcome != nil }.requests
        #expect(requests[1].headers["Range"] == "bytes=\(offset)-", "not a byte twice")
        #expect(requests[1].headers["If-Range"] == "\"v1\"")
        #expect(requests[1].bytesSent == Self.content.count - offset)
    }

    @Test func goesOnThroughManyBreaks() async throws {
        let server = try FaultServer { FaultServer.answer($0, with: Self.content).dropped(after: 10_007) }
        let file = try await fetch(try request(server))
        try expectWhole(file)
        #expect(file.fetchedBytes == Self.content.count)
        #expect(server.requests.count == 30)
    }

    @Test(arguments: [1, 100_000, 299_999])
    func anotherProcessGoesOnBehindACancelledOne(after offset: UInt64) async throws {
        let gate = Gate()
        let server = try FaultServer { request in
            let reply = FaultServer.answer(request, with: Self.content)
            return request.index == 0 ? reply.stalled(after: offset, at: gate) : reply
        }
        let request = try request(server)
        let (readings, sink) = AsyncStream.makeStream(of: UInt64.self)
        let first = Task {
            try await fetch(request) { if $0.state == .downloading { sink.yield($0.completedBytes) } }
        }
        for await _ in readings { break }
        await gate.reached()
        // Everything before the gate was sent; the client holds or will hold it, unless cancelled first.
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        await server.wait { $0.connectionsOpen == 0 }

        let file = try await fetch(request)
        try expectWhole(file)
        let range = try #require(server.requests.last?.headers["Range"])
        let kept = try #require(UInt64(range.dropFirst("bytes=".count).dropLast()))
        #expect(kept >= 1 && kept <= offset)
        #expect(file.fetchedBytes == Self.content.count - kept)
    }

    @Test func aWholeFileInAnswerToARangeIsTakenFromItsStart() async throws {
        let server = try FaultServer { request in
            request.index == 0
                ? FaultServer.answer(request, with: Self.content).dropped(after: 50_000)
                : Reply(body: Self.content)
        }
        let file = try await fetch(try request(server))
        try expectWhole(file)
        #expect(file.fetchedBytes == Self.content.count + 50_000)
    }

    @Test func aServerWithoutRangesThatAlwaysBreaksIsGivenUp() async throws {
        let server = try FaultServer { _ in Reply(body: Self.content).dropped(after: 50_000) }
        let error = await #expect(throws: HTTPError.self) { try await fetch(try request(server)) }
        #expect(error?.disposition == .tryLater)
        #expect(server.requests.count == 4)
    }

    @Test func aFileThatChangedAtTheOriginIsTakenFromItsStart() async throws {
        let server = try FaultServer { request in
            request.index == 0
                ? FaultServer.answer(request, with: .pattern(count: 299_000), etag: "\"old\"").dropped(after: 50_000)
                : FaultServer.answer(request, with: Self.content, etag: "\"new\"")
        }
        let file = try await fetch(try request(server, size: .about(300_000, limit: 400_000)))
        try expectWhole(file)
    }

    @Test func anOffsetTheOriginDoesNotHaveIsAskedAgainFromTheStart() async throws {
        let server = try FaultServer { request in
            switch request.index {
            case 0: FaultServer.answer(request, with: Self.content).dropped(after: 50_000)
            case 1: Reply(416, headers: ["Content-Range": "bytes */10"])
            default: FaultServer.answer(request, with: Self.content)
            }
        }
        try expectWhole(try await fetch(try request(server)))
        #expect(server.requests.map { $0.headers["Range"] } == [nil, "bytes=50000-", nil])
    }

    @Test(arguments: ["bytes 0-299999/300000", "bytes 50000-299999/400000", "bytes 50001-299999/300000", "nonsense"])
    func aLyingContentRangeIsATypedFailureThatKeepsTheBytes(_ range: String) async throws {
        let server = try FaultServer { request in
            switch request.index {
            case 0: FaultServer.answer(request, with: Self.content).dropped(after: 50_000)
            case 1: Reply(206, headers: ["Content-Range": range], body: Self.content.slice(50_000..<300_000))
            default: FaultServer.answer(request, with: Self.content)
            }
        }
        let request = try request(server)
        let error = await #expect(throws: TransferError.self) { try await fetch(request) }
        #expect(["bad-content-range", "response-too-long"].contains(error?.codeText))
        let file = try await fetch(request)
        try expectWhole(file)
        #expect(file.fetchedBytes == 250_000, "what came before the lie is still there")
    }

    @Test func anOverLongBodyStopsAtTheByte() async throws {
        let server = try FaultServer { _ in Reply(body: .pattern(count: 50_000_000)).framed(.untilClose) }
        let error = await #expect(throws: TransferError.self) { try await fetch(try request(server)) }
        #expect(error?.code == .responseTooLong)
        let record = await server.wait { $0.requests.first?.outcome != nil }
        #expect(record.requests[0].outcome == .peerClosed)
        let part = folder.path("\(Self.digest.hex)/data.part")
        #expect(try LocalFileSystem().status(at: part)?.size == Self.content.count)
    }

    @Test(arguments: [299_999, 300_001, 0] as [UInt64])
    func anotherLengthThanPromisedIsRefusedBeforeTheBody(_ length: UInt64) async throws {
        let server = try FaultServer(FaultServer.file(.pattern(count: length)))
        let error = await #expect(throws: TransferError.self) { try await fetch(try request(server)) }
        #expect(["size-mismatch", "response-too-long"].contains(error?.codeText))
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [404, 403, 500, 204])
    func aRefusalIsATypedFailure(_ status: Int) async throws {
        let server = try FaultServer { _ in Reply(status) }
        await #expect(throws: TransferError.self) { try await fetch(try request(server)) }
        #expect(server.requests.count == (status == 500 ? 4 : 1), "only what time may mend is tried again")
    }

    @Test func aWebPageIsNotAModel() async throws {
        let server = try FaultServer { _ in .htmlPage }
        let error = await #expect(throws: TransferError.self) { try await fetch(try request(server)) }
        #expect(error?.code == .webPage)
    }

    @Test func somethingThatIsNotHTTPIsAnError() async throws {
        let server = try FaultServer { _ in .garbage(Data("SSH-2.0-server\r\n".utf8)) }
        await #expect(throws: HTTPError.self) { try await fetch(try request(server)) }
    }

    @Test func anotherPlaceIsTriedWhenOneFails() async throws {
        let broken = try FaultServer { _ in Reply(404) }
        let good = try FaultServer(FaultServer.file(Self.content))
        var request = try request(broken)
        request.locations.append(try good.url("/mirror.gguf"))
        try expectWhole(try await fetch(request))
    }

    @Test func progressNeverGoesBackwards() async throws {
        let server = try FaultServer { FaultServer.answer($0, with: Self.content).dropped(after: 40_001) }
        let readings = Locked<[TransferProgress]>([])
        _ = try await fetch(try request(server)) { reading in readings.withLock { $0.append(reading) } }
        let all = readings.withLock { $0 }
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.completedBytes <= $1.completedBytes })
        #expect(all.allSatisfy { (0...1).contains($0.fraction ?? -1) })
        #expect(all.last?.fraction == 1)
    }

    @Test func twoAtOnceDoNotMix() async throws {
        let gate = Gate()
        let server = try FaultServer { FaultServer.answer($0, with: Self.content).stalled(after: 1000, at: gate) }
        let request = try request(server)
        async let first = fetch(request)
        await gate.reached()
        let error = await #expect(throws: TransferError.self) { try await fetch(request) }
        #expect(error?.code == .busy)
        #expect(error?.disposition == .tryLater)
        gate.open()
        try expectWhole(try await first)
    }

    @Test func withoutADigestAnEntityTagDecides() async throws {
        let server = try FaultServer { request in
            let reply = FaultServer.answer(request, with: Self.content, etag: request.index < 2 ? "\"a\"" : "\"b\"")
            return request.index == 0 ? reply.dropped(after: 100_000) : reply
        }
        let request = try request(server, size: .about(300_000, limit: 400_000), digest: nil)
        try expectWhole(try await fetch(request))
        #expect(server.requests[1].headers["If-Range"] == "\"a\"")
    }
}
