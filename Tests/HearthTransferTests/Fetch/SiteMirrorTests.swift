import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthTransfer

/// A cache of the site before the origin.
@Suite(.timeLimit(.minutes(5))) struct SiteMirrorTests {
    private static let content = Content.pattern(count: 600_000)
    private static let digest = SHA256Digest(hashing: content.bytes)
    private static let chunk: UInt32 = 32 << 10

    /// The origin and the mirror, told apart by the host.
    private final class Network: HTTPClient {
        let origin = MemoryOrigin(SiteMirrorTests.content)
        let mirror: any HTTPClient
        let asked = Locked<[URL]>([])

        init(mirror: any HTTPClient) { self.mirror = mirror }

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            asked.withLock { $0.append(request.url) }
            let isMirror = request.url.host() == "cache.example"
            return try await isMirror ? mirror.execute(request) : origin.execute(request)
        }

        var fromMirror: Int { asked.withLock { $0.count { $0.host() == "cache.example" } } }
    }

    /// A mirror that answers with a status, breaks, or sends nothing for ever on its clock.
    private struct Refusing: HTTPClient {
        let fault: String
        let time: TimeSource

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            let empty = HTTPBody { nil }
            switch fault {
            case "404": return HTTPResponse(status: 404, headers: [:], url: request.url, body: empty)
            case "503":
                return HTTPResponse(status: 503, headers: ["Retry-After": "3600"], url: request.url, body: empty)
            case "silent": throw HTTPError(.timedOut, "no answer came")
            default: throw HTTPError(.cannotConnect, "nobody listens")
            }
        }
    }

    private func request(hasIndex: Bool = false) throws -> TransferRequest {
        var request = TransferRequest(
            label: "m.gguf", locations: [try #require(URL(address: "https://models.example/a/m%20x.gguf"))],
            size: .exact(Self.content.count), digest: Self.digest)
        guard hasIndex else { return request }
        var builder = ChunkIndexBuilder(length: Self.chunk)
        Array(Self.content.bytes).withUnsafeBytes { builder.update($0) }
        request.index = try builder.finalize().index
        return request
    }

    private func fetch(_ request: TransferRequest, from network: Network) async throws -> (TransferredFile, Double) {
        let folder = try TemporaryFolder()
        let clock = HurriedClock()
        var tuning = TransferTuning()
        tuning.pieceLength = 64 << 10
        tuning.stragglerInterval = nil
        let start = clock.now
        let transfer = FileTransfer(
            http: network, fileSystem: LocalFileSystem(), time: clock.time, folder: folder.path, tuning: tuning,
            mirror: SiteMirror(try #require(URL(address: "https://cache.example/hearth/"))))
        let file = try await transfer.fetch(request) { _ in }
        #expect(try LocalFileSystem().digest(ofFile: file.path) == Self.digest)
        return (file, start.duration(to: clock.now).seconds)
    }

    @Test func theMirrorIsAskedAlone() async throws {
        let mirror = MemoryOrigin(Self.content)
        let network = Network(mirror: mirror)
        _ = try await fetch(try request(), from: network)
        #expect(network.origin.bytesTaken == 0)
        #expect(mirror.bytesTaken == Self.content.count)
        let paths = network.asked.withLock { Set($0.map(\.absoluteString)) }
        #expect(paths == ["https://cache.example/hearth/models.example/a/m%20x.gguf"])
    }

    @Test(arguments: ["404", "503", "silent", "away"]) func theOriginIsAskedAtOnce(_ fault: String) async throws {
        let network = Network(mirror: Refusing(fault: fault, time: .system))
        let (_, waited) = try await fetch(try request(), from: network)
        #expect(network.origin.bytesTaken == Self.content.count)
        #expect(network.fromMirror == 1)
        #expect(waited == 0)
    }

    /// With a chunk index no more than some chunks are wasted, without one the mirror's bytes, once.
    @Test(arguments: [true, false]) func wrongBytesCostThemselvesOnce(_ hasIndex: Bool) async throws {
        let rotten = MemoryOrigin(Content.pattern(offset: 7, count: Self.content.count))
        let network = Network(mirror: rotten)
        let (_, waited) = try await fetch(try request(hasIndex: hasIndex), from: network)
        #expect(rotten.bytesTaken > 0 && rotten.bytesTaken <= Self.content.count)
        #expect(network.origin.bytesTaken == Self.content.count)
        #expect(waited == 0)
    }

    @Test(
        arguments: [
            ("https://h.example/a/b.gguf", "https://cache.example/m/h.example/a/b.gguf"),
            ("https://h.example:8443/b%2Fc", "https://cache.example/m/h.example:8443/b%2Fc"),
            ("https://h.example:443/b", "https://cache.example/m/h.example/b"),
            ("https://h.example/b?X-Signature=s3cret", nil), ("https://user:s3cret@h.example/b", nil),
            ("http://127.0.0.1:1/b", nil), ("file:///b", nil),
        ] as [(String, String?)])
    func onlyPublicAddressesAreTurned(_ origin: String, _ wanted: String?) throws {
        var request = try request()
        request.locations = [try #require(URL(address: origin))]
        let mirror = SiteMirror(try #require(URL(address: "https://cache.example/m")))
        #expect(mirror.address(of: request)?.absoluteString == wanted)
        request.isPublic = false
        #expect(mirror.address(of: request) == nil)
        (request.isPublic, request.digest) = (true, nil)
        #expect(mirror.address(of: request) == nil)
    }

    /// A gateway gives addresses for one device alone.
    @Test func filesOfAGatewayAreNotAskedFor() async throws {
        struct Gateway: DownloadURLProvider {
            func downloadURL(for location: URL) -> URL { location.asking("signed=1") }
        }
        let network = Network(mirror: MemoryOrigin(Self.content))
        let folder = try TemporaryFolder()
        let transfer = FileTransfer(
            http: network, fileSystem: LocalFileSystem(), time: HurriedClock().time, folder: folder.path,
            provider: Gateway(), mirror: SiteMirror(try #require(URL(address: "https://cache.example"))))
        _ = try await transfer.fetch(try request()) { _ in }
        #expect(network.fromMirror == 0)
    }
}
