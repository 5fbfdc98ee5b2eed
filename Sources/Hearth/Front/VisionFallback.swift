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
        guard let family = await hearth.visionFamily() else { return other }
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
    /// The model for questions with pictures; `nil` if none is on this device.
    fileprivate func visionFamily() async -> Family? {
        let saved: String?
        do {
            saved = try await blocking { try self.presentSettings().visionModel }
        } catch {
            saved = configuration.visionModel
        }
        let family = saved.flatMap { Family($0.prefix { $0 != "@" && $0 != ":" }) }
        if let library = await shownLibrary { return await library.visionFamily(saved: family) }
        guard let family else { return nil }
        do {
            return try await manager.installed(family, version: nil, variant: nil).identity.family
        } catch {
            // A saved model that was removed answers nothing.
            return nil
        }
    }
}

extension ModelLibrary {
    /// The model that answers questions with pictures: the saved one, else one on this device.
    package func visionFamily(saved: Family?) -> Family? {
        if let saved, row(of: saved)?.isUsable == true { return saved }
        if let selected = selectedModel, selected.seesImages { return selected.id }
        return rows.first { $0.isUsable && $0.model.seesImages }?.id
    }
}
