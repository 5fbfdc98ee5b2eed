import HearthBase
import HearthInference

/// The orchestrator as the engine of one conversation.
///
/// ```swift
/// let engine = orchestrator.conversation(RouteRequest(isPrivate: true)) { badge.text = $0.source.rawValue }
/// let chat = LanguageModelSession(model: engine)
/// ```
public final class RoutedEngine: InferenceEngine {
    private let orchestrator: LLMOrchestrator
    private let onAnswering: @Sendable (RouteDecision) -> Void
    private let state: Locked<(request: RouteRequest, interruption: Interruption?, decision: RouteDecision?)>

    /// The words that ask a model for the rest of its last answer.
    package static let continuationPrompt =
        "Continue your last answer exactly where it stopped. Repeat nothing, and do not comment on this."

    init(
        _ orchestrator: LLMOrchestrator, _ request: RouteRequest,
        onAnswering: @escaping @Sendable (RouteDecision) -> Void
    ) {
        self.orchestrator = orchestrator
        self.onAnswering = onAnswering
        state = Locked((request, nil, nil))
    }

    /// The facts of the conversation's requests; a change counts from the next request on.
    public var request: RouteRequest {
        get { state.withLock { $0.request } }
        set { state.withLock { $0.request = newValue } }
    }

    /// The decision about the last answer; `nil` before one.
    package var lastDecision: RouteDecision? { state.withLock { $0.decision } }

    /// The text of the last answer, if its connection broke off, up to the place from which ``continueLocally(onEvent:)`` goes on:
    /// an action block that is not complete is no part of it.
    public var interruptedText: String? { state.withLock { $0.interruption?.text.withoutOpenBlock } }

    /// Can continue the answer of another engine of the conversation that broke off.
    package func goesOn(from other: RoutedEngine) {
        let (_, interruption, decision) = other.state.withLock { $0 }
        state.withLock { ($0.interruption, $0.decision) = (interruption, decision) }
    }

    public func generate(
        _ messages: [ChatMessage], options: GenerationOptions, onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        try await answer(messages, options, request, onEvent)
    }

    /// Continues the last answer, whose connection broke off, with a local model.
    /// - Throws: ``RoutingError`` with `nothing-to-continue`; what the local engine throws.
    public func continueLocally(
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        let (interruption, asked) = state.withLock { ($0.interruption, $0.request) }
        guard let interruption else {
            throw RoutingError(
                .nothingToContinue, "no answer of this conversation broke off",
                context: ErrorContext(remedy: "Ask a new question."), disposition: .usage)
        }
        var request = asked
        request.preference = .local
        return try await answer(interruption.continuation, interruption.options, request, onEvent)
    }

    private func answer(
        _ messages: [ChatMessage], _ options: GenerationOptions, _ request: RouteRequest,
        _ onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        let outcome = try await orchestrator.answer(
            LLMOrchestrator.Call(
                messages: messages, options: options, request: request, began: orchestrator.time.stopwatch(),
                onAnswering: { [self] decision in
                    state.withLock { $0.decision = decision }
                    onAnswering(decision)
                }, onEvent: onEvent))
        state.withLock { $0.interruption = outcome.interruption }
        return outcome.summary
    }

    public var modelInformation: ModelInformation {
        get async throws { try await orchestrator.modelInformation(for: request) }
    }

    public var capabilities: EngineCapabilities {
        get async throws { try await orchestrator.capabilities(for: request) }
    }

    public func prepare(_ messages: [ChatMessage], options: GenerationOptions) async throws {
        try await orchestrator.prepare(messages, options: options, for: request)
    }

    public func unload() async { await orchestrator.unload() }

    public func embed(_ texts: [String]) async throws -> [[Float]] {
        try await orchestrator.localEngine(for: request).embed(texts)
    }

    public func tokenize(_ text: String, controlTokens: ControlTokenReading) async throws -> [TokenID] {
        try await orchestrator.localEngine(for: request).tokenize(text, controlTokens: controlTokens)
    }

    public func count(_ messages: [ChatMessage]) async throws -> Int {
        try await orchestrator.localEngine(for: request).count(messages)
    }
}

extension LLMOrchestrator: InferenceEngine {
    /// The engine of a conversation with needs of its own.
    /// - Parameter onAnswering: called with each answer's decision, before the first visible part of the answer.
    public nonisolated func conversation(
        _ request: RouteRequest = RouteRequest(), onAnswering: @escaping @Sendable (RouteDecision) -> Void = { _ in }
    ) -> RoutedEngine {
        RoutedEngine(self, request, onAnswering: onAnswering)
    }

    public var modelInformation: ModelInformation {
        get async throws { try await modelInformation(for: RouteRequest()) }
    }

    public var capabilities: EngineCapabilities { get async throws { try await capabilities(for: RouteRequest()) } }

    public func generate(
        _ messages: [ChatMessage], options: GenerationOptions, onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        try await conversation().generate(messages, options: options, onEvent: onEvent)
    }

    public func prepare(_ messages: [ChatMessage], options: GenerationOptions) async throws {
        try await prepare(messages, options: options, for: RouteRequest())
    }

    public func unload() async {
        await local.unload()
        await flush()
    }

    public func embed(_ texts: [String]) async throws -> [[Float]] {
        try await localEngine(for: RouteRequest()).embed(texts)
    }

    public func tokenize(_ text: String, controlTokens: ControlTokenReading) async throws -> [TokenID] {
        try await localEngine(for: RouteRequest()).tokenize(text, controlTokens: controlTokens)
    }

    public func count(_ messages: [ChatMessage]) async throws -> Int {
        try await localEngine(for: RouteRequest()).count(messages)
    }

    func modelInformation(for request: RouteRequest) async throws -> ModelInformation {
        try await expectedEngine(for: request).modelInformation
    }

    /// What the expected engine can; tools always, since a local model without them gets them in words.
    func capabilities(for request: RouteRequest) async throws -> EngineCapabilities {
        if assess(request).source == .local, let known = localCapabilities[request.model] { return known.union(.tools) }
        return try await expectedEngine(for: request).capabilities.union(.tools)
    }

    /// Prepares a local answer; the cloud would bill for it.
    func prepare(_ messages: [ChatMessage], options: GenerationOptions, for request: RouteRequest) async throws {
        guard assess(request).source == .local else { return }
        try await SpelledToolEngine(localEngine(for: request)).prepare(messages, options: options)
    }

    /// The engine that would answer now. A request that waits for a stable connection is expected in the cloud.
    private func expectedEngine(for request: RouteRequest) async throws -> any InferenceEngine {
        let decision = assess(request)
        if let cloud {
            if decision.source == .cloud { return cloud }
            if case .settling(_, isReconnect: false) = decision.reason { return cloud }
        }
        return try await localEngine(for: request)
    }
}
