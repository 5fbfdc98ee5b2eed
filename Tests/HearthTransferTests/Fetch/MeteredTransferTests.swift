import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthTransfer

/// A transfer on a network that changes under it.
@Suite(.timeLimit(.minutes(10))) struct MeteredTransferTests {
    private static let content = Content.pattern(count: 200_000)
    private static let digest = SHA256Digest(hashing: content.bytes)

    /// A server far away that falls silent in the middle of its first answer.
    private final class FarServer: HTTPClient {
        let ranges = Locked<[String?]>([])

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            let isFirst = ranges.withLock { ranges in
                defer { ranges.append(request.headers["Range"]) }
                return ranges.isEmpty
            }
            let offset = request.headers["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
            let bytes = Array(MeteredTransferTests.content.bytes[offset...])
            let rest = Locked<[UInt8]?>(isFirst ? Array(bytes.prefix(50_000)) : bytes)
            let body = HTTPBody {
                let chunk = rest.withLock { rest in
                    defer { rest = nil }
                    return rest
                }
                if chunk == nil && isFirst { try await Task.sleep(for: .seconds(3600)) }
                return chunk
            }
            let end = MeteredTransferTests.content.count
            return HTTPResponse(
                status: offset == 0 ? 200 : 206,
                headers: [
                    "ETag": "\"v1\"", "Content-Length": "\(bytes.count)",
                    "Content-Range": "bytes \(offset)-\(end - 1)/\(end)",
                ], url: request.url, body: body)
        }
    }

    @Test(arguments: [(NetworkCondition.metered, DownloadHold.metered), (.offline, .offline)])
    func waitsAndGoesOnByItself(_ condition: NetworkCondition, _ hold: DownloadHold) async throws {
        let folder = try TemporaryFolder()
        let server = FarServer()
        let network = ScriptedNetworkMonitor()
        let transfer = FileTransfer(
            http: server, fileSystem: LocalFileSystem(), time: HurriedClock().time, folder: folder.path,
            network: network)
        let url = try #require(URL(string: "https://models.example/m.gguf"))
        let request = TransferRequest(
            label: "m.gguf", locations: [url], size: .exact(Self.content.count), digest: Self.digest)
        let (readings, sink) = AsyncStream.makeStream(of: TransferProgress.self)
        let running = Task { try await transfer.fetch(request) { sink.yield($0) } }
        var seen = readings.makeAsyncIterator()
        while let reading = await seen.next(), reading.state != .downloading {}
        network.change(to: condition)
        while let reading = await seen.next() {
            guard reading.state.hold != nil else { continue }
            #expect(reading.state == .waiting(hold))
            #expect(reading.completedBytes == 50_000, "what came is not taken back")
            break
        }
        #expect(server.ranges.withLock { $0 } == [nil])
        network.change(to: .unrestricted)
        let file = try await running.value
        #expect(file.digest == Self.digest)
        #expect(server.ranges.withLock { $0 } == [nil, "bytes=50000-"], "not a byte twice")
    }

    /// What an earlier process left counts before the network is there.
    @Test func heldBytesAreReportedWhileItWaits() async throws {
        let folder = try TemporaryFolder()
        let url = try #require(URL(string: "https://models.example/m.gguf"))
        let request = TransferRequest(
            label: "m.gguf", locations: [url], size: .exact(Self.content.count), digest: Self.digest)
        let place = folder.path.appending(try TransferKey(request))
        try LocalFileSystem().makeFolders(place)
        try LocalFileSystem().replaceContents(
            of: place.appending("data.part"), with: Data(Self.content.bytes.prefix(80_000)))
        var journal = TransferJournal(
            digest: Self.digest, size: Self.content.count, location: url.withoutQuery)
        journal.extents = [.init(start: 0, end: 80_000)]
        try journal.write(place.appending("journal"), in: LocalFileSystem())
        let network = ScriptedNetworkMonitor(.offline)
        let transfer = FileTransfer(
            http: FarServer(), fileSystem: LocalFileSystem(), time: HurriedClock().time, folder: folder.path,
            network: network)
        let (readings, sink) = AsyncStream.makeStream(of: TransferProgress.self)
        let running = Task { try await transfer.fetch(request) { sink.yield($0) } }
        var seen = readings.makeAsyncIterator()
        let first = try #require(await seen.next())
        #expect(first.state == .waiting(.offline))
        #expect(first.completedBytes == 80_000 && first.fraction == 0.4)
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
    }

    @Test func aRequestThatMayUseItDoesNotWait() async throws {
        let folder = try TemporaryFolder()
        let server = FarServer()
        server.ranges.withLock { $0 = ["the first answer is spent"] }
        let transfer = FileTransfer(
            http: server, fileSystem: LocalFileSystem(), time: HurriedClock().time, folder: folder.path,
            network: ScriptedNetworkMonitor(.metered))
        let url = try #require(URL(string: "https://models.example/m.gguf"))
        var request = TransferRequest(
            label: "m.gguf", locations: [url], size: .exact(Self.content.count), digest: Self.digest)
        request.metered = .allow
        #expect(try await transfer.fetch(request) { _ in }.digest == Self.digest)
    }
}
