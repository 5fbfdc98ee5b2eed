import Foundation

/// A monotonic clock for intervals and a calendar for dates. Injected, so that tests never sleep.
public struct TimeSource: Sendable {
    private let startStopwatch: @Sendable () -> Stopwatch
    private let wait: @Sendable (Duration) async throws -> Void
    private let calendar: @Sendable () -> Date

    /// Makes a source of the given clock and calendar.
    public init<C: Clock>(clock: C, now: @escaping @Sendable () -> Date) where C.Duration == Duration {
        startStopwatch = {
            let start = clock.now
            return Stopwatch { start.duration(to: clock.now) }
        }
        wait = { try await clock.sleep(for: $0) }
        calendar = now
    }

    /// The machine's own clocks; the monotonic one does not stop while the machine sleeps.
    public static let system = TimeSource(clock: ContinuousClock(), now: { Date() })

    /// The present date.
    public var now: Date { calendar() }

    /// Waits; throws `CancellationError` at once when the task is cancelled.
    public func sleep(for duration: Duration) async throws { try await wait(duration) }

    /// Starts a stopwatch.
    package func stopwatch() -> Stopwatch { startStopwatch() }
}

/// Measures the time since its creation.
package struct Stopwatch: Sendable {
    let reading: @Sendable () -> Duration

    /// The time since the start.
    package var elapsed: Duration { reading() }
}

extension Duration {
    /// The duration as fractional seconds.
    package var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
