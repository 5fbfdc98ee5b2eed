#if Llama
import HearthInference

/// The model of one role as an engine of its own, for conversations about pictures.
///
/// ```swift
/// try await engine.load(weights, role: .vision, projector: projector)
/// let session = LanguageModelSession(model: engine.model(for: .vision))
/// ```
/// The model is looked up for each request: after another load it is the new model, and for `vision` it is the
/// model for text if that reads pictures and no other is loaded.
struct RoleModel: InferenceEngine, TokenReader {
    /// The engine that loads the model.
    let engine: LlamaActor
    let role: EngineRole

    /// The model loaded for the role. Returns at once, also while a generation runs.
    var modelInformation: ModelInformation {
        get throws { try engine.modelInformation(role) }
    }

    /// The abilities of the role's model.
    var capabilities: EngineCapabilities { get async throws { try await engine.capabilities(role) } }

    func prepare(_ messages: [ChatMessage], options: GenerationOptions) async throws {
        _ = try await engine.generate(messages, options: options, role: role, isPreparation: true) { _ in }
    }

    func forget() async { await engine.forget() }

    func generate(
        _ messages: [ChatMessage], options: GenerationOptions,
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        try await engine.generate(messages, options: options, role: role, onEvent: onEvent)
    }

    func tokenize(
        _ text: String, controlTokens: Bool, wholePrompt: Bool, limit: Int?
    ) async throws -> [TokenID] {
        try await engine.counting(role, bytes: text.utf8.count) { facts in
            try facts.weights.vocabulary.tokens(
                of: text, addSpecial: wholePrompt, parseSpecial: controlTokens, limit: limit)
        }
    }

    func count(_ messages: [ChatMessage]) async throws -> Int {
        try await engine.counting(role, bytes: messages.textBytes) {
            try $0.weights.count(messages, projector: $0.projector)
        }
    }

    func pieces(of tokens: [TokenID]) async throws -> [[UInt8]] {
        // They are looked up, which takes no long time for any number of them.
        try await engine.counting(role, bytes: 0) { try $0.weights.vocabulary.pieces(of: tokens) }
    }

    func rendered(
        _ messages: [ChatMessage], options: GenerationOptions
    ) async throws -> (text: String, tokenCount: Int) {
        try await engine.counting(role, bytes: messages.textBytes + options.tools.textBytes) {
            try $0.weights.rendered(messages, options, projector: $0.projector)
        }
    }

    /// Stops the generations of the role's model and frees its memory. The other role's model stays.
    func unload() async { await engine.unload(role) }
}

extension LlamaActor {
    /// The model of a role, for code that uses one engine and no roles. The engine itself is the model of
    /// `EngineRole.text`.
    public nonisolated func model(for role: EngineRole) -> any InferenceEngine {
        RoleModel(engine: self, role: role)
    }
}
#endif
