import HearthBase

/// A clock on which every wait is over at once and has taken its time: for code that pauses between attempts.
package final class HurriedClock: Clock {
    private let manual = ManualClock()

    /// A clock at its start.
    package init() {}

    package var now: ManualClock.Instant { manual.now }
    package var minimumResolution: Duration { manual.minimumResolution }

    package func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        let wait = manual.now.duration(to: deadline)
        if wait > .zero { manual.advance(by: wait) }
    }

    /// The clock as a time source; the calendar stands still.
    package var time: TimeSource {
        let date = manual.time.now
        return TimeSource(clock: self, now: { date })
    }
}
