import HearthBase

/// Turns byte counts into readings that people can trust: at most ten a second, never backwards, with a smoothed rate.
struct ProgressMeter {
    private static let interval = Duration.milliseconds(100)
    /// The weight of the newest sample; old samples fade within some seconds.
    private static let smoothing = 0.15

    private var phase = TransferProgress.Phase.connecting
    private var completed: UInt64 = 0
    private var total: UInt64?
    private var rate: Double?
    private var lastReading: Duration?
    private var lastSample: (at: Duration, bytes: UInt64)?

    /// Takes the state at a moment and returns a reading if one is due.
    ///
    /// A new phase and the last byte are always told; anything else at most every 100 ms.
    mutating func update(
        phase: TransferProgress.Phase, completed: UInt64, total: UInt64?, connections: Int = 0,
        source: String? = nil, hold: DownloadHold? = nil, at now: Duration
    ) -> TransferProgress? {
        let isNewPhase = phase != self.phase || lastReading == nil
        if isNewPhase { lastSample = nil }
        self.phase = phase
        self.total = total
        let before = self.completed
        self.completed = max(self.completed, total.map { min($0, completed) } ?? completed)
        let isLast = total.map { before < $0 && self.completed >= $0 } ?? false
        guard isNewPhase || isLast || now - (lastReading ?? .zero) >= Self.interval else { return nil }
        sample(at: now)
        lastReading = now
        return TransferProgress(
            phase: phase, completedBytes: self.completed, totalBytes: total, bytesPerSecond: rate,
            connections: connections, source: source, hold: hold)
    }

    private mutating func sample(at now: Duration) {
        defer { lastSample = (now, completed) }
        guard let lastSample else { return }
        let seconds = (now - lastSample.at).seconds
        guard seconds > 0 else { return }
        let sample = Double(completed - lastSample.bytes) / seconds
        rate = rate.map { $0 + (sample - $0) * Self.smoothing } ?? sample
    }
}
