import Foundation
import HearthBase

/// The one-time codes of printed addresses, and the sessions that browsers got for them.
package struct PageSessions: Sendable {
    /// How long a printed address can be opened.
    package static let codeLifetime = Duration.seconds(3600)
    /// How long a browser stays signed in without a request.
    static let sessionLifetime = Duration.seconds(30 * 24 * 3600)
    private static let limit = 64

    private var codes: [SHA256Digest: Duration] = [:]
    private var sessions: [SHA256Digest: Duration] = [:]

    package init() {}

    /// Makes a code for a printed address.
    package mutating func makeCode(at now: Duration) -> String {
        codes = codes.filter { $0.value > now }
        if codes.count >= Self.limit { codes = [:] }
        let code = Claim.newToken()
        codes[Self.digest(code)] = now + Self.codeLifetime
        return code
    }

    /// Exchanges a code for the token of a session; `nil` for an unknown, used or old one.
    package mutating func redeem(_ code: String, at now: Duration) -> String? {
        guard let end = codes.removeValue(forKey: Self.digest(code)), end > now else { return nil }
        sessions = sessions.filter { $0.value > now }
        if sessions.count >= Self.limit, let oldest = sessions.min(by: { $0.value < $1.value }) {
            sessions.removeValue(forKey: oldest.key)
        }
        let token = Claim.newToken() + Claim.newToken()
        sessions[Self.digest(token)] = now + Self.sessionLifetime
        return token
    }

    /// Whether a token is that of a session, which a use prolongs.
    package mutating func use(_ token: String, at now: Duration) -> Bool {
        // Keys are digests: the time of a look-up tells nothing about a token.
        guard let end = sessions[Self.digest(token)], end > now else { return false }
        sessions[Self.digest(token)] = now + Self.sessionLifetime
        return true
    }

    /// The sessions that have not ended, by the digests of their tokens, with their ends since 1970.
    package func kept(at now: Duration) -> [SHA256Digest: Duration] { sessions.filter { $0.value > now } }

    /// The sessions of an earlier process.
    package init(kept: [SHA256Digest: Duration]) {
        let newest = kept.sorted { $0.value > $1.value }.prefix(Self.limit)
        sessions = Dictionary(newest.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    private static func digest(_ text: String) -> SHA256Digest { SHA256Digest(hashing: Data(text.utf8)) }
}
