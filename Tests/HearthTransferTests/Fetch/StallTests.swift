import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthTransfer

@Suite(.timeLimit(.minutes(10))) struct StallTests {
    /// Chunks of so many bytes, each after so many seconds of waiting, and the chunk that is one too slow.
    @Test(
        arguments: [
            (1000, 5.0, 3), (65_535, 15, 1), (21_845, 5, 3), (65_536, 15, nil), (21_846, 5, nil), (5000, 1, nil),
            (1, 0.5, 30), (1, 0, nil), (1 << 20, 14, nil), (0, 1000, 1),
        ] as [(Int, Double, Int?)])
    func needs64KiBIn15Seconds(_ bytes: Int, seconds: Double, stall: Int?) {
        var watch = StallWatch()
        let first = (1...10_000).first { _ in watch.isStalled(afterWaiting: .seconds(seconds), for: bytes) }
        #expect(first == stall)
    }

    @Test func aFastStartDoesNotExcuseAStallLater() {
        var watch = StallWatch()
        let readings = [(15, 1 << 30), (14, 0), (1, 1000)].map { seconds, bytes in
            watch.isStalled(afterWaiting: .seconds(seconds), for: bytes)
        }
        #expect(readings == [false, false, true])
    }

    /// A server on a virtual network: its chunks take their time on the clock, not on the wall.
    private final class SlowServer: HTTPClient {
        struct Pace: Sendable {
            var chunk: Int
            var interval: Duration
        }

        static let content = Content.pattern(count: 200_000).bytes
        let clock = HurriedClock()
        let requests = Locked<[HTTPRequest]>([])
        private let pace: @Sendable (Int) -> Pace

        init(_ pace: @escaping @Sendable (Int) -> Pace) { self.pace = pace }

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            let index = requests.withLock { requests in
                requests.append(request)
                return requests.count - 1
            }
            let offset = request.headers["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
            let rest = Locked(Self.content[offset...])
            let pace = pace(index)
            let body = HTTPBody { [clock] in
                let bytes = rest.withLock { rest in
                    defer { rest = rest.dropFirst(pace.chunk) }
                    return Array(rest.prefix(pace.chunk))
                }
                guard !bytes.isEmpty else { return nil }
                try await clock.sleep(for: pace.interval)
                return bytes
            }
            let count = Self.content.count
            return HTTPResponse(
                status: offset == 0 ? 200 : 206,
                headers: [
                    "ETag": "\"v1\"", "Content-Length": "\(count - offset)",
                    "Content-Range": "bytes \(offset)-\(count - 1)/\(count)",
                ],
                url: request.url, body: body)
        }

        func fetch(into folder: TemporaryFolder, bytesPerSecond: UInt64? = nil) async throws -> TransferredFile {
            let url = try #require(URL(string: "http://127.0.0.1:1/m.gguf"))
            let request = TransferRequest(
                label: "m.gguf", locations: [url], size: .exact(UInt64(Self.content.count)),
                digest: SHA256Digest(hashing: Self.content), bytesPerSecond: bytesPerSecond)
            return try await FileTransfer(
                http: self, fileSystem: LocalFileSystem(), time: clock.time, folder: folder.path
            ).fetch(request) { _ in }
        }

        var ranges: [String?] { requests.withLock { $0.map { $0.headers["Range"] } } }
    }

    @Test func aTrickleIsReplacedByAnotherConnectionWithoutLosingAByte() async throws {
        let server = SlowServer { index in
            index < 2
                ? .init(chunk: 1000, interval: .seconds(5)) : .init(chunk: 65_536, interval: .seconds(1))
        }
        let file = try await server.fetch(into: try TemporaryFolder())
        #expect(server.ranges == [nil, "bytes=3000-", "bytes=6000-"])
        #expect(file.fetchedBytes == UInt64(SlowServer.content.count))
        #expect(server.requests.withLock { $0 }.allSatisfy { $0.idleTimeout == .seconds(15) }, "silence, likewise")
    }

    @Test func slowButSteadyIsNoStall() async throws {
        let server = SlowServer { _ in .init(chunk: 5000, interval: .seconds(1)) }
        _ = try await server.fetch(into: try TemporaryFolder())
        #expect(server.ranges == [nil])
    }

    @Test func theLastBytesMayTakeTheirTime() async throws {
        let server = SlowServer { _ in .init(chunk: 190_000, interval: .seconds(20)) }
        _ = try await server.fetch(into: try TemporaryFolder())
        #expect(server.ranges == [nil])
    }

    @Test(arguments: [0, 1] as [Int])
    func aLimitOfOurOwnIsNoStall(_ milliseconds: Int) async throws {
        let server = SlowServer { _ in .init(chunk: 1000, interval: .milliseconds(milliseconds)) }
        let start = server.clock.now
        _ = try await server.fetch(into: try TemporaryFolder(), bytesPerSecond: 1000)
        #expect(server.ranges == [nil])
        #expect(start.duration(to: server.clock.now) > .seconds(190), "it was slow, and by our own wish")
    }
}

