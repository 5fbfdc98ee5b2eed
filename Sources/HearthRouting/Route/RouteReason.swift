/// The rule that decided a route.
package enum RouteReason: Sendable, Hashable {
    case forceLocal
    case privateConversation
    case localPreferred
    case modelNamed
    /// The request names a model of another server, or an alias.
    case upstream
    case cloudMissing
    case tier(String)
    case noCredits
    case offline
    /// The connection is not stable yet.
    case settling(seconds: Int, isReconnect: Bool)
    /// The cloud was not asked yet whether it works.
    case checking
    /// The last health check failed.
    case unhealthy
    /// The breaker is open.
    case failing(seconds: Int)
    /// The endpoint asked for a pause, or refused the key.
    case paused(code: String, seconds: Int)
    case cloud
    /// The cloud failed before the first token.
    case tookOver(code: String)

    /// A stable name for programs.
    package var code: String { words.code }
    /// The reason for people, without a full stop.
    package var text: String { words.text }

    private var words: (code: String, text: String) {
        switch self {
        case .forceLocal: ("force-local", "the setting forceLocal is on")
        case .privateConversation: ("private", "the conversation is private")
        case .localPreferred: ("local-preferred", "a local answer was asked for")
        case .modelNamed: ("model-named", "a local model was named")
        case .upstream: ("upstream", "a model of another server was named")
        case .cloudMissing: ("cloud-missing", "no cloud is set up")
        case .tier(let name): ("tier", "the tier \(name) has no cloud")
        case .noCredits: ("no-credits", "no credits are left this month")
        case .offline: ("offline", "the device is offline")
        case .settling(let seconds, let isReconnect):
            (
                "settling",
                "the connection \(isReconnect ? "has just returned" : "is new"); the cloud is used in \(seconds) s"
            )
        case .checking: ("checking", "the cloud is being checked")
        case .unhealthy: ("unhealthy", "the last check of the cloud failed")
        case .failing(let seconds):
            (
                "failing",
                "the cloud failed repeatedly; "
                    + (seconds > 0 ? "it is tried again in \(seconds) s" : "another request is testing it")
            )
        case .paused(let code, let seconds):
            ("paused", "\(Self.text(ofFailure: code)); it is tried again in \(seconds) s")
        case .cloud: ("cloud", "the cloud is allowed and reachable")
        case .tookOver(let code): ("took-over", Self.text(ofFailure: code))
        }
    }

    /// The failure of a cloud with this code, for people.
    private static func text(ofFailure code: String) -> String {
        switch code {
        case "unauthorised": "the cloud wants a key, or refused the one it got"
        case "not-entitled": "the account at the cloud does not include the model"
        case "remote-model-missing": "the cloud does not offer the model"
        case "unreachable": "the cloud cannot be reached, or failed"
        case "rate-limited": "the cloud takes no requests for now"
        case "timed-out": "the cloud did not answer in time"
        case "unusable-answer": "the cloud sent something that is not an answer"
        case "context-window-exceeded": "the conversation is too long for the cloud"
        case "credits-unreadable", "settings-busy": "the credits cannot be read"
        default: "the cloud failed before its first word (\(code))"
        }
    }

    /// Whether the failure lasts until a person changes the settings or the account.
    package var needsRepair: Bool {
        switch self {
        case .tookOver(let code), .paused(let code, _):
            ["unauthorised", "not-entitled", "remote-model-missing", "unusable-answer", "credits-unreadable"].contains(
                code)
        default: false
        }
    }

    /// Whether only another setting or another request changes the decision.
    package var isLasting: Bool {
        switch self {
        case .forceLocal, .privateConversation, .localPreferred, .modelNamed, .upstream, .cloudMissing, .tier: true
        case .noCredits, .offline, .settling, .checking, .unhealthy, .failing, .paused, .cloud, .tookOver: false
        }
    }
}

/// The engine of an answer, and why.
public struct RouteDecision: Sendable, Hashable {
    public var source: RouteSource
    package var reason: RouteReason
    /// The rules that were looked at, in order, each with its outcome.
    public var trace: [String]

    package init(_ source: RouteSource, _ reason: RouteReason, trace: [String] = []) {
        self.source = source
        self.reason = reason
        self.trace = trace
    }

    /// A stable name of the reason, such as `force-local`.
    public var reasonCode: String { reason.code }
    /// The reason for people, without a full stop.
    public var reasonText: String { reason.text }
    /// Whether the reason is worth a message: no credits are left.
    public var isNotice: Bool { reason == .noCredits }
}
