// "In-App Model Download" (seed 003): the app without a model, its download sheet and its delegate. Compiled by make apple.
//
// Lines that differ:
// - The cases of `ModelSource` hold the release.
// - `ModelStorage` and `ModelManifest.fetch` take the app's `Hearth`, which knows the folder and the origin.
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthUI
import SwiftUI

struct LupusDiaryView: View {
    let hearth: Hearth
    let model: ModelInfo
    @State private var modelSource = ModelSource.none
    @State private var isDownloading = false

    var body: some View {
        VStack {
            Button("Score") {}.disabled(modelSource == .none)
            // The button, its progress and the question on a cellular network.
            DownloadModelButton(model, in: hearth.library)
            UpdateBanner(hearth.library)
            switch modelSource {
            case .none: Text("Scoring is off.")
            case .bundled: Text("The model came with the app.")
            case .downloaded: Text("The model was downloaded.")
            }
        }
        .cellularWarning(for: hearth.library)
        .sheet(isPresented: $isDownloading) { DownloadProgressView(model, in: hearth.library) }
        .task { try? await loadModel() }
    }

    /// Tries the bundled model first, then the downloaded one.
    private func loadModel() async throws {
        modelSource = try await hearth.manager.availability(of: model.id)
        isDownloading = hearth.library.downloadState(of: model.id).isActive
    }
}

func manifest(_ origin: Origin, _ hearth: Hearth) async throws -> [ModelInfo] {
    let manifest = try await ModelManifest.fetch(origin, for: hearth)
    let storage = ModelStorage(hearth)
    for model in manifest.models {
        if try await storage.url(for: model) != nil, try await !storage.validate(model) {
            try await storage.delete(model)
        }
    }
    return manifest.schemaVersion == 1 && manifest.currentVersion != nil ? manifest.models : []
}
