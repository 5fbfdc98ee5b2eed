import Foundation
import HearthBase

/// The codes and sessions of a home, shared by the checks and the page's API. Sessions are kept in a file, so that browsers
/// stay signed in when the process starts again.
package final class BrowserSessions: Sendable {
    /// A browser that is signed in.
    package struct Device: Sendable, Hashable {
        /// 12 hexadecimal digits.
        package let id: String
        /// The browser's name for itself.
        package let agent: String
        package let created: Date?
        package let seen: Date
    }

    private struct State {
        var codes = OneTimeCodes()
        var attempts = CodeAttempts()
        var sessions: PageSessions
    }

    private let home: Path
    private let time: TimeSource
    private let state: Locked<State>

    /// Reads the sessions of earlier processes. Blocks.
    package init(home: Path, time: TimeSource) {
        self.home = home
        self.time = time
        state = Locked(State(sessions: SessionFile.load(home: home)))
    }

    /// The time of sessions, which outlive the process: since 1970.
    private var now: Duration { .seconds(time.now.timeIntervalSince1970) }

    // MARK: Codes

    /// A new code.
    package func makeCode(_ use: OneTimeCodes.Use = .printed) -> String {
        let now = now
        return state.withLock { $0.codes.make(use, at: now) }
    }

    /// The path that a code makes of the page that takes codes.
    package static func path(with code: String) -> String { "/hearth/open?code=" + code }

    /// A path that signs a browser in, once.
    package func oneTimePath() -> String { Self.path(with: makeCode()) }

    /// The reason to refuse a code; `nil` for one that works. A wrong code counts as an attempt.
    func refusal(of code: String, from peer: ServerPeer) -> OneTimeCodes.Refusal? {
        attempt(code, peer) { state, now throws(OneTimeCodes.Refusal) in try state.codes.check(code, at: now) }
    }

    /// Uses up a printed code that a signed-in person types to confirm a change.
    /// - Returns: the reason to refuse it; `nil` if it was good.
    func confirm(_ code: String, from peer: ServerPeer) -> OneTimeCodes.Refusal? {
        attempt(code, peer) { state, now throws(OneTimeCodes.Refusal) in
            try state.codes.spend(code, isPrinted: true, at: now)
        }
    }

    private func attempt(
        _ code: String, _ peer: ServerPeer, _ body: (inout State, Duration) throws(OneTimeCodes.Refusal) -> Void
    ) -> OneTimeCodes.Refusal? {
        // A form without a code finds nothing out.
        guard !OneTimeCodes.normalised(code).isEmpty else { return .wrong }
        let now = now
        return state.withLock { state -> OneTimeCodes.Refusal? in
            if let seconds = state.attempts.wait(peer.counted, at: now) { return .tooOften(seconds: seconds) }
            do throws(OneTimeCodes.Refusal) {
                try body(&state, now)
                return nil
            } catch {
                state.attempts.failed(peer.counted, at: now)
                return error
            }
        }
    }

    // MARK: Sessions

    /// Exchanges a code for a session.
    /// - Parameter agent: the browser's name for itself.
    func redeem(_ code: String, from peer: ServerPeer, agent: String) async throws(OneTimeCodes.Refusal)
        -> PageSessions.Secrets
    {
        var secrets: PageSessions.Secrets?
        let refusal = attempt(code, peer) { state, now throws(OneTimeCodes.Refusal) in
            try state.codes.spend(code, at: now)
            secrets = state.sessions.begin(agent: agent, at: now)
        }
        guard let secrets else { throw refusal ?? .wrong }
        await keep()
        return secrets
    }

    /// The proof of a request.
    func use(_ cookie: String, page: String?) -> PageSessions.Proof {
        let now = now
        return state.withLock { $0.sessions.use(cookie, page: page, at: now) }
    }

    /// The id of the session of a request's cookie; `nil` without a session.
    func id(of request: ServerRequest) -> String? {
        guard let cookie = RequestGuard.cookie(RequestGuard.sessionCookie, request.headers) else { return nil }
        let now = now
        return state.withLock { $0.sessions.id(of: cookie, at: now) }
    }

    /// The browsers that are signed in, the one seen last first.
    package var devices: [Device] {
        let now = now
        return state.withLock { $0.sessions.kept(at: now) }
            .sorted { ($0.value.end, $0.key.hex) > ($1.value.end, $1.key.hex) }
            .map { key, session in
                Device(
                    id: PageSessions.id(key), agent: session.agent, created: session.created.map(Self.date),
                    seen: Self.date(session.seen))
            }
    }

    /// Whether a session has not ended.
    func isSignedIn(_ id: String) -> Bool {
        let now = now
        return state.withLock { $0.sessions.kept(at: now) }.keys.contains { PageSessions.id($0) == id }
    }

    /// Signs a browser out.
    /// - Returns: whether it was signed in.
    func signOut(_ id: String) async -> Bool {
        guard state.withLock({ $0.sessions.end(id) }) else { return false }
        await keep()
        return true
    }

    /// Writes the sessions.
    func keep() async {
        let (sessions, home, now) = (state.withLock { $0.sessions }, home, time.now)
        await blocking { SessionFile.save(sessions, home: home, at: now) }
    }

    private static func date(_ time: Duration) -> Date { Date(timeIntervalSince1970: time.seconds) }
}
