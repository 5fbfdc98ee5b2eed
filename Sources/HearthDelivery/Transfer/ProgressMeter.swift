import Foundation
import HearthBase

/// Turns byte counts into readings that people can trust: at most ten a second, never backwards, with a smoothed rate.
struct ProgressMeter {
    /// No reading comes sooner after another one, but for a new phase and the last byte.
    static let interval = Duration.milliseconds(100)
    /// After so long without a byte nothing moves any more: the rate is 0, and the time left unknown.
    static let stillness = Duration.seconds(10)

    private var completed: UInt64 = 0
    /// What of ``completed`` has to come again.
    private var repeated: UInt64 = 0
    /// What the rate is the rate of: bytes that come again leave ``completed`` where it is.
    private var taken: UInt64 = 0
    private var rate: Double?
    private var average = MovingAverage()
    private var shown: TransferProgress?
    private var lastReading = Duration.zero
    /// When bytes came last, or the measuring began.
    private var lastBytes = Duration.zero
    private var lastSample: (at: Duration, bytes: UInt64)?
    private var isStill = false

    /// Takes the state at a moment and returns a reading if one is due.
    ///
    /// A new phase and the last byte are always told; anything else at most every 100 ms.
    /// - Parameter fetched: the bytes that came, those included that came again; `nil` where every byte comes once.
    mutating func update(
        phase: TransferProgress.Phase, completed: UInt64, total: UInt64?, fetched: UInt64? = nil, connections: Int = 0,
        source: String? = nil, hold: DownloadHold? = nil, at now: Duration
    ) -> TransferProgress? {
        let isNewPhase = phase != shown?.phase
        if isNewPhase { begin(phase) }
        let before = self.completed
        self.completed = max(before, total.map { min($0, completed) } ?? completed)
        repeated = phase.bringsBytes ? self.completed - min(self.completed, completed) : 0
        taken = fetched ?? self.completed
        let isLast = total.map { before < $0 && self.completed >= $0 } ?? false
        let isDue = isNewPhase || isLast || now - lastReading >= Self.interval
        let last = shown
        shown = TransferProgress(
            phase: phase, completedBytes: last?.completedBytes ?? 0, totalBytes: total, connections: connections,
            source: source, hold: hold)
        return isDue ? read(at: now) : nil
    }

    /// A reading for a moment in which nothing was told; `nil` if none is due, or it would be the last one again.
    mutating func tick(at now: Duration) -> TransferProgress? {
        guard let shown, shown.phase.bringsBytes, now - lastReading >= Self.interval else { return nil }
        let before = rate
        sample(at: now)
        return rate != before || completed != shown.completedBytes ? read(at: now) : nil
    }

    private mutating func read(at now: Duration) -> TransferProgress? {
        sample(at: now)
        lastReading = now
        shown?.completedBytes = completed
        shown?.repeatedBytes = repeated
        shown?.bytesPerSecond = rate
        return shown
    }

    private mutating func begin(_ phase: TransferProgress.Phase) {
        // A connection that is made again in the middle is a part of the download, and of its rate.
        if rate != nil, let shown, shown.phase.bringsBytes, phase.bringsBytes { return }
        rate = nil
        average = MovingAverage()
        lastSample = nil
        isStill = false
    }

    private mutating func sample(at now: Duration) {
        guard let last = lastSample else {
            lastSample = (now, taken)
            lastBytes = now
            return
        }
        let seconds = (now - last.at).seconds
        guard seconds > 0 else { return }
        let bytes = taken - min(taken, last.bytes)
        lastSample = (now, taken)
        if bytes > 0 {
            lastBytes = now
            isStill = false
        } else if now - lastBytes >= Self.stillness {
            // What comes after this is a rate of its own.
            average = MovingAverage()
            isStill = true
            if rate != nil { rate = 0 }
        }
        // Neither a standstill nor the wait for the first byte is a part of any rate.
        if isStill || (rate == nil && shown?.phase == .connecting) { return }
        average.take(Double(bytes), over: seconds)
        if rate != nil || average.value > 0 { rate = average.value }
    }
}

extension TransferProgress.Phase {
    /// Whether bytes come from the network.
    var bringsBytes: Bool { self == .connecting || self == .downloading }
}

/// A mean of what came in a second, in which what lies back weighs less: e times less every three seconds, however many
/// samples there were.
private struct MovingAverage {
    private static let memory = 3.0

    private var sum = 0.0
    private var weight = 0.0

    mutating func take(_ amount: Double, over seconds: Double) {
        let kept = exp(-seconds / Self.memory)
        sum = sum * kept + amount / seconds * (1 - kept)
        weight = weight * kept + (1 - kept)
    }

    var value: Double { weight > 0 ? sum / weight : 0 }
}
