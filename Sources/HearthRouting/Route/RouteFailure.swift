import HearthBase
import HearthInference

/// A failed request to the cloud, as far as the route is concerned.
package struct RouteFailure: Sendable, Hashable {
    /// The consequence of a failure.
    package enum Kind: Sendable, Hashable {
        /// The endpoint gave no proper answer.
        case unreachable
        /// The endpoint wants a pause.
        case rateLimited
        /// The key, account or tier was refused.
        case refused
        /// The account has no credits left.
        case noCredits
        /// The endpoint works, but not for this request.
        case request
    }

    package var kind: Kind
    package var retryAfter: Duration?
    /// The code of the error.
    package var code: String

    /// The given failure.
    package init(_ kind: Kind, code: String, retryAfter: Duration? = nil) {
        self.kind = kind
        self.code = code
        self.retryAfter = retryAfter
    }

    /// Classifies the error of a cloud engine.
    package init(_ error: any Error) {
        let failure = error as? any HearthFailure
        code = failure?.codeText ?? "unknown"
        retryAfter = failure?.context.retryAfterSeconds.map { .seconds(max(0, min($0, 86_400))) }
        kind =
            switch (error as? LLMError)?.code {
            case .rateLimited?: .rateLimited
            case .unauthorised?, .notEntitled?, .remoteModelMissing?, .cloudKeyUnusable?: .refused
            case .noCredits?: .noCredits
            case .exceededContextWindowSize?, .cannotReadPicture?, .pictureTooLarge?, .unusableGrammar?, .schemaNotMet?,
                .engineMissing?, .templateFailed?, .generateFailed?:
                .request
            default: .unreachable
            }
    }

    /// Whether the same request may succeed in a moment: the server was not reached, or said when.
    var isWorthRetrying: Bool {
        switch kind {
        case .unreachable: code == ErrorCode<ModelInformation>.unreachable.rawValue
        case .rateLimited: retryAfter != nil
        case .refused, .noCredits, .request: false
        }
    }
}

/// The end of a request to the cloud.
package enum CloudOutcome: Sendable, Hashable {
    case succeeded
    case failed(RouteFailure)
    /// The caller ended it.
    case cancelled
}
