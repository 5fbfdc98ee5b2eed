import HearthBase
import HearthCatalog
import HearthInference
import HearthRouting
import HearthStore

/// Answers questions with pictures: with the model of the setting `visionModel`, else with one of this device that reads
/// pictures, else with the engine of all other questions.
struct VisionFallback: SendingEngine {
    let hearth: Hearth
    /// The engine of all other questions.
    let other: any InferenceEngine
    /// Stays as long as the models are used.
    var owner: (any AnyObject & Sendable)?

    var onThisDevice: any InferenceEngine {
        VisionFallback(hearth: hearth, other: other.forPrivateUse, owner: owner)
    }

    private func engine() async throws -> any InferenceEngine {
        guard let family = try await hearth.visionModel() else { return other }
        return try await hearth.find(.family(family, version: nil, variant: nil), policy: .localOnly)
    }

    var modelInformation: ModelInformation { get async throws { try await engine().modelInformation } }

    var capabilities: EngineCapabilities { get async throws { try await engine().capabilities } }

    func generate(
        _ messages: [ChatMessage], options: GenerationOptions,
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        try await engine().generate(messages, options: options, onEvent: onEvent)
    }
}

extension Hearth {
    /// The family of the setting `visionModel`.
    package func savedVisionModel() async -> Family? {
        let saved: String?
        do {
            saved = try await blocking { try self.presentSettings().visionModel }
        } catch {
            saved = configuration.visionModel
        }
        return saved.flatMap { Family($0.prefix { $0 != "@" && $0 != ":" }) }
    }

    /// The model that answers questions with pictures where the chosen one cannot see: the saved one, else one on this
    /// device that can run; `nil` if there is none.
    /// - Throws: `StoreError` with `not-installed` if the saved one is not on this device.
    package func visionModel() async throws -> Family? {
        let saved = await savedVisionModel()
        let models = try await manager.localModels().sorted { $0.model.id < $1.model.id }
        guard let saved else { return models.first(where: \.sees)?.model.id }
        guard let model = models.first(where: { $0.model.id == saved }) else {
            throw StoreError(
                .notInstalled, "the setting visionModel names \(saved), which is not on this device",
                context: ErrorContext(
                    model: saved.name, field: "visionModel", remedy: "Fetch it, or choose another model for pictures."))
        }
        return model.sees ? saved : models.first(where: \.sees)?.model.id
    }
}

extension LocalModel {
    /// Whether an engine of this program can run the model, and it understands pictures.
    package var sees: Bool { canRun && model.seesImages }
}

extension ModelLibrary {
    /// The model that answers questions with pictures where the selected one cannot see, as far as the rows tell.
    package func visionFamily(saved: Family?) -> Family? {
        func sees(_ row: LibraryRow) -> Bool { row.canRun && row.local?.sees == true }
        if let saved, let row = row(of: saved), sees(row) { return saved }
        if let selected = selectedModel, selected.seesImages { return selected.id }
        return rows.filter(sees).map(\.id).min()
    }
}
