import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// A bucket that gives nothing out without a signed address: the index of a file comes by the same way as the file.
@Suite(.timeLimit(.minutes(10))) struct SignedIndexTests {
    private static let http = CurlHTTPClient()
    private static let content = Content.pattern(offset: 5, count: UInt64(ChunkIndex.fixedLength) + 10_000)
    private static let index: Data = {
        var builder = ChunkIndexBuilder()
        content.bytes.withUnsafeBytes { builder.update($0) }
        return (try? builder.finalize().index.encoded) ?? Data()
    }()

    /// A bucket whose first `expired` signed addresses of each file are refused, like all that are not signed.
    private func bucket(
        refusing status: Int = 403, expired: Int = 0, files: [String: Data], manifest: String = ""
    ) throws -> FaultServer {
        let visits = Locked<[String: Int]>([:])
        return try FaultServer { request in
            if request.path == "/models.json" { return .text(manifest) }
            guard let data = files[request.path] else { return Reply(404) }
            guard request.query("token") != nil else { return Reply(403) }
            let visit = visits.withLock { visits in
                visits[request.path, default: 0] += 1
                return visits[request.path, default: 0]
            }
            return visit <= expired ? Reply(status) : FaultServer.answer(request, with: .data(data))
        }
    }

    private func file(_ server: FaultServer) throws -> RemoteFile {
        RemoteFile(
            name: try #require(RelativePath("w.index")), role: .index, size: .exact(UInt64(Self.index.count)),
            digest: SHA256Digest(hashing: [UInt8](Self.index)), locations: [try server.url("/w.index")])
    }

    private func index(_ server: FaultServer, _ provider: CountingProvider?) async throws -> ChunkIndex? {
        try await ChunkIndexFetcher(http: Self.http, provider: provider)
            .fetch(TransferRequest(try file(server)), fileSize: Self.content.count)
    }

    @Test(arguments: [400, 401, 403])
    func anIndexIsAskedForAtASignedAddressThatIsRenewedOnce(_ status: Int) async throws {
        for expired in [0, 1] {
            let server = try bucket(refusing: status, expired: expired, files: ["/w.index": Self.index])
            let provider = CountingProvider(.works)
            #expect(try await index(server, provider) != nil)
            #expect(provider.count == expired + 1)
        }
        let server = try bucket(refusing: status, expired: .max, files: ["/w.index": Self.index])
        let provider = CountingProvider(.works)
        #expect(try await index(server, provider) == nil)
        #expect(provider.count == 2 && server.requests.count == 2, "once more, and not for ever")
    }

    @Test func withoutASignatureThereIsNoIndex() async throws {
        let server = try bucket(files: ["/w.index": Self.index])
        #expect(try await index(server, nil) == nil)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [400, 401, 403]) func theFrontOfAFileComesTheSameWay(_ status: Int) async throws {
        let server = try bucket(refusing: status, expired: 1, files: ["/w.index": Self.index])
        let provider = CountingProvider(.works)
        let head = RemoteHead(http: Self.http, provider: provider)
        #expect(try await head.read(TransferRequest(try file(server))) { _ in false } == Self.index)
        #expect(provider.count == 2)
        let refusing = RemoteHead(http: Self.http, provider: CountingProvider(.works))
        let other = try bucket(refusing: status, expired: .max, files: ["/w.index": Self.index])
        await #expect {
            try await refusing.read(TransferRequest(try file(other))) { _ in false }
        } throws: {
            ($0 as? TransferError)?.code == .accessDenied
        }
        #expect(other.requests.count == 2)
    }

    @Test func aPullFromABucketFetchesADamagedChunkAlone() async throws {
        let folder = try TemporaryFolder()
        let digest = SHA256Digest(hashing: Self.content.bytes).hex
        let manifest = """
            {"schemaVersion": 1, "currentVersion": "1.0.0", "models": [
             {"id": "toy", "version": "1.0.0", "filename": "toy-v1.0.0-q4_1.gguf", "sizeBytes": \(Self.content.count),
              "sha256": "\(digest)", "minAppVersion": "1.0.0", "downloadUrl": "w.gguf", "index": {"url": "w.index",
              "sha256": "\(SHA256Digest(hashing: [UInt8](Self.index)).hex)", "sizeBytes": \(Self.index.count)}}]}
            """
        let isDamaged = Locked(true)
        var bytes = Data(Self.content.bytes)
        bytes[bytes.count - 5] ^= 1
        let damaged = Content.data(bytes)
        let server = try FaultServer { request in
            if request.path == "/models.json" { return .text(manifest) }
            guard request.query("token") != nil else { return Reply(403) }
            if request.path == "/w.index" { return FaultServer.answer(request, with: .data(Self.index)) }
            let hits = request.asked(of: Self.content.count).contains(Self.content.count - 5)
            let isBad =
                hits
                && isDamaged.withLock { flag in
                    defer { flag = false }
                    return flag
                }
            return FaultServer.answer(request, with: isBad ? damaged : Self.content)
        }
        let manager = ModelManager(
            home: folder.path("home"), origins: [Origin(name: "test", manifestURL: try server.url("/models.json"))],
            http: Self.http, time: HurriedClock().time, network: UnmonitoredNetwork(), deviceMemory: 1 << 40,
            provider: CountingProvider(.works))
        let outcome = try await manager.pull(ModelReference(parsing: "toy"))
        guard case .installed(_, let fetched) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(fetched == Self.content.count + 10_000, "the last chunk twice, the other one once")
    }
}
