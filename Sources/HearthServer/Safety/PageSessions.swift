import Foundation
import HearthBase

/// The one-time codes of printed addresses, and the sessions that browsers got for them.
///
/// A session has two secrets. Browsers send the cookie to every port of the host, so that it may leak to another program;
/// the page's own secret lies in the storage of its origin, and goes out in a header.
package struct PageSessions: Sendable {
    /// How long a printed address can be opened.
    package static let codeLifetime = Duration.seconds(3600)
    /// How long a browser stays signed in without a request.
    static let sessionLifetime = Duration.seconds(30 * 24 * 3600)
    private static let limit = 64

    /// The two secrets of a new session.
    package struct Secrets: Sendable, Hashable {
        package let cookie: String
        package let page: String
    }

    /// A session as it is kept: the digest of the page's secret, and the end since 1970.
    package struct Session: Sendable, Hashable {
        package var page: SHA256Digest
        package var end: Duration
    }

    /// What a request proves.
    package enum Proof: Sendable, Hashable {
        case none
        /// The cookie without the page's secret.
        case cookie
        case whole
    }

    private var codes: [SHA256Digest: Duration] = [:]
    /// By the digests of the cookies.
    private var sessions: [SHA256Digest: Session] = [:]

    package init() {}

    /// Makes a code for a printed address.
    package mutating func makeCode(at now: Duration) -> String {
        codes = codes.filter { $0.value > now }
        if codes.count >= Self.limit { codes = [:] }
        let code = Claim.newToken()
        codes[Self.digest(code)] = now + Self.codeLifetime
        return code
    }

    /// Whether a code was neither used nor is too old.
    package func isKnown(_ code: String, at now: Duration) -> Bool {
        codes[Self.digest(code)].map { $0 > now } ?? false
    }

    /// Uses a code up.
    /// - Returns: whether it was known, unused and young enough.
    package mutating func spend(_ code: String, at now: Duration) -> Bool {
        codes.removeValue(forKey: Self.digest(code)).map { $0 > now } ?? false
    }

    /// Exchanges a code for a session; `nil` for an unknown, used or old one.
    package mutating func redeem(_ code: String, at now: Duration) -> Secrets? {
        guard spend(code, at: now) else { return nil }
        sessions = kept(at: now)
        if sessions.count >= Self.limit, let oldest = sessions.min(by: { $0.value.end < $1.value.end }) {
            sessions.removeValue(forKey: oldest.key)
        }
        let secrets = Secrets(cookie: Self.newSecret(), page: Self.newSecret())
        sessions[Self.digest(secrets.cookie)] = Session(
            page: Self.digest(secrets.page), end: now + Self.sessionLifetime)
        return secrets
    }

    /// The proof of a cookie and the secret that the page sends. The use of a whole session prolongs it.
    package mutating func use(_ cookie: String, page: String?, at now: Duration) -> Proof {
        // Keys are digests: the time of a look-up tells nothing about a secret.
        let key = Self.digest(cookie)
        guard let session = sessions[key], session.end > now else { return .none }
        guard let page, Self.digest(page).isSame(as: session.page) else { return .cookie }
        sessions[key]?.end = now + Self.sessionLifetime
        return .whole
    }

    /// The sessions that have not ended, by the digests of their cookies.
    package func kept(at now: Duration) -> [SHA256Digest: Session] { sessions.filter { $0.value.end > now } }

    /// The sessions of an earlier process.
    package init(kept: [SHA256Digest: Session]) {
        let newest = kept.sorted { $0.value.end > $1.value.end }.prefix(Self.limit)
        sessions = Dictionary(newest.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    private static func newSecret() -> String { Claim.newToken() + Claim.newToken() }

    private static func digest(_ text: String) -> SHA256Digest { SHA256Digest(hashing: Data(text.utf8)) }
}
