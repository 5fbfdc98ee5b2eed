// "Model Download Pipeline" (seed 000): the view model and a screen over it, call by call. Compiled by make apple.
//
// Lines that differ:
// - `@Published` and `assign(to:)` are Observation.
// - `startDownload()`, `loadModel()` and `deleteModel()` throw what they refuse at once.
// - `hint(fileURL:)` is `async`.
import Foundation
import Hearth
import HearthBase
import HearthUI
import SwiftUI

struct ModelDownloadScreen: View {
    let viewModel: ModelDownloadViewModel
    let text: ModelInfo
    let vision: ModelInfo?
    @State private var refusal: String?

    var body: some View {
        VStack {
            switch viewModel.downloadState {
            case .idle: Button("Download") { start() }
            case .downloading(let progress): ProgressView(value: progress ?? 0)
            case .completed: Text(viewModel.isModelLoaded ? "Loaded" : viewModel.isModelLoading ? "Loading" : "Here")
            case .failed(let failure): Text(failure.message)
            case .waiting, .verifying, .retrying, .extracting: ProgressView()
            }
            if let model = viewModel.selectedModel { Text(model.displayName) }
            if let model = viewModel.pendingVisionDownload { Text("Then: \(model.displayName)") }
            if let message = viewModel.loadError ?? viewModel.deleteError ?? refusal { Text(message) }
            Button("Load") { attempt { try viewModel.loadModel() } }
            Button("Delete", role: .destructive) { attempt { try viewModel.deleteModel() } }
            Button("Reset") { viewModel.resetState() }
        }
    }

    private func start() {
        viewModel.selectedModel = text
        attempt { try viewModel.startDownload(then: vision) }
    }

    private func attempt(_ action: () throws -> Void) {
        do { try action() } catch { refusal = error.localizedDescription }
    }
}

/// The stand-in of the downloader in an app's tests, and the downloader itself.
@MainActor final class MockDownloader: ModelDownloaderProtocol {
    private(set) var state = DownloadState.idle
    func download(model: ModelInfo) { state = .downloading(progress: 0.5) }
    func cancel() { state = .idle }
    func deleteModel(_ model: ModelInfo) { state = .idle }
}

@MainActor func download(_ url: URL, _ sha256: String, with hearth: Hearth) async throws {
    let model = try await hearth.modelInfo(downloadURL: url, sha256: sha256)
    let downloader: any ModelDownloaderProtocol = ModelDownloader(hearth.library)
    try downloader.download(model: model)
    if let file = model.localURL { await ModelPageCacheWarmer.hint(fileURL: file) }
    downloader.cancel()
    try await downloader.deleteModel(model)
}
