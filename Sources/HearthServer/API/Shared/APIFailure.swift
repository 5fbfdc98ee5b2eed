import HearthBase
import HearthInference

/// A refused or failed request of a client. Each dialect has its own form for it.
package struct APIFailure: Error, Sendable, Hashable {
    /// The reason, which decides the status.
    package enum Reason: Sendable, Hashable {
        /// A field is missing, or has a value that cannot be used.
        case invalid
        /// The field is known, and this server or this model does not serve it.
        case notServed
        /// The address or the stored object does not exist.
        case notFound
        /// No model has the name.
        case modelMissing
        /// The prompt is longer than the context window; a text that was never cut into tokens has no number of them.
        case contextExceeded(promptTokens: Int?, window: Int?)
        /// The body is larger than the limit.
        case tooLarge
        /// The queue is full.
        case busy(retryAfterSeconds: Int)
        /// The caller has no right for it.
        case forbidden
        /// What is asked for is in use.
        case conflict
        /// The model reads no pictures.
        case noVision
        /// The model that answers in the place of an unknown one reads no pictures.
        case noVisionInPlace
        /// The server of the model failed, refused this one, or did not answer in time.
        case upstream(isLate: Bool)
        /// The model or the server failed.
        case failed
    }

    package var reason: Reason
    /// One sentence.
    package var message: String
    /// The field, such as `messages[2].content`.
    package var field: String?
    /// The stable code of the failure.
    package var code: String?
    /// The bytes of a text that was never cut into tokens.
    package var textBytes: Int?

    package init(_ reason: Reason, _ message: String, field: String? = nil, code: String? = nil) {
        self.reason = reason
        self.message = message
        self.field = field
        self.code = code
    }

    /// A field with an unusable value.
    package static func invalid(_ field: String, _ expectation: String) -> APIFailure {
        APIFailure(.invalid, "`\(field)` must be \(expectation)", field: field)
    }

    /// A known field that is not served.
    package static func notServed(_ field: String, _ why: String = "is not served by this server") -> APIFailure {
        APIFailure(.notServed, "`\(field)` \(why)", field: field)
    }

    /// A model that does not exist here.
    package static func noModel(_ name: String) -> APIFailure {
        APIFailure(.modelMissing, "the model `\(name.prefix(200))` does not exist here", field: "model")
    }

    /// The status of HTTP.
    package var status: Int {
        switch reason {
        case .invalid, .notServed, .noVision, .noVisionInPlace, .contextExceeded: 400
        case .notFound, .modelMissing: 404
        case .forbidden: 403
        case .conflict: 409
        case .tooLarge: 413
        case .busy: 429
        case .upstream(let isLate): isLate ? 504 : 502
        case .failed: 500
        }
    }

    /// The tokens of a prompt that is too long, and those of the context window. The tokens of a text that was not cut into
    /// them are estimated.
    var lengths: (tokens: Int, window: Int)? {
        guard case .contextExceeded(let tokens, let window) = reason, let window, window > 0 else { return nil }
        return (max(tokens ?? textBytes.map { $0 / 4 } ?? 0, window + 1), window)
    }

    /// The failure of a request to a model with this window.
    func told(window: Int) -> APIFailure {
        guard case .contextExceeded(let tokens, nil) = reason, window > 0 else { return self }
        var told = self
        told.reason = .contextExceeded(promptTokens: tokens, window: window)
        return told
    }

    /// The seconds after which the client may try again.
    package var retryAfterSeconds: Int? {
        if case .busy(let seconds) = reason { max(1, seconds) } else { nil }
    }
}

extension APIFailure {
    /// The failure that an engine or a store reported.
    package init(_ error: any Error) {
        switch error {
        case let failure as APIFailure: self = failure
        case let error as LLMError:
            self.init(Self.reason(of: error), error.sentence, code: error.code.rawValue)
            textBytes = error.context.found.flatMap { Self.number($0, of: "bytes") }
        case let error as any HearthFailure:
            let isInUse = ConflictCodes.all.contains(error.codeText)
            self.init(isInUse ? .conflict : .failed, error.message, code: error.codeText)
        case is CancellationError: self.init(.failed, "the model was stopped before the answer was complete")
        default:
            Log.write(.error, "api", "an answer failed: \(error)")
            self.init(.failed, "the server failed; its log has the reason")
        }
    }

    private static func reason(of error: LLMError) -> Reason {
        switch error.code {
        case .busy, .rateLimited: .busy(retryAfterSeconds: Int(min(error.context.retryAfterSeconds ?? 1, 86_400)))
        case .exceededContextWindowSize:
            .contextExceeded(
                promptTokens: error.context.found.flatMap { number($0, of: "tokens") },
                window: error.context.expected.flatMap { number($0, of: "tokens") })
        case .templateFailed, .unusableGrammar, .cannotReadPicture, .pictureTooLarge, .nothingToEmbed: .invalid
        case .modelNotLoaded, .remoteModelMissing: .modelMissing
        // Another try of the same request would not help.
        case .engineMissing, .schemaNotMet: .notServed
        case .timedOut: .upstream(isLate: true)
        // The key that was refused is this server's, not the caller's.
        case .unreachable, .unusableAnswer, .answerInterrupted, .unauthorised, .notEntitled, .noCredits,
            .cloudKeyUnusable:
            .upstream(isLate: false)
        case .generateFailed where error.context.found?.hasPrefix("status 4") == true: .invalid
        default: error.disposition == .usage ? .invalid : .failed
        }
    }

    /// The first whole number of a text, such as that of `at least 120 tokens`.
    private static func number(_ text: String, of unit: String) -> Int? {
        guard text.hasSuffix(unit) else { return nil }
        return text.split { !$0.isNumber }.first.flatMap { Int($0) }
    }
}

extension LLMError {
    /// The message with its remedy.
    fileprivate var sentence: String { context.remedy.map { "\(message). \($0)" } ?? message }
}
