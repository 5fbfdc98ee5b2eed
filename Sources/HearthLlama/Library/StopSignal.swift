import HearthBase
import Synchronization

/// Tells the computing threads to stop, with the cause. Any thread may set it. ggml reads it between two steps of
/// its graph, so it is one atomic number.
final class StopSignal: Sendable {
    private enum Cause {
        static let none: UInt8 = 0
        static let expired: UInt8 = 1
        static let cancelled: UInt8 = 2
    }

    private let cause = Atomic<UInt8>(Cause.none)

    var isSet: Bool { cause.load(ordering: .relaxed) != Cause.none }
    var isCancelled: Bool { cause.load(ordering: .relaxed) == Cause.cancelled }
    var isExpired: Bool { cause.load(ordering: .relaxed) == Cause.expired }

    /// Stops because the caller has left.
    func cancel() { cause.store(Cause.cancelled, ordering: .relaxed) }

    /// Stops because the time is over. An earlier cancellation remains the cause.
    func expire() {
        _ = cause.compareExchange(expected: Cause.none, desired: Cause.expired, ordering: .relaxed)
    }

    /// Expires after the time-out, unless the returned task is cancelled earlier.
    func expiring(
        after timeout: Duration, _ time: TimeSource, _ onExpiry: @escaping @Sendable () -> Void
    ) -> Task<Void, Never>? {
        // The clock's arithmetic can overflow; a time-out of more than a year is no limit.
        guard timeout < .seconds(365 * 86400) else { return nil }
        // Detached, because the engine's own thread is busy with the answer.
        return Task.detached { [self] in
            do { try await time.sleep(for: timeout) } catch { return }
            expire()
            onExpiry()
        }
    }
}

/// The signals of all requests in one computation, which is aborted when all of them are set.
///
/// Unchecked: only the computing thread changes and reads the members; ggml calls back on that thread.
final class StopGroup: @unchecked Sendable {
    /// Empty while a model warms up, which is never aborted.
    var members: [StopSignal] = []

    /// The number of times that ggml asked whether to stop.
    private let asked = Atomic<UInt64>(0)

    var signs: UInt64 { asked.load(ordering: .relaxed) }

    /// ggml's question, hundreds of times for each token.
    func mustStop() -> Bool {
        asked.store(asked.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        return isSet
    }

    var isSet: Bool {
        for member in members where !member.isSet { return false }
        return !members.isEmpty
    }
}
