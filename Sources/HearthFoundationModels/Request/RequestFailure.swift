import HearthBase
import HearthInference

/// A failed request in the terms of Foundation Models' errors. The messages are for developers.
package enum RequestFailure: Error, Sendable, Hashable {
    /// Transcript and answer need more tokens than the model's window has.
    case contextSizeExceeded(size: Int, tokens: Int, String)
    /// The model accepts no requests for some seconds; `nil` if it is unknown how many.
    case rateLimited(seconds: Double?, String)
    /// A provider's filter ended the answer.
    case guardrailViolation(String)
    case unsupportedCapability(ModelAbility, String)
    /// Entries that cannot be read, by their places in the transcript.
    case unsupportedContent([Int], String)
    /// A schema that no grammar holds.
    case unsupportedGuide(String)
    case timeout(String)

    /// The error that a session gets for the error of an engine: a failure where Foundation Models has a case for it,
    /// otherwise the same error.
    /// - Parameters:
    ///   - window: the model's context window in tokens.
    ///   - pictures: the places of the entries with pictures.
    package static func of(_ error: any Error, window: Int, pictures: [Int] = []) -> any Error {
        guard let error = error as? LLMError else { return error }
        switch error.code {
        case .exceededContextWindowSize:
            return contextSizeExceeded(size: window, tokens: error.neededTokens ?? window + 1, error.message)
        case .rateLimited, .busy: return rateLimited(seconds: error.context.retryAfterSeconds, error.message)
        case .timedOut: return timeout(error.message)
        case .unusableGrammar: return unsupportedGuide(error.message)
        case .cannotReadPicture, .pictureTooLarge: return unsupportedContent(pictures, error.message)
        default: return error
        }
    }
}

/// An ability that a model of Foundation Models declares; a session refuses requests that need another one.
package enum ModelAbility: Sendable, Hashable, CaseIterable {
    case toolCalling, guidedGeneration, reasoning, vision

    /// The abilities of an engine. Every engine calls tools: where a model's template has none, they are written as text.
    package static func all(of engine: EngineCapabilities) -> [ModelAbility] {
        let pairs: [(EngineCapabilities, ModelAbility)] = [
            (.schema, .guidedGeneration), (.thinking, .reasoning), (.vision, .vision),
        ]
        return [.toolCalling] + pairs.filter { engine.contains($0.0) }.map(\.1)
    }
}
