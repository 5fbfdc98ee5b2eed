import Foundation
import Hearth
import HearthBase
import HearthInference
import Observation
import Testing

/// "Model Download Pipeline", call by call.
///
/// Not on Linux: background sessions of URLSession with their resume data, `ModelDownloader.backgroundSessionCompletion`
/// and `AppDelegate`; Combine (`statePublisher`, `assign(to:)`), for which Observation stands; SwiftUI.
///
/// Lines that differ:
/// - `ModelInfo(downloadURL:sha256:)` is `try await hearth.modelInfo(downloadURL:sha256:)`: it asks for the length.
/// - `.downloading(progress:)` is optional: a server may not tell the length.
/// - `.failed(message)` holds a `FailureBody` with a code; `message` is in it.
/// - `startDownload()`, `loadModel()` and `deleteModel()` throw.
/// - `ModelPageCacheWarmer.hint(fileURL:)` is `async`.
/// - `deleteModel(_:)` of the downloader is `async throws`.
@MainActor @Suite(.timeLimit(.minutes(5))) struct ModelDownloadPipelineTests {
    private let stage: Stage

    init() throws {
        stage = try Stage([
            PublishedModel(family: "text", content: "text weights"),
            PublishedModel(family: "vision", content: "vision weights", role: "vision"),
            PublishedModel(family: "broken", content: "broken weights", sha256: String(repeating: "0", count: 64)),
        ])
    }

    /// A stand-in of the downloader, as the tests of an app have one.
    private final class MockDownloader: ModelDownloaderProtocol {
        private(set) var state = DownloadState.idle
        func download(model: ModelInfo) { state = .downloading(progress: 0.5) }
        func cancel() { state = .idle }
        func deleteModel(_ model: ModelInfo) { state = .idle }
    }

    /// Waits for a state, as a view that observes it.
    private func state(
        of downloader: ModelDownloader, _ isWanted: @escaping @Sendable (DownloadState) -> Bool
    ) async -> DownloadState {
        for await state in Observations({ downloader.state }) where isWanted(state) { return state }
        return downloader.state
    }

    @Test func aDownloadAndItsPlace() async throws {
        let model = try await stage.model("text")
        #expect(model.downloadURL?.lastPathComponent == "text-v1.0.0.gguf" && model.localURL == nil)
        #expect(model.sha256 == SHA256Digest(hashing: Data("text weights".utf8)))

        let downloader = ModelDownloader(stage.hearth.library)
        #expect(downloader.state == .idle)
        try downloader.download(model: model)
        // A second call while one is active is a no-op.
        try downloader.download(model: model)
        guard case .completed(let path) = await state(of: downloader, { !$0.isActive }) else {
            Issue.record("the download ended as \(downloader.state)")
            return
        }
        let here = try await stage.model("text")
        #expect(here.localURL == path.url)
        #expect(await ModelPageCacheWarmer.hint(fileURL: path.url) == 12)
        #expect(await ModelPageCacheWarmer.hint(fileURL: path.url, below: stage.folder.appending(path: "origin")) == 0)
        try await downloader.deleteModel(here)
        #expect(try await stage.model("text").localURL == nil)
        await stage.hearth.close()
    }

    @Test func aMismatchIsTriedAgainUntilTheUserCancels() async throws {
        let downloader = ModelDownloader(stage.hearth.library)
        let model = try await stage.model("broken")
        try downloader.download(model: model)
        let state = await state(of: downloader) { if case .retrying = $0 { true } else { !$0.isActive } }
        #expect(state == .retrying(attempt: 2))
        try downloader.download(model: model)
        downloader.cancel()
        #expect(downloader.state == .idle)
        await stage.hearth.close()
    }

    @Test func aStandInTakesTheDownloadersPlace() async throws {
        let model = try await stage.model("text")
        let downloader: any ModelDownloaderProtocol = MockDownloader()
        try downloader.download(model: model)
        #expect(downloader.state == .downloading(progress: 0.5))
        downloader.cancel()
        try await downloader.deleteModel(model)
        #expect(downloader.state == .idle)
    }

    @Test func textThenVisionThenTextSelected() async throws {
        let viewModel = stage.hearth.downloads
        let (text, vision) = (try await stage.model("text"), try await stage.model("vision"))
        viewModel.selectedModel = text
        #expect(viewModel.downloadState == .idle && !viewModel.isModelLoaded && !viewModel.isModelLoading)
        #expect(viewModel.loadError == nil && viewModel.deleteError == nil)
        try viewModel.startDownload(then: vision)
        #expect(viewModel.pendingVisionDownload?.id == vision.id)
        for await isDone in Observations({
            viewModel.pendingVisionDownload == nil && viewModel.isLoaded(vision.id)
                && viewModel.selectedModel?.id == text.id
        }) where isDone { break }
        #expect(viewModel.isModelLoaded)
        viewModel.resetState()
        #expect(viewModel.downloadState == .idle)
        try viewModel.loadModel()
        try viewModel.deleteModel()
        for await rows in Observations({ self.stage.hearth.library.rows })
        where rows.contains(where: { $0.id == text.id && $0.state == .notDownloaded }) { break }
        await stage.hearth.close()
    }

    @Test func aModelAtAnAddress() async throws {
        let hearth = stage.hearth
        let plain = try #require(URL(string: "http://example.com/model.gguf"))
        await #expect(throws: CatalogError.self) { try await hearth.modelInfo(downloadURL: plain) }
        let secure = try #require(URL(string: "https://example.com/model.gguf"))
        let error = await #expect(throws: CatalogError.self) {
            try await hearth.modelInfo(downloadURL: secure, sha256: "abc123")
        }
        #expect(error?.code == .badReference && error?.context.field == "sha256")
    }
}
