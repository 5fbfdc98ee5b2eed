import HearthBase
import HearthInference
import HearthRouting

/// The engine of one conversation: the orchestrator's, which chooses between this device and the cloud, or any other.
package struct ChatEngine: Sendable {
    let engine: any InferenceEngine
    /// Answers questions with pictures, if ``engine`` cannot see.
    let seeing: (any InferenceEngine)?
    private let routed: RoutedEngine?

    /// - Parameter isPrivate: whether the conversation stays on this device.
    package init(_ engine: any InferenceEngine, seeing: (any InferenceEngine)? = nil, isPrivate: Bool = false) {
        self.seeing = isPrivate ? seeing?.forPrivateUse : seeing
        let engine = isPrivate ? engine.forPrivateUse : engine
        if let orchestrator = engine as? LLMOrchestrator {
            let routed = orchestrator.conversation()
            self.routed = routed
            self.engine = routed
        } else {
            routed = engine as? RoutedEngine
            self.engine = engine
        }
    }

    /// Names the turn, whose passes cost one credit.
    func begin(turn: String) { routed?.request.turn = turn }

    /// The text of an answer that broke off, from whose end ``continueLocally(onEvent:)`` goes on.
    var interruptedText: String? { routed?.interruptedText }

    /// Can continue the answer of another engine of the conversation that broke off.
    func goesOn(from other: ChatEngine) {
        if let routed, let before = other.routed { routed.goesOn(from: before) }
    }

    /// - Throws: `nothing-to-continue`.
    func continueLocally(
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        guard let routed else {
            throw RoutingError(.nothingToContinue, "this engine's answers do not break off", disposition: .usage)
        }
        return try await routed.continueLocally(onEvent: onEvent)
    }

    /// The facts of an answer.
    func facts(_ summary: GenerationSummary, model: String) -> AnswerFacts {
        let made = routed?.lastDecision
        return AnswerFacts(
            model: model, source: made?.source ?? .local, reason: made?.reasonText ?? "",
            finish: summary.reason, usage: summary.usage, timings: summary.timings)
    }
}
