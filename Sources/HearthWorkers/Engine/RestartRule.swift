import HearthBase

/// When a worker starts anew after deaths, and which requests it does not get again.
struct RestartRule: Sendable, Hashable {
    private struct Kills: Sendable, Hashable {
        var count: Int
        var last: Duration
    }

    /// A worker that lived so long starts anew at once.
    static let forgiven = Duration.seconds(60)
    static let longestWait = Duration.seconds(30)
    /// How long a request is refused that ended two workers.
    static let refusal = Duration.seconds(600)
    private static let remembered = 64

    private var deaths = 0
    private var lastDeath: Duration?
    private var kills: [SHA256Digest: Kills] = [:]

    /// Whether any request ended a worker.
    var hasKilled: Bool { !kills.isEmpty }

    mutating func died(at now: Duration) {
        deaths = lastDeath.map { now - $0 > Self.forgiven } ?? true ? 1 : deaths + 1
        lastDeath = now
    }

    /// The time until the next start: 0, 1, 2, 4 … 30 s after the last death.
    func wait(at now: Duration) -> Duration {
        guard deaths > 1, let lastDeath else { return .zero }
        let pause = min(.seconds(1 << min(deaths - 2, 5)), Self.longestWait)
        return max(.zero, lastDeath + pause - now)
    }

    /// A worker ended while it carried out a request.
    mutating func killed(_ request: SHA256Digest, at now: Duration) {
        kills = kills.filter { now - $0.value.last < Self.refusal }
        if kills.count >= Self.remembered, let oldest = kills.min(by: { $0.value.last < $1.value.last })?.key {
            kills[oldest] = nil
        }
        kills[request] = Kills(count: (kills[request]?.count ?? 0) + 1, last: now)
    }

    /// For how long a request is refused; `nil` if it is not.
    func refuses(_ request: SHA256Digest, at now: Duration) -> Duration? {
        guard let found = kills[request], found.count > 1 else { return nil }
        let rest = found.last + Self.refusal - now
        return rest > .zero ? rest : nil
    }
}
