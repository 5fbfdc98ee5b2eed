// "Model Download System" (seed 004): its views and its settings, call by call. Compiled by make apple.
//
// Lines that differ:
// - `#Preview` is a `PreviewProvider`, since macros of Apple's SDK have no stub here.
// - `ModelDownloadManager.shared.library` is set once, to the library of the app.
// - Errors of a download are caught where the card starts it.
// - `OptaDesign` is the app's own.
import Hearth
import HearthCatalog
import HearthUI
import SwiftUI

struct DownloadSettings: View {
    let hearth: Hearth
    @State private var selectedModelId: OptaModelConfiguration.ID? = OptaModelConfiguration.default.id
    @State private var message: String?

    var body: some View {
        Form {
            Section {
                // Active download progress
                if let activeId = ModelDownloadManager.shared.activeDownloadId,
                    let model = OptaModelConfiguration.all.first(where: { $0.id == activeId })
                {
                    ModelDownloadProgressView(
                        model: model,
                        progress: ModelDownloadManager.shared.downloadProgress,
                        onCancel: { ModelDownloadManager.shared.cancelDownload() }
                    )
                }

                // Model cards
                ForEach(OptaModelConfiguration.all) { model in
                    ModelSelectionCard(
                        model: model,
                        state: ModelDownloadManager.shared.state(for: model),
                        isSelected: selectedModelId == model.id,
                        onSelect: { selectModel(model) },
                        onDownload: { downloadModel(model) }
                    )
                }
            } header: {
                Text("AI Model")
            }
            if let message { Text(message) }
        }
        .task {
            ModelDownloadManager.shared.library = hearth.library
            await ModelDownloadManager.shared.loadDownloadedModels()
        }
    }

    private func selectModel(_ model: OptaModelConfiguration) { selectedModelId = model.id }

    private func downloadModel(_ model: OptaModelConfiguration) {
        Task {
            do {
                try await ModelDownloadManager.shared.downloadModel(model)
            } catch let error as ModelDownloadError {
                message = error.errorDescription
            }
        }
    }
}

/// A label for the state, as the card's `statusView` switches over it.
func label(_ state: ModelDownloadState) -> String {
    switch state {
    case .notDownloaded: return "Download"
    case .downloading(let progress): return "\(Int((progress ?? 0) * 100))%"
    case .downloaded: return "Ready"
    case .failed: return "Failed"
    default: return state.isDownloaded ? "Ready" : "Waiting"
    }
}

struct ModelSelectionCard_Previews: PreviewProvider {
    static var previews: some View {
        VStack(spacing: 16) {
            ModelSelectionCard(
                model: .llama32_11B_Vision,
                state: .notDownloaded,
                isSelected: false,
                onSelect: {},
                onDownload: {}
            )

            ModelSelectionCard(
                model: .llama32_3B,
                state: .downloaded,
                isSelected: true,
                onSelect: {},
                onDownload: {}
            )

            ModelSelectionCard(
                model: .llama32_1B,
                state: .downloading(progress: 0.6),
                isSelected: false,
                onSelect: {},
                onDownload: {}
            )

            ModelDownloadProgressView(
                model: .llama32_11B_Vision,
                progress: 0.45,
                onCancel: {}
            )
        }
        .padding()
        .background(Color.black)
    }
}

/// Task 4: the service takes a loaded model from the cache.
@MainActor func load(_ config: OptaModelConfiguration, with hearth: Hearth) async throws {
    let service = MLXService(hearth)
    guard service.isDeviceSupported else { throw MLXError.deviceNotSupported }
    try await service.loadModel(config)
    if service.isModelLoaded, service.loadedModelConfig == config {
        let cached = await ModelCache.shared.retrieve(for: config)
        if let cached { await ModelCache.shared.store(container: cached, for: config) }
        await ModelCache.shared.remove(for: config)
    }
}
