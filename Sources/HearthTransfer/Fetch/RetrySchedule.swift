import HearthBase

/// The pauses between attempts at one source, and when it is given up. Used by ``RetryBudget``.
struct RetrySchedule: Sendable {
    /// The attempts in a row without progress after which the source is given up.
    private static let maximumFruitlessAttempts = 4
    private static let ceiling = 8.0
    /// The longest pause that no server asked for.
    static let longest = Duration.seconds(ceiling)

    private var fruitless = 0

    /// Counts a failed attempt; returns the pause before the next one, `nil` to give up.
    /// - Parameters:
    ///   - madeProgress: whether the attempt made the file longer; then the count begins anew.
    ///   - jitter: a random number in [0, 1).
    mutating func delay(afterFailureWith madeProgress: Bool, jitter: Double) -> Duration? {
        fruitless = madeProgress ? 1 : fruitless + 1
        guard fruitless < Self.maximumFruitlessAttempts else { return nil }
        let base = min(Self.ceiling, 0.5 * Double(1 << (fruitless - 1)))
        return .seconds(base * (0.5 + jitter / 2))
    }
}

/// Limits the rate of bytes with a token bucket for a quarter of a second.
struct RateLimiter {
    private let bytesPerSecond: Double
    private var available: Double
    private var lastRefill = Duration.zero

    init(bytesPerSecond: UInt64) {
        self.bytesPerSecond = Double(max(1, bytesPerSecond))
        available = self.bytesPerSecond / 4
    }

    /// Takes bytes out of the bucket; returns the time to wait before taking more.
    package mutating func take(_ bytes: Int, at now: Duration) -> Duration {
        available = min(bytesPerSecond / 4, available + (now - lastRefill).seconds * bytesPerSecond)
        lastRefill = now
        available -= Double(bytes)
        return available >= 0 ? .zero : .seconds(-available / bytesPerSecond)
    }
}
