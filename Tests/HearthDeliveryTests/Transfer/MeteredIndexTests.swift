import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// A file that may be fetched, whose chunk index lies on another host.
@Suite(.timeLimit(.minutes(10))) struct MeteredIndexTests {
    private static let content = Content.pattern(offset: 3, count: UInt64(ChunkIndex.fixedLength) + 10_000)
    private static let index: Data = {
        var builder = ChunkIndexBuilder()
        content.bytes.withUnsafeBytes { builder.update($0) }
        return (try? builder.finalize().index.encoded) ?? Data()
    }()

    /// Answers for the host far away, and counts; everything else is asked as usual.
    private final class FarHost: HTTPClient {
        static let name = "indexes.example"
        let asked = Locked(0)
        private let base = DefaultHTTPClient()

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            guard request.url.host == Self.name else { return try await base.execute(request) }
            asked.withLock { $0 += 1 }
            let rest = Locked<[UInt8]?>([UInt8](MeteredIndexTests.index))
            return HTTPResponse(
                status: 200, headers: ["Content-Length": "\(MeteredIndexTests.index.count)"], url: request.url,
                body: HTTPBody {
                    rest.withLock { bytes in
                        defer { bytes = nil }; return bytes
                    }
                })
        }
    }

    private let folder: TemporaryFolder
    private let server: FaultServer
    private let far = FarHost()

    init() throws {
        folder = try TemporaryFolder()
        let manifest = """
            {"schemaVersion": 1, "currentVersion": "1.0.0", "models": [
             {"id": "toy", "version": "1.0.0", "filename": "toy-v1.0.0-q4_1.gguf", "sizeBytes": \(Self.content.count),
              "sha256": "\(SHA256Digest(hashing: Self.content.bytes).hex)", "minAppVersion": "1.0.0",
              "downloadUrl": "w.gguf", "index": {"url": "https://\(FarHost.name)/w.index",
              "sha256": "\(SHA256Digest(hashing: [UInt8](Self.index)).hex)", "sizeBytes": \(Self.index.count)}}]}
            """
        server = try FaultServer { request in
            request.path == "/models.json" ? .text(manifest) : FaultServer.answer(request, with: Self.content)
        }
    }

    private func manager(_ condition: NetworkCondition) throws -> ModelManager {
        ModelManager(
            home: folder.path("home"), origins: [Origin(name: "test", manifestURL: try server.url("/models.json"))],
            http: far, time: HurriedClock().time, network: ScriptedNetworkMonitor(condition), deviceMemory: 1 << 40)
    }

    private func options(_ metered: MeteredUse) -> PullOptions {
        var options = PullOptions()
        options.metered = metered
        return options
    }

    @Test(arguments: [
        (NetworkCondition.metered, MeteredUse.deny, 0), (.metered, .ask, 0), (.offline, .allow, 0),
        (.metered, .allow, 1), (.unrestricted, .deny, 1),
    ])
    func theIndexIsUnderTheSameRuleAsAFile(
        _ condition: NetworkCondition, _ metered: MeteredUse, _ count: Int
    ) async throws {
        let manager = try manager(condition)
        let release = try await manager.pull(ModelReference(parsing: "toy"), options: options(metered)).release
        #expect(far.asked.withLock { $0 } == count)

        // The same for a repair.
        let file = try LocalFileSystem().open(try #require(release.weights), .readWrite)
        try [UInt8]([0xAA]).withUnsafeBytes { try LocalFileSystem().write(file, $0, at: 5) }
        let report = try await manager.repair(release.identity, options: options(metered))
        #expect(report.repaired.count == 1)
        #expect(far.asked.withLock { $0 } == 2 * count)
        #expect(report.fetchedBytes == (count == 0 ? Self.content.count : UInt64(ChunkIndex.fixedLength)))
        #expect(try await manager.store.verify(release).isIntact)
    }
}
