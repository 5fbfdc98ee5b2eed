import HearthBase
import HearthInference

/// The orchestrator as the engine of one conversation.
///
/// ```swift
/// let engine = orchestrator.conversation(RouteRequest(isPrivate: true)) { badge.text = $0.source.rawValue }
/// let chat = LanguageModelSession(model: engine)
/// ```
public final class RoutedEngine: SendingEngine {
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

    /// A conversation of its own, whose requests stay private whatever becomes of this one's.
    package var onThisDevice: any InferenceEngine {
        var request = request
        request.isPrivate = true
        return RoutedEngine(orchestrator, request, onAnswering: onAnswering)
    }

    /// The decision about the last answer; `nil` before one.
    package var lastDecision: RouteDecision? { state.withLock { $0.decision } }

    /// The text of the last answer, if its connection broke off, up to the place from which ``continueLocally(onEvent:)`` goes on:
    /// an action block that is not complete is no part of it.
    public var interruptedText: String? { state.withLock { $0.interruption?.text.withoutOpenBlock } }

    /// The model that answers with a kind of engine.
    package func modelInformation(of source: RouteSource) async throws -> ModelInformation {
        try await orchestrator.modelInformation(of: source, for: request)
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

    /// The tokens of the local model.
    public var tokens: (any TokenReader)? { LocalTokens(orchestrator: orchestrator, request: request) }
}

/// The tokens of the local model of a request, which is loaded for each call if needed.
private struct LocalTokens: ForwardingTokenReader {
    let orchestrator: LLMOrchestrator
    let request: RouteRequest

    func reading<Value: Sendable>(_ ask: (any TokenReader) async throws -> Value) async throws -> Value {
        try await ask(orchestrator.localEngine(for: request).reader)
    }

    /// Prepares a local answer; the cloud would bill for it.
    func prepare(_ messages: [ChatMessage], options: GenerationOptions) async throws {
        guard await orchestrator.assess(request).source == .local, await !orchestrator.namesOther(request) else {
            return
        }
        try await reading { try await $0.prepare(messages, options: options) }
    }

    func unload() async { await orchestrator.unload() }
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

    public nonisolated var tokens: (any TokenReader)? { conversation().tokens }

    /// Unloads the local models, and writes what is to be kept.
    public func unload() async {
        await local.unload()
        await flush()
    }

    func modelInformation(for request: RouteRequest) async throws -> ModelInformation {
        try await expectedEngine(for: request).modelInformation
    }

    func modelInformation(of source: RouteSource, for request: RouteRequest) async throws -> ModelInformation {
        if let engine = await namedEngine(for: request) { return try await engine.modelInformation }
        if source == .cloud, let cloud { return try await cloud.modelInformation }
        return try await localEngine(for: request).modelInformation
    }

    /// What the expected engine can.
    func capabilities(for request: RouteRequest) async throws -> EngineCapabilities {
        if let engine = await namedEngine(for: request) { return try await engine.capabilities }
        if assess(request).source == .local, let known = localCapabilities[request.model] { return known }
        return try await expectedEngine(for: request).capabilities
    }

    /// Whether the cloud is expected to answer a request now.
    package func expectsCloud(_ request: RouteRequest) -> Bool {
        let decision = assess(request)
        if case .settling(_, isReconnect: false) = decision.reason { return cloud != nil }
        return decision.source == .cloud && cloud != nil
    }

    /// The model in the cloud and what it can; `nil` without a cloud.
    package var cloudFacts: (information: ModelInformation, capabilities: EngineCapabilities)? {
        get async throws {
            guard let cloud else { return nil }
            return (try await cloud.modelInformation, try await cloud.capabilities)
        }
    }

    /// The engine that would answer now. A request that waits for a stable connection is expected in the cloud.
    private func expectedEngine(for request: RouteRequest) async throws -> any InferenceEngine {
        if let engine = await namedEngine(for: request) { return engine }
        if let cloud, expectsCloud(request) { return cloud }
        do {
            return try await localEngine(for: request)
        } catch let missing as LLMError where missing.code == .modelNotLoaded {
            // Without a local model, the reason why the cloud does not answer is the one to act on.
            let decision = assess(request)
            throw decision.reason.isLasting ? missing as any Error : decision.refusal
        }
    }
}
