import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Files whose bytes do not match their checksum: fetched again when a person asks, and not before.
@Suite(.timeLimit(.minutes(10))) struct CorruptedPullTests {
    private static let content = Content.pattern(count: 50_000)

    private let folder: TemporaryFolder
    private let server: FaultServer
    private let isDamaged = Locked(true)

    init() throws {
        folder = try TemporaryFolder()
        let isDamaged = isDamaged
        let manifest = """
            {"schemaVersion": 1, "currentVersion": "1.0.0", "models": [
             {"id": "toy", "version": "1.0.0", "filename": "toy-v1.0.0-q4_1.gguf", "sizeBytes": \(Self.content.count),
              "sha256": "\(SHA256Digest(hashing: Self.content.bytes).hex)", "minAppVersion": "1.0.0",
              "downloadUrl": "models/toy-v1.0.0-q4_1.gguf"}]}
            """
        server = try FaultServer { request in
            guard request.path != "/models.json" else { return .text(manifest) }
            var bytes = Self.content.bytes
            if isDamaged.withLock({ $0 }) { bytes[1234] ^= 1 }
            return FaultServer.answer(request, with: .data(Data(bytes)))
        }
    }

    /// The manager of a process that begins now.
    private func manager() throws -> ModelManager {
        ModelManager(
            home: folder.path("home"), origins: [Origin(name: "test", manifestURL: try server.url("/models.json"))],
            time: HurriedClock().time, network: SystemNetwork.monitor(), deviceMemory: 8 << 30)
    }

    private var modelRequests: Int { server.requests.count { $0.path != "/models.json" } }

    @Test func afterWrongBytesOnlyAPersonTriesAgain() async throws {
        let toy = try ModelReference(parsing: "toy")
        let error = await #expect(throws: TransferError.self) { try await manager().pull(toy) }
        #expect(error?.code == .checksumMismatch)
        #expect(modelRequests == 3)

        let next = try manager()
        #expect(try await next.transfers.list().map(\.state) == [.corrupted])
        #expect(try await next.restoreTransfers().isEmpty)
        var unattended = PullOptions()
        unattended.isUnattended = true
        let refusal = await #expect(throws: TransferError.self) { try await next.pull(toy, options: unattended) }
        #expect(refusal?.code == .checksumMismatch)
        #expect(modelRequests == 3, "nothing is fetched by itself")

        isDamaged.withLock { $0 = false }
        let plan = try #require(try await next.transfers.list().first?.plan)
        _ = try await next.transfers.resume(try #require(try await next.transfers.list().first?.key))
        let outcome = try await next.pull(again: plan)
        #expect(outcome.release.isActive)
        #expect(modelRequests == 4)
        #expect(try await next.transfers.list().isEmpty)
    }

    /// A second failure counts as the first did, and a transfer that goes on is no longer one of wrong bytes.
    @Test func eachAttemptOfAPersonCountsAnew() async throws {
        let (manager, toy) = (try manager(), try ModelReference(parsing: "toy"))
        for round in 1...2 {
            await #expect(throws: TransferError.self) { try await manager.pull(toy) }
            #expect(modelRequests == 3 * round)
            #expect(try await manager.transfers.list().map(\.state) == [.corrupted])
        }
    }

    /// Of a release of several files, the others are not fetched by themselves either.
    @Test func theOtherFilesOfAReleaseWaitToo() throws {
        func summary(_ name: String, _ tag: String?, _ state: TransferSummary.State) throws -> TransferSummary {
            let digest = SHA256Digest(hashing: Array(name.utf8))
            let request = TransferRequest(label: name, locations: [], size: .exact(9), digest: digest)
            return TransferSummary(
                key: try #require(TransferKey(digest.hex)), state: state,
                plan: TransferPlan(request, tag: tag, at: Date()), recordedBytes: 0, allocatedBytes: 0)
        }
        let all = [
            try summary("weights", "a", .interrupted), try summary("projector", "a", .corrupted),
            try summary("other", "b", .finished), try summary("paused", "c", .paused),
            try summary("alone", nil, .interrupted),
        ]
        #expect(all.continuable.map(\.label) == ["other", "alone"])
    }
}
