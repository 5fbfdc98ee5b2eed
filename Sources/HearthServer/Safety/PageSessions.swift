import Foundation
import HearthBase

/// The sessions that browsers got for one-time codes.
///
/// A session has two secrets. Browsers send the cookie to every port of the host, so that it may leak to another program;
/// the page's own secret lies in the storage of its origin, and goes out in a header.
package struct PageSessions: Sendable {
    /// How long a browser stays signed in without a request.
    static let sessionLifetime = Duration.seconds(30 * 24 * 3600)
    private static let limit = 64

    /// The two secrets of a new session.
    package struct Secrets: Sendable, Hashable {
        package let cookie: String
        package let page: String
    }

    /// A session as it is kept. Times are those since 1970.
    package struct Session: Sendable, Hashable {
        /// The digest of the page's secret.
        package var page: SHA256Digest
        package var end: Duration
        /// The browser's name for itself, at most 300 bytes without control characters.
        package var agent = ""
        /// The sign-in; `nil` for one that an earlier version recorded.
        package var created: Duration?

        /// The last use of the whole session.
        package var seen: Duration { end - PageSessions.sessionLifetime }
    }

    /// What a request proves.
    package enum Proof: Sendable, Hashable {
        case none
        /// The cookie without the page's secret.
        case cookie
        case whole
    }

    /// By the digests of the cookies.
    private var sessions: [SHA256Digest: Session] = [:]

    package init() {}

    /// Begins a session.
    package mutating func begin(agent: String = "", at now: Duration) -> Secrets {
        sessions = kept(at: now)
        if sessions.count >= Self.limit, let oldest = sessions.min(by: { $0.value.end < $1.value.end }) {
            sessions.removeValue(forKey: oldest.key)
        }
        let secrets = Secrets(cookie: Self.newSecret(), page: Self.newSecret())
        sessions[Self.digest(secrets.cookie)] = Session(
            page: Self.digest(secrets.page), end: now + Self.sessionLifetime, agent: Self.shortened(agent), created: now
        )
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

    /// The id of the session of a cookie, 12 hexadecimal digits; `nil` if the session has ended.
    package func id(of cookie: String, at now: Duration) -> String? {
        let key = Self.digest(cookie)
        return (sessions[key]?.end ?? now) > now ? Self.id(key) : nil
    }

    /// The id of a session by the digest of its cookie.
    package static func id(_ key: SHA256Digest) -> String { String(key.hex.prefix(12)) }

    /// Ends a session by its id.
    /// - Returns: whether it existed.
    package mutating func end(_ id: String) -> Bool {
        guard let key = sessions.keys.first(where: { Self.id($0) == id }) else { return false }
        return sessions.removeValue(forKey: key) != nil
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

    private static func shortened(_ agent: String) -> String {
        var bytes = 0
        let scalars = agent.unicodeScalars.prefix { scalar in
            bytes += UTF8.width(scalar)
            return bytes <= 300
        }
        return String(String.UnicodeScalarView(scalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
    }
}
