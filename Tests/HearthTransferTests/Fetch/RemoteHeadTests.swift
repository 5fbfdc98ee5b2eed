import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import HearthTransfer
import Testing

/// The front of a file that is still elsewhere.
@Suite(.timeLimit(.minutes(5))) struct RemoteHeadTests {
    /// Answers by address, and counts what was taken of bodies.
    private final class Server: HTTPClient {
        struct Reply: Sendable {
            var status = 206
            var range: String? = "bytes 0-1/2"
            /// How often 64 KiB come.
            var chunks = 1000
        }

        let replies: [String: Reply]
        let taken = Locked(0)
        let asked = Locked<[String]>([])

        init(_ replies: [String: Reply]) { self.replies = replies }

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            asked.withLock { $0.append("\(request.url.host() ?? "") \(request.headers["Range"] ?? "")") }
            guard let reply = replies[request.url.host() ?? ""] else {
                throw HTTPError(.cannotConnect, "nobody is there")
            }
            let left = Locked(reply.chunks)
            var headers = HTTPHeaders()
            headers["Content-Range"] = reply.range
            return HTTPResponse(
                status: reply.status, headers: headers, url: request.url,
                body: HTTPBody { [taken] in
                    let isThere = left.withLock { left in
                        left -= 1
                        return left >= 0
                    }
                    guard isThere else { return nil }
                    taken.withLock { $0 += 64 << 10 }
                    return [UInt8](repeating: 7, count: 64 << 10)
                })
        }
    }

    private func file(_ hosts: String...) throws -> TransferRequest {
        TransferRequest(
            label: "model.gguf", locations: try hosts.map { try #require(URL(string: "https://\($0)/model.gguf")) },
            size: .exact(1 << 40), digest: nil)
    }

    @Test func endsAsSoonAsItIsEnough() async throws {
        let server = Server(["a": .init()])
        let looks = Locked<[Int]>([])
        let data = try await RemoteHead(http: server).read(try file("a")) { data in
            looks.withLock { $0.append(data.count) }
            return data.count >= 1 << 20
        }
        #expect(data.count == 1 << 20)
        #expect(looks.withLock { $0 } == [256 << 10, 512 << 10, 1 << 20])
        #expect(server.taken.withLock { $0 } == 1 << 20)
        #expect(server.asked.withLock { $0 } == ["a bytes=0-16777215"])
    }

    @Test(arguments: [200, 206]) func endlessBytesAreCutOff(status: Int) async throws {
        let server = Server(["a": .init(status: status, chunks: .max)])
        let data = try await RemoteHead(http: server).read(try file("a")) { _ in false }
        #expect(data.count == 16 << 20 && server.taken.withLock { $0 } == 16 << 20)
        let some = try await RemoteHead(http: server).read(try file("a"), upTo: 100_000) { _ in false }
        #expect(some.count == 100_000)
        let least = try await RemoteHead(http: server).read(try file("a"), upTo: -5) { _ in false }
        #expect(least.count == 1)
    }

    @Test func aShortFileComesWhole() async throws {
        let server = Server(["a": .init(chunks: 3)])
        #expect(try await RemoteHead(http: server).read(try file("a")) { _ in false }.count == 192 << 10)
    }

    @Test func theNextPlaceIsAskedWhereOneFails() async throws {
        let server = Server([
            "refuses": .init(status: 404), "else": .init(range: "bytes 5-9/10"), "silent": .init(range: nil),
            "good": .init(chunks: 1),
        ])
        let data = try await RemoteHead(http: server).read(try file("gone", "refuses", "else", "silent", "good")) { _ in
            false
        }
        #expect(data.count == 64 << 10)
        #expect(server.asked.withLock { $0.count } == 5)
        await #expect {
            try await RemoteHead(http: server).read(try file("refuses", "gone")) { _ in true }
        } throws: {
            ($0 as? TransferError)?.code == .unexpectedStatus
        }
        await #expect(throws: TransferError.self) { try await RemoteHead(http: server).read(try file()) { _ in true } }
    }

    @Test func whoeverReadsMayGiveUp() async throws {
        struct Enough: Error {}
        let server = Server(["a": .init(), "b": .init()])
        await #expect(throws: Enough.self) {
            try await RemoteHead(http: server).read(try file("a", "b")) { _ in throw Enough() }
        }
        #expect(server.asked.withLock { $0.count } == 1 && server.taken.withLock { $0 } == 256 << 10)
    }

    @Test func aCancelledReaderHearsOfIt() async throws {
        let server = Server(["a": .init(chunks: 1)])
        let file = try file("a")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await RemoteHead(http: server).read(file) { _ in false }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
