import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthFoundationModels
@testable import HearthTransfer

/// Folders of models for mlx-swift-lm, brought by a model manager from a stand-in for the Hub.
@Suite(.timeLimit(.minutes(5))) struct SnapshotRequestTests {
    private static let patterns = ["*.safetensors", "*.json"]
    private let folder: TemporaryFolder
    private let hub: TestHub

    init() throws {
        folder = try TemporaryFolder()
        hub = try TestHub()
    }

    private func manager() throws -> ModelManager {
        ModelManager(
            home: folder.path("home"), origins: [], time: HurriedClock().time, network: UnmonitoredNetwork(),
            deviceMemory: 8 << 30, hub: .success(try HubSettings(endpoint: hub.endpoint, token: nil, cacheFolder: nil)))
    }

    private func publish(_ weights: UInt64 = 9000) -> String {
        hub.publish(
            "mlx/tiny",
            [
                "config.json": .small(#"{"model_type": "tiny"}"#), "tokenizer.json": .small("{}"),
                "model.safetensors": .large(.pattern(count: weights)),
            ])
    }

    private func bring(
        _ manager: ModelManager, revision: String? = nil, patterns: [String] = patterns, usesLatest: Bool = false
    ) async throws -> (folder: URL, fractions: [Double]) {
        let fractions = Locked<[Double]>([])
        let request = try SnapshotRequest(
            id: "mlx/tiny", revision: revision, patterns: patterns, usesLatest: usesLatest)
        let folder = try await request.folder(from: manager, options: PullOptions()) { progress in
            fractions.withLock { $0.append(progress.fractionCompleted) }
        }
        return (folder, fractions.withLock { $0 })
    }

    @Test func theFolderHoldsTheFilesOfTheRepository() async throws {
        _ = publish()
        let (folder, fractions) = try await bring(manager(), revision: "main")
        #expect(try Data(contentsOf: folder.below("model.safetensors")).count == 9000)
        #expect(FileManager.default.fileExists(atPath: folder.below("config.json").path))
        #expect(fractions.last == 1)
    }

    @Test func anInstalledModelNeedsNoNetworkUntilTheLatestIsAskedFor() async throws {
        _ = publish()
        let manager = try manager()
        let first = try await bring(manager).folder
        _ = publish(9001)
        let asked = hub.server.requests.count
        #expect(try await bring(manager).folder == first)
        #expect(hub.server.requests.count == asked)
        let latest = try await bring(manager, usesLatest: true).folder
        #expect(latest != first)
        #expect(try Data(contentsOf: latest.below("model.safetensors")).count == 9001)
    }

    @Test func aCommitIsARelease() async throws {
        let old = publish()
        _ = publish(9001)
        let folder = try await bring(manager(), revision: old).folder
        #expect(try Data(contentsOf: folder.below("model.safetensors")).count == 9000)
    }

    @Test func aModelWithoutFilesForTheEngineIsRefused() async throws {
        _ = publish()
        let manager = try manager()
        let error = await #expect(throws: CatalogError.self) { try await bring(manager, patterns: ["*.npz"]) }
        #expect(error?.code == .fileMissing)
        #expect(try await bring(manager, patterns: []).folder.isFileURL)
    }

    @Test(arguments: [("", nil), ("no repository/of/the hub", nil), ("mlx/tiny", "../up")] as [(String, String?)])
    func aNameThatIsNoneIsRefused(id: String, revision: String?) {
        #expect(throws: CatalogError.self) {
            try SnapshotRequest(id: id, revision: revision, patterns: [], usesLatest: false)
        }
    }

    @Test func progressIsUnknownUntilTheTotalIs() {
        #expect(
            SnapshotRequest.progress(TransferProgress(state: .downloading, completedBytes: 1, totalBytes: nil)) == nil)
        let progress = SnapshotRequest.progress(
            TransferProgress(state: .downloading, completedBytes: 6, totalBytes: 10, repeatedBytes: 1))
        #expect(progress?.completedUnitCount == 5 && progress?.totalUnitCount == 10)
    }
}