@Suite struct StandstillLimitTests {
    @Test func aTrickleOnEveryConnectionEndsAfterTwoMinutes() {
        var standstill = Standstill()
        for second in 0..<119 {
            standstill.received(4_000, at: .seconds(second))
            #expect(!standstill.isExhausted(at: .seconds(second)))
        }
        #expect(standstill.isExhausted(at: .seconds(120)))
    }

    @Test func whatComesSteadilyIsWaitedForWithoutEnd() {
        var standstill = Standstill()
        for second in 0..<10_000 {
            standstill.received(5_000, at: .seconds(second))
            #expect(!standstill.isExhausted(at: .seconds(second)))
        }
    }

    @Test func aPauseSomebodyAskedForDoesNotCount() {
        var standstill = Standstill()
        standstill.reset(at: .seconds(300))
        #expect(!standstill.isExhausted(at: .seconds(419)))
        #expect(standstill.isExhausted(at: .seconds(420)))
    }

    @Test func timeInWhichNobodyTriedDoesNotCount() {
        var standstill = Standstill()
        standstill.received(1_000, at: .seconds(5))
        // Four connections that broke while the machine slept for an hour, and what is tried after it.
        let failures = Array(repeating: 3_605, count: 4) + (3_606...4_000)
        let last = failures.first { standstill.isExhausted(afterFailureAt: .seconds($0)) }
        // 5 s, half a minute for the hour, and what is tried and of no use counts as ever.
        #expect(last == 3_690)
    }

    @Test func longSilencesEndToo() {
        var standstill = Standstill()
        let attempts = (1...10).prefix { !standstill.isExhausted(afterFailureAt: .seconds(100 * $0)) }
        #expect(attempts.count == 3, "each counts as half a minute")
    }

    /// A network on which the machine falls asleep for some minutes while the first connection brings bytes, and breaks it.
    private struct Nap: HTTPClient {
        static let content = Content.pattern(count: 200_000).bytes
        let clock: HurriedClock
        let requests = Locked(0)

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            let isFirst = requests.withLock { requests in
                requests += 1
                return requests == 1
            }
            let offset = request.headers["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
            let rest = Locked(Self.content[offset...])
            let body = HTTPBody { [clock] in
                let bytes = rest.withLock { rest in
                    defer { rest = rest.dropFirst(50_000) }
                    return rest.prefix(50_000)
                }
                if isFirst && bytes.startIndex > 0 {
                    try await clock.sleep(for: .seconds(600))
                    throw HTTPError(.connectionLost, "it is gone", disposition: .tryLater)
                }
                return bytes.isEmpty ? nil : Array(bytes)
            }
            let count = Self.content.count
            return HTTPResponse(
                status: offset == 0 ? 200 : 206,
                headers: [
                    "ETag": "\"v1\"", "Content-Length": "\(count - offset)",
                    "Content-Range": "bytes \(offset)-\(count - 1)/\(count)",
                ], url: request.url, body: body)
        }
    }

    @Test(.timeLimit(.minutes(10))) func aConnectionThatDiedWhileTheMachineSleptIsReplaced() async throws {
        let folder = try TemporaryFolder()
        let clock = HurriedClock()
        let network = Nap(clock: clock)
        let url = try #require(URL(string: "http://127.0.0.1:1/m.gguf"))
        let digest = SHA256Digest(hashing: Nap.content)
        let request = TransferRequest(
            label: "m.gguf", locations: [url], size: .exact(UInt64(Nap.content.count)), digest: digest)
        let transfer = FileTransfer(
            http: network, fileSystem: LocalFileSystem(), time: clock.time, folder: folder.path)
        #expect(try await transfer.fetch(request) { _ in }.digest == digest)
        #expect(network.requests.withLock { $0 } == 2)
    }

    /// Connections that bring a little each and are replaced, for ever.
    private struct Trickle: HTTPClient {
        let clock: HurriedClock

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            let offset = request.headers["Range"].flatMap { UInt64($0.dropFirst("bytes=".count).dropLast()) } ?? 0
            let total: UInt64 = 8 << 20
            let body = HTTPBody { [clock] in
                try await clock.sleep(for: .seconds(6))
                return [UInt8](repeating: 1, count: 1_000)
            }
            return HTTPResponse(
                status: offset == 0 ? 200 : 206,
                headers: [
                    "ETag": "\"v1\"", "Content-Length": "\(total - offset)",
                    "Content-Range": "bytes \(offset)-\(total - 1)/\(total)",
                ], url: request.url, body: body)
        }
    }

    @Test(.timeLimit(.minutes(10))) func aTransferThatOnlyTricklesEnds() async throws {
        let folder = try TemporaryFolder()
        let clock = HurriedClock()
        let url = try #require(URL(string: "http://127.0.0.1:1/m.gguf"))
        let request = TransferRequest(
            label: "m.gguf", locations: [url], size: .exact(8 << 20), digest: SHA256Digest(hashing: [0]))
        let transfer = FileTransfer(
            http: Trickle(clock: clock), fileSystem: LocalFileSystem(), time: clock.time, folder: folder.path)
        let error = await #expect(throws: HTTPError.self) { try await transfer.fetch(request) { _ in } }
        #expect(error?.code == .timedOut)
        #expect(error?.disposition == .tryLater)
    }
}
