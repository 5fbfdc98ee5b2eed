import Foundation
import HearthBase
import HearthHTTP
import HearthRouting

/// A right of a gateway's key.
package enum GatewayScope: String, Sendable, Hashable, CaseIterable {
    /// Signed addresses of files.
    case download
    /// Answers of the cloud model.
    case chat
}

/// A key of a gateway, without its secret.
package struct GatewayKey: Sendable, Hashable {
    /// Eight hexadecimal digits.
    package var id: String
    /// The purpose, in the publisher's words.
    package var name: String
    package var scopes: Set<GatewayScope>
    /// Decides whether the cloud is included: from ``Tier/starter`` on.
    package var tier: Tier
    /// The turns with the cloud in each month (UTC); `nil` if they are not counted.
    package var credits: Int?
    /// The signed addresses in each day (UTC); `nil` if they are not counted.
    package var addressesPerDay: Int?
    package var created: Date
    /// The end of the key; `nil` for none.
    package var expires: Date?
    /// The date at which the key was revoked; `nil` while it works.
    package var revoked: Date?

    package init(
        id: String, name: String, scopes: Set<GatewayScope>, tier: Tier = .free, credits: Int? = nil,
        addressesPerDay: Int? = nil, created: Date, expires: Date? = nil, revoked: Date? = nil
    ) {
        self.id = id
        self.name = name
        self.scopes = scopes
        self.tier = tier
        self.credits = credits
        self.addressesPerDay = addressesPerDay
        self.created = created
        self.expires = expires
        self.revoked = revoked
    }

    /// The reason to refuse the key for a right; `nil` if it has it.
    func refusal(for scope: GatewayScope, at now: Date) -> GatewayRefusal? {
        if revoked != nil { return .keyRevoked }
        if let expires, expires <= now { return .keyExpired }
        guard scopes.contains(scope) else { return .scopeMissing(scope) }
        return scope == .chat && tier < .starter ? .notEntitled : nil
    }
}

/// A reason to refuse a request to a gateway.
enum GatewayRefusal: Error, Sendable, Hashable {
    case keyRequired, unknownKey, keyRevoked, keyExpired, scopeMissing(GatewayScope), notEntitled
    case overQuota(retryAfter: Int), rateLimited(retryAfter: Int), noCredits, turnExhausted
    case badRequest(String), bodyTooLarge, locationNotServed, notFound, methodNotAllowed(allowed: String)
    case notOffered(GatewayScope), storeUnavailable
    /// The cloud refused or failed; the status is the one for the client.
    case cloud(status: Int, code: String, message: String, retryAfter: String?)

    /// Whether the cloud did not begin to answer in time.
    var cameTooLate: Bool {
        if case .cloud(status: 504, _, _, _) = self { true } else { false }
    }

    /// The status, the stable code and the sentence of the reply.
    private var parts: (status: Int, code: String, message: String) {
        switch self {
        case .keyRequired: (401, "key-required", "this gateway needs a key")
        case .unknownKey: (401, "unknown-key", "the key is unknown")
        case .keyRevoked: (401, "key-revoked", "the key was revoked")
        case .keyExpired: (401, "key-expired", "the key has expired")
        case .scopeMissing(let scope): (403, "scope-missing", "the key has not the scope \(scope.rawValue)")
        case .notEntitled: (403, "not-entitled", "the plan of this key does not include the cloud model")
        case .overQuota: (429, "over-quota", "the addresses of this key for today are used up")
        case .rateLimited(let seconds): (429, "rate-limited", "too many requests; try again in \(seconds) s")
        case .noCredits: (402, "no-credits", "no credits are left this month")
        case .turnExhausted: (429, "turn-exhausted", "this turn was answered too often; begin another one")
        case .badRequest(let what): (400, "bad-request", what)
        case .bodyTooLarge: (413, "body-too-large", "the body of the request is too large")
        case .locationNotServed: (404, "location-not-served", "this gateway does not serve that address")
        case .notFound: (404, "not-found", "there is no such path")
        case .methodNotAllowed: (405, "method-not-allowed", "this path takes another method")
        case .notOffered(let scope): (404, "not-offered", "this gateway does not offer \(scope.rawValue)")
        case .storeUnavailable:
            (503, "store-unavailable", "the gateway cannot reach its records; try again later")
        case .cloud(let status, let code, let message, _): (status, code, message)
        }
    }

    /// The stable code.
    var code: String { parts.code }

    var reply: ServerReply {
        let (status, code, message) = parts
        var reply = ServerReply.failure(status, code, message)
        switch self {
        case .overQuota(let seconds), .rateLimited(let seconds): reply.headers["Retry-After"] = "\(seconds)"
        case .methodNotAllowed(let allowed): reply.headers["Allow"] = allowed
        case .storeUnavailable: reply.headers["Retry-After"] = "5"
        case .cloud(_, _, _, let seconds?): reply.headers["Retry-After"] = seconds
        default: break
        }
        if status == 401 { reply.headers["WWW-Authenticate"] = "Bearer" }
        return reply
    }
}
