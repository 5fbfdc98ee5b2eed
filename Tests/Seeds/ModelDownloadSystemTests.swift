import Foundation
import Hearth
import HearthBase
import HearthInference
import Observation
import Testing

/// "Model Download System", call by call.
///
/// Not on Linux: SwiftUI with its three views and `OptaDesign`; `UserDefaults`, for which the receipts of the store stand;
/// MLX's Swift package: `GPU.set(cacheLimit:)` is the engine's own, and a container is a `LiveModel`.
///
/// Lines that differ:
/// - `ModelDownloadManager.shared.library` is set once, to the library of the app.
/// - `id` is a `Family`, whose `name` is the text.
/// - `.downloading(progress:)` is optional, so `Int(progress * 100)` is `Int((progress ?? 0) * 100)`; `.failed` holds a
///   `FailureBody`. The state has further cases: a `switch` needs a default.
/// - `ModelDownloadError.insufficientMemory(required:)` and `.insufficientStorage(required:)` take bytes; errors are
///   compared by `code`, and `catch ModelDownloadError.Code.downloadInProgress` matches one.
/// - `cancelDownload()` really ends the download.
/// - `MLXService(hearth)`.
@MainActor @Suite(.timeLimit(.minutes(5)), .serialized) struct ModelDownloadSystemTests {
    private let stage: Stage

    init() throws {
        stage = try Stage([
            PublishedModel(family: "one", content: "first weights"),
            PublishedModel(family: "two", content: "second weights"),
        ])
        ModelDownloadManager.shared.library = stage.hearth.library
    }

    /// The section of the settings, as Task 5 writes it.
    private struct Card { let title, size, memory: String; let isSelected, isEnabled: Bool }

    private func cards(_ selectedModelId: Family?) -> [Card] {
        OptaModelConfiguration.all.map { model in
            Card(
                title: model.displayName, size: model.sizeString, memory: model.ramRequirementString,
                isSelected: selectedModelId == model.id, isEnabled: model.isCompatibleWithDevice())
        }
    }

    @Test func theListOfModels() {
        let cards = cards(OptaModelConfiguration.default.id)
        #expect(cards.map(\.title) == ["Llama 3.2 11B Vision", "Llama 3.2 3B", "Llama 3.2 1B"])
        #expect(cards.map(\.isSelected) == [false, true, false])
        #expect(cards.map(\.size) == ["6.0 GB", "1.8 GB", "695.2 MB"])
        #expect(cards.allSatisfy { $0.memory.hasSuffix(" RAM") } && !cards[0].isEnabled)
        let model: OptaModelConfiguration = .llama32_1B
        #expect(model.name == "mlx-community/Llama-3.2-1B-Instruct-4bit" && model.format == .mlx)
        #expect(model.minimumRAM == 2 && model.sizeGB < 0.7 && !model.supportsVision && !model.description.isEmpty)
        #expect(OptaModelConfiguration.llama32_11B_Vision.supportsVision)
        #expect(OptaModelConfiguration.all.first { $0.id == model.id } == model)
    }

    @Test func aDownloadWithItsStates() async throws {
        let manager = ModelDownloadManager.shared
        let config = try await stage.model("one")
        await manager.loadDownloadedModels()
        #expect(manager.state(for: config) == .notDownloaded && !manager.isModelDownloaded(config))
        let second = try await stage.model("two")
        async let download: Void = manager.downloadModel(config)
        for await id in Observations({ manager.activeDownloadId }) where id != nil { break }
        do {
            try await manager.downloadModel(second)
            Issue.record("two downloads at once")
        } catch ModelDownloadError.Code.downloadInProgress {}
        try await download
        #expect(manager.activeDownloadId == nil && manager.downloadProgress == 0)
        #expect(manager.isModelDownloaded(config) && manager.downloadStates[config.id]?.isDownloaded == true)
        if case .downloading(let progress) = manager.state(for: config) {
            Issue.record("still at \(Int((progress ?? 0) * 100)) %")
        }
        manager.cancelDownload()
        #expect(manager.isModelDownloaded(config))
        await stage.hearth.close()
    }

    @Test func theErrors() {
        let errors: [(ModelDownloadError, ModelDownloadError.Code)] = [
            (.downloadInProgress, .downloadInProgress),
            (.insufficientMemory(required: 8_000_000_000), .insufficientMemory),
            (.insufficientStorage(required: 2_400_000_000), .insufficientStorage),
            (.networkError("offline"), .networkError), (.modelNotFound("toy"), .modelNotFound),
        ]
        for (error, code) in errors { #expect(error.code == code && error.errorDescription != nil) }
    }

    @Test func theServiceLoadsWhatTheCacheHas() async throws {
        let service = MLXService(stage.hearth)
        #expect(service.isDeviceSupported && !service.isModelLoaded)
        let config = try await stage.model("one")
        try await service.loadModel(config)
        #expect(service.isModelLoaded && service.loadedModelConfig == config)
        let container = try #require(await ModelCache.shared.retrieve(for: config))
        #expect(container.family == config.id)
        let again = MLXService(stage.hearth)
        try await again.loadModel(config)
        #expect(again.modelContainer?.family == config.id)
        await ModelCache.shared.remove(for: config)
        #expect(await ModelCache.shared.retrieve(for: config) == nil)

        let bare = MLXService(try Hearth(home: stage.folder.appending(path: "bare"), engines: EngineRegistry()))
        do {
            try await bare.loadModel(config)
            Issue.record("a device without an engine loads a model")
        } catch MLXError.Code.engineMissing {}
        await stage.hearth.close()
    }
}
