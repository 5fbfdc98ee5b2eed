import HearthBase

/// A clock on which every wait ends at once and advances the time: for code that pauses between attempts.
package final class HurriedClock: Clock {
    private let manual = ManualClock()

    /// Makes a clock at time zero.
    package init() {}

    package var now: ManualClock.Instant { manual.now }
    package var minimumResolution: Duration { manual.minimumResolution }

    package func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        let wait = manual.now.duration(to: deadline)
        if wait > .zero { manual.advance(by: wait) }
    }

    /// The clock as a time source; the calendar does not advance.
    package var time: TimeSource {
        let date = manual.time.now
        return TimeSource(clock: self, now: { date })
    }
}
