import HearthBase

/// How many connections a transfer should use: more as long as more bring more, fewer when a server asks for it.
///
/// It compares the bytes of one window of time with those of the window before the last change. Doubling that brings
/// less than a sixth more is taken back, and tried again after a while, since networks change. A window counts only if
/// every connection that was wanted was there at its end; and since a busy machine or a burst elsewhere can spoil any of
/// them, doubling gets several, of which one has to be good: what holds back each connection by itself shows at once, and
/// connections that are of no use for a second or two do no harm.
struct ConnectionGovernor: Sendable {
    /// The time over which a rate is measured; long enough for a new connection to get up to speed.
    static let window = Duration.milliseconds(600)
    /// How long a number that proved right stays.
    static let patience = Duration.seconds(15)
    /// How long a server that was busy is not tried with more.
    static let restraint = Duration.seconds(30)
    /// What more connections have to bring to be kept.
    static let worthwhileGain = 1.15
    /// The windows that more connections get to show that.
    static let trials = 3

    private enum Phase: Equatable {
        /// Measuring what the present number brings.
        case measuring
        /// Trying more; `before` is the number to go back to, `rate` what it brought, `windows` those that were of no use.
        case trying(before: Int, rate: Double, windows: Int)
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
            begin(phase, at: now)
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
        if case .trying(let before, let rateBefore, let windows) = phase, rate < rateBefore * Self.worthwhileGain {
            if windows + 1 < Self.trials {
                begin(.trying(before: before, rate: rateBefore, windows: windows + 1), at: now)
            } else {
                target = before
                begin(.settled(until: now + Self.patience), at: now)
            }
        } else if target < maximum {
            target = min(maximum, target * 2)
            begin(.trying(before: old, rate: rate, windows: 0), at: now)
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
