import HearthBase
import HearthInference

/// The model of the operating system, without Apple's types.
package protocol SystemModel: Sendable {
    /// Why the model cannot be used now; `nil` if it can.
    var unavailability: SystemUnavailability? { get }

    /// The context window in tokens; 0 if unknown.
    var contextSize: Int { get }

    /// Answers a request.
    /// - Parameter onSnapshot: takes the whole answer so far, each time it grows; `false` ends the answer.
    /// - Returns: the counts of the answer; `nil` if the system tells none.
    /// - Throws: ``SystemFailure``; `CancellationError`.
    func answer(
        _ request: SystemRequest, onSnapshot: @escaping @Sendable (String) -> Bool
    ) async throws -> TokenUsage?
}

/// Why the system's model cannot be used.
package enum SystemUnavailability: Sendable, Hashable, CaseIterable {
    case deviceNotEligible, appleIntelligenceNotEnabled, modelNotReady
    /// A reason of a later system.
    case unknown

    /// The error for a caller.
    package var error: LLMError {
        switch self {
        case .deviceNotEligible:
            LLMError(
                .systemModelMissing, "this device cannot run Apple's model",
                context: ErrorContext(remedy: "Download a model."))
        case .appleIntelligenceNotEnabled:
            LLMError(
                .systemModelOff, "Apple Intelligence is turned off",
                context: ErrorContext(remedy: "Turn on Apple Intelligence in the system's settings."))
        case .modelNotReady:
            LLMError(
                .systemModelNotReady, "Apple's model is not on this device yet",
                context: ErrorContext(remedy: "Try again when the system has downloaded it."), disposition: .tryLater)
        case .unknown:
            LLMError(
                .systemModelMissing, "Apple's model cannot be used", context: ErrorContext(remedy: "Download a model."))
        }
    }
}

extension ErrorCode<ModelInformation> {
    /// The device or the system has no model of Apple's.
    public static var systemModelMissing: Self { "system-model-missing" }
    /// Apple Intelligence is turned off.
    public static var systemModelOff: Self { "system-model-off" }
    /// The system has not downloaded its model yet.
    public static var systemModelNotReady: Self { "system-model-not-ready" }
    /// Apple's model does not answer in the language of the conversation.
    public static var unsupportedLanguage: Self { "unsupported-language" }
}

/// Why the system's model did not answer.
package enum SystemFailure: Error, Sendable, Hashable {
    case contextSizeExceeded(tokens: Int?)
    case assetsUnavailable
    /// A guardrail of the system, or the model itself, refused the answer.
    case refused
    case unsupportedGuide
    case unsupportedLanguage
    case undecodable
    case rateLimited(seconds: Double?)
    case busy
    case timedOut

    /// The error for a caller; `nil` for a refusal, which ends an answer and fails none.
    package func error(window: Int) -> LLMError? {
        switch self {
        case .refused: nil
        case .contextSizeExceeded(let tokens):
            LLMError(
                .exceededContextWindowSize, "the conversation does not fit into the context window",
                context: ErrorContext(
                    expected: "at most \(window) tokens", found: tokens.map { "\($0) tokens" },
                    remedy: "Shorten the text, or ask a model with a larger context."), disposition: .usage)
        case .assetsUnavailable: SystemUnavailability.modelNotReady.error
        case .unsupportedGuide: OutputConstraint.unusable("Apple's model holds none like it")
        case .unsupportedLanguage:
            LLMError(
                .unsupportedLanguage, "Apple's model does not answer in this language",
                context: ErrorContext(remedy: "Use another model for it."))
        case .undecodable:
            LLMError(
                .answerNotDecodable, "the answer is no value of the schema",
                context: ErrorContext(remedy: "Allow more tokens, or ask for less."))
        case .rateLimited(let seconds):
            {
                var context = ErrorContext(remedy: "Try again later; the system slows down apps in the background.")
                context.retryAfterSeconds = seconds
                return LLMError(
                    .rateLimited, "the system accepts no requests now", context: context, disposition: .tryLater)
            }()
        case .busy: LLMError(.busy, "Apple's model is answering another request", disposition: .tryLater)
        case .timedOut: LLMError(.timedOut, "Apple's model took too long", disposition: .tryLater)
        }
    }
}
