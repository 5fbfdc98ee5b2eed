import HearthBase

/// Chooses a transfer's number of connections: doubled while that pays, halved when a server reports overload.
///
/// Compares the bytes of one time window with those of the window before the last change. Doubling that brings too
/// little in three windows is undone, and tried again later, because networks change. A window counts only if all
/// wanted connections are open at its end. Several windows are tried, because a busy machine can spoil one.
struct ConnectionGovernor: Sendable {
    /// The time over which a rate is measured; long enough for a new connection to get up to speed.
    package static let window = Duration.milliseconds(600)
    /// How long a settled number of connections is kept.
    package static let settledTime = Duration.seconds(15)
    /// How long no connections are added after a server reported overload.
    static let restraint = Duration.seconds(30)
    /// The factor by which the rate must grow for more connections to be kept.
    static let worthwhileGain = 1.15
    /// How many windows more connections get to reach that.
    static let trials = 3

    private enum Phase: Equatable {
        /// Measures the rate of the present number.
        case measuring
        /// Tries more connections: `before` is the previous number, `rate` its rate, `windows` the windows without
        /// enough gain.
        case trying(before: Int, rate: Double, windows: Int)
        case settled(until: Duration)
    }

    /// The number of connections wanted now.
    package private(set) var target: Int
    private let maximum: Int
    private var phase = Phase.measuring
    private var windowStart: Duration?
    private var bytes: UInt64 = 0

    init(_ tuning: TransferTuning) {
        maximum = min(16, max(1, tuning.maximumConnections))
        target = min(maximum, max(1, tuning.initialConnections))
    }

    /// Counts bytes that arrived on any connection; returns whether ``target`` changed.
    /// - Parameter inUse: the number of open connections; below ``target`` the window does not count.
    @discardableResult
    package mutating func received(_ count: Int, inUse: Int, at now: Duration) -> Bool {
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

    /// Halves ``target`` after a server reported overload.
    package mutating func refused(at now: Duration) {
        // Refusals on several connections at the same time count once.
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
                begin(.settled(until: now + Self.settledTime), at: now)
            }
        } else if target < maximum {
            target = min(maximum, target * 2)
            begin(.trying(before: old, rate: rate, windows: 0), at: now)
        } else {
            begin(.settled(until: now + Self.settledTime), at: now)
        }
        return target != old
    }

    private mutating func begin(_ next: Phase, at now: Duration) {
        phase = next
        windowStart = now
        bytes = 0
    }
}
