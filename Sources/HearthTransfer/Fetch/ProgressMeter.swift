import Foundation
import HearthBase

/// Turns byte counts into readings: at most ten a second, never backwards, with a smoothed rate.
struct ProgressMeter {
    /// The shortest time between two readings, except for a new state and the last byte.
    package static let interval = Duration.milliseconds(100)
    /// After this time without a byte, the rate is 0 and the time left unknown.
    static let stillness = Duration.seconds(10)

    private var completed: UInt64 = 0
    private var fetched: UInt64 = 0
    /// The part of `completed` that has to come again.
    private var repeated: UInt64 = 0
    /// The bytes that the rate counts: repeated ones, too, which do not change `completed`.
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
    /// A new state and the last byte are always reported, any other change at most every 100 ms.
    /// - Parameter fetched: the received bytes, repeated ones included; `nil` where every byte comes once.
    package mutating func update(
        state: TransferState, completed: UInt64, total: UInt64?, fetched: UInt64? = nil, connections: Int = 0,
        source: String? = nil, at now: Duration
    ) -> TransferProgress? {
        let isNewState = state != shown?.state
        if isNewState { begin(state) }
        let before = self.completed
        self.completed = max(before, total.map { min($0, completed) } ?? completed)
        repeated = state.repeats ? self.completed - min(self.completed, completed) : state.isHalted ? repeated : 0
        taken = fetched ?? self.completed
        self.fetched = fetched ?? self.fetched
        let isLast = total.map { before < $0 && self.completed >= $0 } ?? false
        let isDue = isNewState || isLast || now - lastReading >= Self.interval
        let last = shown
        shown = TransferProgress(
            state: state, completedBytes: last?.completedBytes ?? 0, totalBytes: total, connections: connections,
            source: source)
        return isDue ? read(at: now) : nil
    }

    /// Takes the sum of several files.
    package mutating func update(_ sum: TransferProgress, at now: Duration) -> TransferProgress? {
        update(
            state: sum.state, completed: sum.completedBytes, total: sum.totalBytes, fetched: sum.fetchedBytes,
            connections: sum.connections, source: sum.source, at: now)
    }

    /// The total length, `nil` while it is unknown.
    package var total: UInt64? { shown?.totalBytes }

    /// A reading between two reports; `nil` if none is due or nothing changed.
    package mutating func tick(at now: Duration) -> TransferProgress? {
        guard let shown, shown.state.bringsBytes, now - lastReading >= Self.interval else { return nil }
        let before = rate
        sample(at: now)
        return rate != before || completed != shown.completedBytes ? read(at: now) : nil
    }

    private mutating func read(at now: Duration) -> TransferProgress? {
        sample(at: now)
        lastReading = now
        shown?.completedBytes = completed
        shown?.repeatedBytes = repeated
        shown?.fetchedBytes = fetched
        shown?.bytesPerSecond = rate
        return shown
    }

    private mutating func begin(_ state: TransferState) {
        // A reconnection is part of the download, and of its rate.
        if rate != nil, let shown, shown.state.bringsBytes, state.bringsBytes { return }
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
            // Bytes after a standstill begin a new rate.
            average = MovingAverage()
            isStill = true
            if rate != nil { rate = 0 }
        }
        // Neither a standstill nor the wait for the first byte counts in the rate.
        if isStill || (rate == nil && shown?.state == .connecting) { return }
        average.take(Double(bytes), over: seconds)
        if rate != nil || average.value > 0 { rate = average.value }
    }
}

/// A mean rate in which older samples weigh less: e times less every three seconds.
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
