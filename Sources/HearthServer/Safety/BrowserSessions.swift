import Foundation
import HearthBase

/// The codes and sessions of a home, shared by the checks and the page's API. Sessions are kept in a file, so that browsers
/// stay signed in when the process starts again.
package final class BrowserSessions: Sendable {
    private let home: Path
    private let time: TimeSource
    private let state: Locked<PageSessions>

    /// Reads the sessions of earlier processes. Blocks.
    package init(home: Path, time: TimeSource) {
        self.home = home
        self.time = time
        state = Locked(SessionFile.load(home: home))
    }

    /// The time of sessions, which outlive the process: since 1970.
    private var now: Duration { .seconds(time.now.timeIntervalSince1970) }

    /// A path that signs a browser in, once.
    package func oneTimePath() -> String {
        let now = now
        return "/hearth/open?code=" + state.withLock { $0.makeCode(at: now) }
    }

    /// Whether a code can be used.
    func isKnown(_ code: String) -> Bool {
        let now = now
        return state.withLock { $0.isKnown(Self.code(in: code), at: now) }
    }

    /// Uses up a code that a signed-in person types to confirm a change; `false` for an unknown, used or old one.
    func spend(_ code: String) -> Bool {
        let now = now
        return state.withLock { $0.spend(Self.code(in: code), at: now) }
    }

    /// Exchanges a code for a session; `nil` for an unknown, used or old one.
    func redeem(_ code: String) async -> PageSessions.Secrets? {
        let now = now
        guard let secrets = state.withLock({ $0.redeem(Self.code(in: code), at: now) }) else { return nil }
        await keep()
        return secrets
    }

    /// The proof of a request.
    func use(_ cookie: String, page: String?) -> PageSessions.Proof {
        let now = now
        return state.withLock { $0.use(cookie, page: page, at: now) }
    }

    /// Writes the sessions.
    func keep() async {
        let (sessions, home, now) = (state.withLock { $0 }, home, time.now)
        // Saving throws nothing.
        try? await blocking { SessionFile.save(sessions, home: home, at: now) }
    }

    /// The code in what a person pastes: a code, or the printed address with one.
    private static func code(in text: String) -> String {
        let text = text.trimmed
        guard let start = text.range(of: "code=", options: .backwards)?.upperBound else { return text }
        return String(text[start...])
    }
}
