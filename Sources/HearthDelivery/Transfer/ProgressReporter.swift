import HearthBase

/// Reports progress from several places, through one meter.
final class ProgressReporter: Sendable {
    private let meter = Locked(ProgressMeter())
    private let stopwatch: Stopwatch
    private let pulse: TimeSource
    private let send: @Sendable (TransferProgress) -> Void

    /// - Parameters:
    ///   - time: what rates are measured by.
    ///   - pulse: what passes between two readings while nothing is told.
    init(time: TimeSource, pulse: TimeSource = .system, report: @escaping @Sendable (TransferProgress) -> Void) {
        stopwatch = time.stopwatch()
        self.pulse = pulse
        send = report
    }

    func report(
        _ phase: TransferProgress.Phase, _ completed: UInt64, _ total: UInt64?, fetched: UInt64? = nil,
        connections: Int = 0, source: String? = nil, hold: DownloadHold? = nil
    ) {
        if let reading = reading(phase, completed, total, fetched, connections, source, hold) { send(reading) }
    }

    private func reading(
        _ phase: TransferProgress.Phase, _ completed: UInt64, _ total: UInt64?, _ fetched: UInt64? = nil,
        _ connections: Int = 0, _ source: String? = nil, _ hold: DownloadHold? = nil
    ) -> TransferProgress? {
        let now = stopwatch.elapsed
        return meter.withLock { meter in
            meter.update(
                phase: phase, completed: completed, total: total, fetched: fetched, connections: connections,
                source: source, hold: hold, at: now)
        }
    }

    /// Does something, and meanwhile tells of standstills, too: what brings bytes speaks up with each of them only.
    func whileTicking<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        async let _ = keepTicking()
        return try await body()
    }

    /// Goes on until its task is cancelled.
    private func keepTicking() async {
        while await isNextPulse() {
            let now = stopwatch.elapsed
            if let reading = meter.withLock({ $0.tick(at: now) }) { send(reading) }
        }
    }

    /// Tells how much of what is here has been read again, until its task is cancelled.
    /// - Parameter total: the length of the file, where it is known.
    func keepReporting(check part: PartFile, of total: UInt64?) async {
        repeat {
            // How fast bytes are read says nothing of when the others will have come.
            guard var reading = reading(.verifying, part.checkedCount, total) else { continue }
            reading.bytesPerSecond = nil
            send(reading)
        } while await isNextPulse()
    }

    private func isNextPulse() async -> Bool {
        do {
            try await pulse.sleep(for: ProgressMeter.interval)
            return true
        } catch {
            return false
        }
    }
}
