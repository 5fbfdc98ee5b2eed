import Foundation
import Hearth
import HearthTestSupport
import Testing

/// The calls that a reader of the plans "Model Download Pipeline", "In-App Model Download" and "Model Download System"
/// writes.
@MainActor @Suite(.timeLimit(.minutes(5))) struct DeliverySeedTests {
    private let folder: TemporaryFolder
    private let hearth: Hearth
    private let origin: Origin

    init() throws {
        folder = try TemporaryFolder()
        let weights = Data("toy".utf8)
        try folder.write("origin/toy.gguf", weights)
        try folder.write(
            "origin/models.json",
            Data(
                #"""
                {"schemaVersion": 1, "models": [{"id": "toy", "family": "toy", "version": "1.0.0",
                  "filename": "toy.gguf", "sizeBytes": \#(weights.count), "minAppVersion": "0.0.0",
                  "sha256": "\#(SHA256Digest(hashing: weights))", "downloadUrl": "toy.gguf"}], "currentVersion": "1.0.0"}
                """#.utf8))
        origin = Origin("main", folder.path("origin/models.json").url)
        var engines = EngineRegistry()
        engines.register(.gguf) { _ in
            ScriptedEngine(
                // The probe asks two questions.
                ["hello", "eleven"].map { [.text($0), .finish(.endOfGeneration)] })
        }
        hearth = try Hearth(origins: [origin], home: folder.path("home").url, engines: engines)
    }

    private func toy() async throws -> ModelInfo {
        await hearth.library.refresh()
        return try #require(hearth.library.rows.first?.model)
    }

    /// A stand-in, as the tests of an app have one.
    private final class Pretended: ModelDownloaderProtocol {
        private(set) var state = DownloadState.idle
        func download(model: ModelInfo) { state = .downloading(progress: 0.5) }
        func cancel() { state = .idle }
        func deleteModel(_ model: ModelInfo) { state = .idle }
    }

    @Test func theDownloaderOfThePipeline() async throws {
        let model = try await toy()
        for downloader in [ModelDownloader(hearth.library), Pretended()] as [any ModelDownloaderProtocol] {
            #expect(downloader.state == .idle)
            try downloader.download(model: model)
            #expect(downloader.state.isActive)
            downloader.cancel()
            #expect(downloader.state == .idle)
        }
        let downloader = ModelDownloader(hearth.library)
        try downloader.download(model: model)
        while downloader.state.isActive { await Task.yield() }
        guard case .completed = downloader.state else {
            Issue.record("the download ended as \(downloader.state)")
            return
        }
        #expect(hearth.library.row(of: model.id)?.state == .downloaded)
        try await downloader.deleteModel(model)
        #expect(hearth.library.row(of: model.id)?.state == .notDownloaded)
        await hearth.close()
    }

    @Test func theManagerAndTheCacheOfTheDownloadSystem() async throws {
        let model = try await toy()
        ModelDownloadManager.shared = ModelDownloadManager(hearth.library)
        defer { ModelDownloadManager.shared = nil }
        let manager = try #require(ModelDownloadManager.shared)
        await manager.loadDownloadedModels()
        #expect(manager.state(for: model) == .notDownloaded && !manager.isModelDownloaded(model))
        manager.cancelDownload()
        try await manager.downloadModel(model)
        #expect(manager.isModelDownloaded(model) && manager.downloadStates[model.id]?.isDownloaded == true)
        #expect(manager.activeDownloadId == nil && manager.downloadProgress == 0)

        let container = try await hearth.model("toy")
        await ModelCache.shared.store(container: container, for: model)
        #expect(await ModelCache.shared.retrieve(for: model)?.family == model.id)
        await ModelCache.shared.remove(for: model)
        #expect(await ModelCache.shared.retrieve(for: model) == nil)
        await hearth.close()
    }

    @Test func theErrorsOfTheDownloadSystem() {
        let errors: [(ModelDownloadError, String)] = [
            (.downloadInProgress, "A download is already in progress."),
            (.insufficientMemory(required: 8_000_000_000), "This model requires 8 GB RAM"),
            (.insufficientStorage(required: 2_400_000_000), "Not enough storage"),
            (.networkError("offline"), "Network error: offline"),
            (.modelNotFound("toy"), "Model not found: toy"),
        ]
        for (error, text) in errors { #expect(error.errorDescription?.hasPrefix(text) == true, "\(error)") }
        do {
            throw ModelDownloadError.downloadInProgress
        } catch let error as ModelDownloadError where error.code == .downloadInProgress {
        } catch {
            Issue.record("\(error) has no typed code")
        }
    }

    @Test func theStorageManifestAndSourceOfTheInAppDownload() async throws {
        let manifest = try await ModelManifest.fetch(origin, for: hearth)
        let model = try #require(manifest.models.first)
        #expect(manifest.schemaVersion == 1 && manifest.currentVersion?.name == "1.0.0")

        let storage = ModelStorage(hearth)
        #expect(try await storage.url(for: model) == nil)
        let before: ModelSource = try await hearth.manager.availability(of: model.id)
        #expect(before == .none)
        for try await reading in hearth.manager.pulling(model.reference) { #expect(reading.completedBytes <= 3) }
        guard case .downloaded = try await hearth.manager.availability(of: model.id) as ModelSource else {
            Issue.record("the model is not on this device")
            return
        }
        let url = try #require(try await storage.url(for: model))
        #expect(url.path.hasPrefix(storage.directory.path))
        #expect(try await storage.validate(model))
        try Data("???".utf8).write(to: url)
        #expect(try await !storage.validate(model))
        try await storage.delete(model)
        #expect(try await storage.url(for: model) == nil)
        await hearth.close()
    }
}
