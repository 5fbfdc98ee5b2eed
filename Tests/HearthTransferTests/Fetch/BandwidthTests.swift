import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthTransfer

/// A limit on the rate, shared by several connections.
@Suite(.timeLimit(.minutes(5))) struct BandwidthTests {
    private static let content = Content.pattern(count: 1_000_000)
    private static let chunk = 8 << 10
    private static let connections = 4

    /// A network as fast as it is asked; it goes on once there are so many connections.
    private final class Network: HTTPClient {
        private struct State {
            var requests = 0
            var open = 0
            var maximumOpen = 0
            var given: [(at: Duration, bytes: UInt64)] = []
        }

        private let clock: HurriedClock
        private let start: ManualClock.Instant
        private let state = Locked(State())
        private let (gate, opening) = AsyncStream<Never>.makeStream()

        init(_ clock: HurriedClock) {
            self.clock = clock
            start = clock.now
        }

        var maximumOpen: Int { state.withLock { $0.maximumOpen } }
        /// When how many bytes had been handed out in all.
        var given: [(at: Duration, bytes: UInt64)] { state.withLock { $0.given } }

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            let text = try #require(request.headers["Range"]).dropFirst("bytes=".count)
            let bounds = text.split(separator: "-").compactMap { UInt64($0) }
            let range = bounds[0]..<(bounds.count == 2 ? bounds[1] + 1 : BandwidthTests.content.count)
            let isEnough = state.withLock { state in
                state.requests += 1
                state.open += 1
                state.maximumOpen = max(state.maximumOpen, state.open)
                return state.requests == BandwidthTests.connections
            }
            if isEnough { opening.finish() }
            let rest = Locked(range)
            let body = HTTPBody { [self] in
                if rest.withLock({ $0.lowerBound }) > range.lowerBound { for await _ in gate {} }
                let next = rest.withLock { rest in
                    let end = min(rest.upperBound, rest.lowerBound + UInt64(BandwidthTests.chunk))
                    defer { rest = end..<rest.upperBound }
                    return rest.lowerBound..<end
                }
                state.withLock { state in
                    if next.isEmpty {
                        state.open -= 1
                    } else {
                        let before = state.given.last?.bytes ?? 0
                        state.given.append((start.duration(to: clock.now), before + UInt64(next.count)))
                    }
                }
                return next.isEmpty ? nil : [UInt8](BandwidthTests.content.slice(next).bytes)
            }
            let header = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(BandwidthTests.content.count)"
            return HTTPResponse(
                status: 206, headers: ["Content-Range": header, "ETag": "\"v1\""], url: request.url, body: body)
        }
    }

    @Test func allConnectionsTogetherKeepToIt() async throws {
        let folder = try TemporaryFolder()
        let clock = HurriedClock()
        let network = Network(clock)
        var tuning = TransferTuning()
        tuning.pieceLength = 64 << 10
        tuning.minimumSplit = 1 << 40
        tuning.stragglerInterval = nil
        tuning.initialConnections = Self.connections
        let rate: UInt64 = 100_000
        let request = TransferRequest(
            label: "m.gguf", locations: [try #require(URL(string: "http://127.0.0.1:1/m.gguf"))],
            size: .exact(Self.content.count), digest: SHA256Digest(hashing: Self.content.bytes), bytesPerSecond: rate)
        let begin = clock.now
        let file = try await FileTransfer(
            http: network, fileSystem: LocalFileSystem(), time: clock.time, folder: folder.path, tuning: tuning
        ).fetch(request) { _ in }
        let seconds = begin.duration(to: clock.now).seconds
        #expect(file.fetchedBytes == Self.content.count)
        #expect(network.maximumOpen >= Self.connections)
        // A quarter of a second's worth may come in advance, and one chunk over each connection is on its way.
        let advance = Double(rate) / 4 + Double((Self.connections + 1) * Self.chunk)
        for (moment, bytes) in network.given {
            #expect(Double(bytes) <= moment.seconds * Double(rate) + advance, "\(bytes) bytes after \(moment)")
        }
        let least = (Double(Self.content.count) - advance) / Double(rate)
        #expect((least...(4 * least)).contains(seconds), "\(seconds) s")
    }
}
