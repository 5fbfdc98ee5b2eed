import HearthBase
import HearthInference
import HearthRouting

/// The engine of one conversation: the orchestrator's, which chooses between this device and the cloud, or any other.
package struct ChatEngine: Sendable {
    let engine: any InferenceEngine
    /// Answers questions with pictures, if ``engine`` cannot see.
    let seeing: (any InferenceEngine)?
    private let routed: RoutedEngine?
    /// The request of a conversation without settings of its own.
    private let common: RouteRequest

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
        common = routed?.request ?? RouteRequest()
    }

    /// Names the turn, whose passes cost one credit.
    func begin(turn: String) { routed?.request.turn = turn }

    /// Uses the model and the route of a conversation from the next request on.
    func take(_ settings: ConversationSettings) {
        guard let routed else { return }
        var request = common
        request.turn = routed.request.turn
        if let model = settings.model { request.model = model }
        if settings.route == .local { request.preference = .local }
        request.allowsCloud = settings.route == .cloud
        routed.request = request
    }

    /// Prefers a kind of engine until settings are taken again.
    func prefer(_ source: RouteSource?) {
        if let source { routed?.request.preference = source }
    }

    /// The facts of an answer.
    /// - Parameters:
    ///   - model: the name of the model that was expected to answer.
    ///   - sees: whether the engine for pictures answered.
    func facts(_ summary: GenerationSummary, expected model: String, sees: Bool) async -> AnswerFacts {
        let made = sees ? nil : routed?.lastDecision
        var model = model
        // Another engine may have taken over; one that is gone by now leaves the expected name.
        if let made, let name = try? await routed?.modelInformation(of: made.source).description { model = name }
        return AnswerFacts(
            model: model, source: made?.source ?? .local, reason: made?.reasonText ?? "",
            finish: summary.reason, usage: summary.usage, timings: summary.timings)
    }
}
