import HearthBase
import HearthHTTP

/// Bounds the requests of each caller: their rate, and how many run at once.
package struct CallerLimits: Sendable {
    /// The bounds of one caller.
    package struct Bounds: Sendable, Hashable {
        /// The most requests at once.
        package var atOnce = 64
        /// The requests in a minute on average.
        package var perMinute = 1200.0
        /// The requests that may come together after a pause.
        package var burst = 200.0

        package init() {}
    }

    private struct Account {
        var running = 0
        var allowance: Double
        var updated: Duration
    }

    /// The most callers remembered; idle ones are forgotten first.
    private static let accountLimit = 1024

    private let bounds: Bounds
    private var accounts: [String: Account] = [:]

    package init(_ bounds: Bounds = Bounds()) { self.bounds = bounds }

    /// Begins a request.
    /// - Returns: `nil`, or the seconds after which the caller may try again.
    package mutating func begin(_ caller: String, at now: Duration) -> Int? {
        var account = accounts[caller] ?? Account(allowance: bounds.burst, updated: now)
        account.allowance = min(
            bounds.burst, account.allowance + (now - account.updated).seconds * bounds.perMinute / 60)
        account.updated = now
        defer { accounts[caller] = account }
        if account.running >= bounds.atOnce { return 1 }
        guard account.allowance >= 1 else {
            return max(1, Int(((1 - account.allowance) * 60 / bounds.perMinute).rounded(.up)))
        }
        account.allowance -= 1
        account.running += 1
        return nil
    }

    /// Ends a request that began.
    package mutating func end(_ caller: String) {
        accounts[caller]?.running -= 1
        if accounts.count > Self.accountLimit { accounts = accounts.filter { $0.value.running > 0 } }
    }

    /// The reply to a request beyond the bounds.
    package static func refusal(after seconds: Int) -> ServerReply {
        let body =
            #"{"error":{"message":"too many requests; try again in \#(seconds) s","type":"rate_limit_error","#
            + #""param":null,"code":"rate-limited"}}"# + "\n"
        return ServerReply(
            status: 429, headers: ["Content-Type": "application/json", "Retry-After": "\(seconds)"],
            body: .bytes(Array(body.utf8)))
    }
}

/// The requests that run, each counted for its caller.
final class CountedRequests: Sendable {
    private let state: Locked<(limits: CallerLimits, callers: [String: String])>
    private let clock: Stopwatch

    init(_ bounds: CallerLimits.Bounds, time: TimeSource) {
        state = Locked((CallerLimits(bounds), [:]))
        clock = time.stopwatch()
    }

    /// Counts a request that begins.
    /// - Returns: the seconds to wait if the caller is beyond its bounds.
    func begin(_ request: String, of caller: String) -> Int? {
        let now = clock.elapsed
        return state.withLock { state in
            if let wait = state.limits.begin(caller, at: now) { return wait }
            state.callers[request] = caller
            return nil
        }
    }

    func end(_ request: String) {
        state.withLock { state in
            if let caller = state.callers.removeValue(forKey: request) { state.limits.end(caller) }
        }
    }
}
