#if Llama
    import HearthBase
    import Synchronization

    /// Tells the computing threads to stop, and why. Set from any thread and read by ggml between two steps of its graph, so
    /// it is one atomic number.
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

        /// The caller has left.
        func cancel() { cause.store(Cause.cancelled, ordering: .relaxed) }

        /// The time is up. A cancellation before stays one.
        func expire() {
            _ = cause.compareExchange(expected: Cause.none, desired: Cause.expired, ordering: .relaxed)
        }

        /// Expires after the time-out, unless the returned task is cancelled before.
        func expiring(
            after timeout: Duration, _ time: TimeSource, _ onExpiry: @escaping @Sendable () -> Void
        ) -> Task<Void, Never>? {
            // The clock's arithmetic has an end; a time-out of years is no limit.
            guard timeout < .seconds(365 * 86400) else { return nil }
            // Detached: the engine's own thread is busy with the answer.
            return Task.detached { [self] in
                do { try await time.sleep(for: timeout) } catch { return }
                expire()
                onExpiry()
            }
        }
    }

    /// The signals of the requests that one computation is for. It is given up when all of them are set.
    ///
    /// Unchecked: changed and read by the thread that computes only; ggml asks on the thread that called it.
    final class StopGroup: @unchecked Sendable {
        /// Empty while a model warms up, which is not given up.
        var members: [StopSignal] = []

        var isSet: Bool {
            for member in members where !member.isSet { return false }
            return !members.isEmpty
        }
    }
#endif
