import HearthBase
import HearthClassification
import HearthInference
import HearthRouting

/// Reads characters with the cloud model of an orchestrator, whose rules apply: settings, private conversations, credits and
/// the network may forbid a request, which then fails.
public struct CloudCharacterReader: CharacterReader {
    private let orchestrator: LLMOrchestrator
    private let isPrivate: Bool

    /// The question beside each picture.
    static let question =
        "The picture shows one Han, Kana or Nôm character from an old print or manuscript. "
        + "Answer with this one character and nothing else, or with ? if you cannot read it."
    /// The time for one answer.
    static let timeout: Duration = .seconds(30)

    /// A service that asks the orchestrator's cloud.
    /// - Parameter isPrivate: nothing may leave the device, so that each request fails.
    public init(_ orchestrator: LLMOrchestrator, isPrivate: Bool = false) {
        self.orchestrator = orchestrator
        self.isPrivate = isPrivate
    }

    public func read(_ picture: ChatImage) async throws -> (text: String, tokens: Int) {
        let engine = orchestrator.conversation(RouteRequest(preference: .cloud, isPrivate: isPrivate))
        let text = Locked("")
        let options = GenerationOptions(
            sampling: .greedy, maximumNewTokens: 32, timeout: Self.timeout, thinking: .disabled)
        let summary = try await engine.generate(
            [ChatMessage(.user, Self.question, images: [picture])], options: options
        ) { event in
            if case .text(let piece) = event { text.withLock { $0 += piece } }
        }
        // A character before the end of the connection may be the beginning of a sentence.
        guard summary.reason != .interrupted else {
            throw LLMError(.answerInterrupted, "the answer about a picture broke off", disposition: .tryLater)
        }
        return (text.withLock { $0 }, summary.usage.promptTokens + summary.usage.generatedTokens)
    }
}
