import HearthBase

/// A clock on which every wait is over at once and has taken its time: for code that pauses between attempts.
public final class HurriedClock: Clock {
    private let manual = ManualClock()

    /// A clock at its start.
    public init() {}

    public var now: ManualClock.Instant { manual.now }
    public var minimumResolution: Duration { manual.minimumResolution }

    public func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        let wait = manual.now.duration(to: deadline)
        if wait > .zero { manual.advance(by: wait) }
    }

    /// The clock as a time source; the calendar stands still.
    public var time: TimeSource {
        let date = manual.time.now
        return TimeSource(clock: self, now: { date })
    }
}
