import HearthBase

/// How long to wait before another attempt, and when to give up. The only retry loop of a transfer asks it.
struct RetrySchedule {
    /// Attempts in a row that did not make the file longer before the transfer gives up.
    private static let maximumFruitlessAttempts = 4
    private static let ceiling = 8.0
    /// No pause of our own is longer.
    static let longest = Duration.seconds(ceiling)

    private var fruitless = 0

    /// Takes a failed attempt; returns the pause before the next one, `nil` to give up.
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

/// Spreads bytes over time: a token bucket that holds a quarter of a second's worth.
struct RateLimiter {
    private let bytesPerSecond: Double
    private var available: Double
    private var lastRefill = Duration.zero

    init(bytesPerSecond: UInt64) {
        self.bytesPerSecond = Double(max(1, bytesPerSecond))
        available = self.bytesPerSecond / 4
    }

    /// Takes bytes out of the bucket; returns the time to wait before taking more.
    mutating func take(_ bytes: Int, at now: Duration) -> Duration {
        available = min(bytesPerSecond / 4, available + (now - lastRefill).seconds * bytesPerSecond)
        lastRefill = now
        available -= Double(bytes)
        return available >= 0 ? .zero : .seconds(-available / bytesPerSecond)
    }
}
