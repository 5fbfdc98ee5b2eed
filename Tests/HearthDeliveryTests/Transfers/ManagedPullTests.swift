import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Pulls through the front door: shared in a process, refused between owners, repeated from what was written down.
@Suite(.timeLimit(.minutes(10))) struct ManagedPullTests {
    private static let content = Content.pattern(count: 200_000)
    private static let digest = SHA256Digest(hashing: content.bytes)

    private let folder: TemporaryFolder
    private let gate = Gate()
    private let server: FaultServer
    private let disk = LocalFileSystem()

    init() throws {
        folder = try TemporaryFolder()
        let gate = gate
        let manifest = """
            {"schemaVersion": 1, "currentVersion": "1.0.0", "models": [
             {"id": "toy", "version": "1.0.0", "filename": "toy-v1.0.0-q4_1.gguf", "sizeBytes": \(Self.content.count),
              "sha256": "\(Self.digest.hex)", "minAppVersion": "1.0.0", "downloadUrl": "models/toy-v1.0.0-q4_1.gguf"}]}
            """
        let stalls = Locked(true)
        server = try FaultServer { request in
            guard request.path != "/models.json" else { return .text(manifest) }
            let reply = FaultServer.answer(request, with: Self.content)
            let isFirst = stalls.withLock { stalls in
                defer { stalls = false }
                return stalls
            }
            return isFirst ? reply.stalled(after: 100_000, at: gate) : reply
        }
    }

    private func manager() throws -> ModelManager {
        ModelManager(
            home: folder.path("home"), origins: [Origin(name: "test", manifestURL: try server.url("/models.json"))],
            network: SystemNetwork.monitor(), deviceMemory: 8 << 30)
    }

    /// Pulls a part of a model, as the end of the process would leave it.
    private func interrupt(_ manager: ModelManager, _ reference: String, _ options: PullOptions = PullOptions())
        async throws
    {
        let (readings, sink) = AsyncStream.makeStream(of: TransferProgress.self)
        let pull = Task {
            try await manager.pull(try ModelReference(parsing: reference), options: options) { sink.yield($0) }
        }
        await gate.reached()
        for await reading in readings where reading.state == .downloading && reading.completedBytes > 0 { break }
        pull.cancel()
        await #expect(throws: CancellationError.self) { try await pull.value }
        gate.open()
    }

    private var modelRequests: [RecordedRequest] { server.requests.filter { $0.path != "/models.json" } }

    @Test func twoPullsOfOneModelShareOneTransfer() async throws {
        let manager = try manager()
        let reference = try ModelReference(parsing: "toy")
        async let first = manager.pull(reference)
        await gate.reached()
        let readings = Locked(0)
        let (joined, sink) = AsyncStream.makeStream(of: Void.self)
        async let second = manager.pull(reference) { _ in
            readings.withLock { $0 += 1 }
            sink.yield()
        }
        for await _ in joined { break }
        gate.open()
        let outcomes = try await [first, second]
        #expect(outcomes.map(\.release.identity.description) == ["toy@1.0.0:q4_1", "toy@1.0.0:q4_1"])
        // A machine that lets the only connection wait for 15 s costs another, which goes on where the first ended.
        #expect(modelRequests.dropFirst().allSatisfy { $0.headers["Range"]?.hasPrefix("bytes=0-") == false })
        #expect(try disk.contents(of: manager.store.transfersFolder) == [])
        #expect(try await manager.store.verify(outcomes[0].release.identity).isIntact)
    }

    @Test func anotherOwnerIsToldWhoIsAtIt() async throws {
        let (manager, other) = (try manager(), try manager())
        let reference = try ModelReference(parsing: "toy")
        async let first = manager.pull(reference)
        await gate.reached()
        let error = await #expect(throws: TransferError.self) { try await other.pull(reference) }
        #expect(error?.code == .busy)
        #expect(error?.disposition.exitStatus == 75)
        #expect(error?.message == "process \(getpid()) is fetching toy-v1.0.0-q4_1.gguf")
        gate.open()
        _ = try await first
        guard case .alreadyInstalled = try await other.pull(reference) else {
            Issue.record("it is there")
            return
        }
    }

    @Test func aRestartBringsBackAndInstallsWhatWasUnderWay() async throws {
        let manager = try manager()
        var options = PullOptions()
        options.activate = false
        try await interrupt(manager, "toy", options)

        let next = try self.manager()
        #expect(try await next.transfers.list().map(\.state) == [.interrupted])
        let outcomes = try await next.restoreTransfers()
        #expect(outcomes.count == 1 && outcomes[0].error == nil, "\(outcomes)")
        let installed = try await next.installed()
        #expect(installed.map(\.identity.description) == ["toy@1.0.0:q4_1"])
        #expect(installed.first?.isActive == false, "the plan remembers that it was not to be")
        #expect(server.requests.last?.headers["Range"] != nil)
        #expect(try await next.transfers.list().isEmpty)
    }

    /// A pull that named no version leaves alone what is pinned, also after a restart; one that named it does not.
    @Test(arguments: ["toy", "toy@1.0.0"])
    func aRestartKnowsWhetherTheVersionWasNamed(reference: String) async throws {
        let manager = try manager()
        let old = try folder.write("toy-v0.9.0-q4_1.gguf", Data("old".utf8))
        let pinned = try await manager.pull(.file(old)).release
        try await manager.pin(pinned.identity)
        try await interrupt(manager, reference)

        let next = try self.manager()
        let outcomes = try await next.restoreTransfers()
        #expect(outcomes.count == 1 && outcomes[0].error == nil, "\(outcomes)")
        let version = try await next.store.active(pinned.identity.family)?.identity.version.name
        #expect(version == (reference == "toy" ? "0.9.0" : "1.0.0"))
        #expect(try await next.installed().count == 2)
    }

    /// What became live meanwhile stays live if it is newer, unless the version that was under way was named.
    @Test(arguments: ["toy", "toy@1.0.0"])
    func aRestartTakesNothingOlderThanWhatIsLive(reference: String) async throws {
        let manager = try manager()
        try await interrupt(manager, reference)
        let new = try folder.write("toy-v2.0.0-q4_1.gguf", Data("new".utf8))
        let newer = try await manager.pull(.file(new)).release

        let next = try self.manager()
        let outcomes = try await next.restoreTransfers()
        let error = outcomes.first?.error as? DeliveryError
        #expect(outcomes.count == 1 && error?.code == (reference == "toy" ? .downgrade : nil), "\(outcomes)")
        let version = try await next.store.active(newer.identity.family)?.identity.version.name
        #expect(version == (reference == "toy" ? "2.0.0" : "1.0.0"))
        #expect(try await next.transfers.list().isEmpty, "nobody asks for it again")
    }

    @Test func whatAnInstallationLeftBehindIsSweptByTheNextPull() async throws {
        gate.open()
        let manager = try manager()
        _ = try await manager.pull(try ModelReference(parsing: "toy"))
        let left = manager.store.transfersFolder.joined(Self.digest.hex)
        try disk.makeFolders(left)
        try disk.replaceContents(of: left.appending("journal"), with: Data("{}".utf8))
        _ = try await self.manager().pull(try ModelReference(parsing: "toy"))
        #expect(try disk.contents(of: manager.store.transfersFolder) == [])
    }
}
