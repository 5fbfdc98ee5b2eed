import HearthBase

/// How many connections a transfer should use: more as long as more bring more, fewer when a server asks for it.
///
/// It compares the bytes of one window of time with those of the window before the last change. Doubling that brings
/// less than a sixth more is taken back, and tried again after a while, since networks change.
struct ConnectionGovernor: Sendable {
    /// The time over which a rate is measured; long enough for a new connection to get up to speed.
    static let window = Duration.milliseconds(600)
    /// How long a number that proved right stays.
    static let patience = Duration.seconds(15)
    /// How long a server that was busy is not tried with more.
    static let restraint = Duration.seconds(30)
    /// What more connections have to bring to be kept.
    static let worthwhileGain = 1.15

    private enum Phase: Equatable {
        /// Measuring what the present number brings.
        case measuring
        /// Trying more; `before` is the number and the rate to go back to.
        case trying(before: Int, rate: Double)
        case settled(until: Duration)
    }

    /// The connections wanted now.
    private(set) var target: Int
    private let maximum: Int
    private var phase = Phase.measuring
    private var windowStart: Duration?
    private var bytes: UInt64 = 0

    init(_ tuning: TransferTuning) {
        maximum = min(16, max(1, tuning.maximumConnections))
        target = min(maximum, max(1, tuning.initialConnections))
    }

    /// Takes bytes that arrived on any connection; returns whether ``target`` changed.
    /// - Parameter inUse: the connections there are; a number that is not reached measures nothing.
    @discardableResult
    mutating func received(_ count: Int, inUse: Int, at now: Duration) -> Bool {
        if case .settled(let end) = phase {
            guard now >= end else { return false }
            begin(.measuring, at: now)
        }
        bytes += UInt64(count)
        guard let start = windowStart else {
            begin(phase, at: now)
            return false
        }
        let elapsed = now - start
        guard elapsed >= Self.window else { return false }
        guard inUse >= target else {
            begin(.measuring, at: now)
            return false
        }
        return close(rate: Double(bytes) / elapsed.seconds, at: now)
    }

    /// A server said that it is asked for too much.
    mutating func refused(at now: Duration) {
        // Every connection is told the same at the same time: that is one refusal.
        if case .settled(let end) = phase, end > now + Self.restraint - Self.window { return }
        target = max(1, target / 2)
        begin(.settled(until: now + Self.restraint), at: now)
    }

    private mutating func close(rate: Double, at now: Duration) -> Bool {
        let old = target
        if case .trying(let before, let rateBefore) = phase, rate < rateBefore * Self.worthwhileGain {
            target = before
            begin(.settled(until: now + Self.patience), at: now)
        } else if target < maximum {
            target = min(maximum, target * 2)
            begin(.trying(before: old, rate: rate), at: now)
        } else {
            begin(.settled(until: now + Self.patience), at: now)
        }
        return target != old
    }

    private mutating func begin(_ next: Phase, at now: Duration) {
        phase = next
        windowStart = now
        bytes = 0
    }
}
