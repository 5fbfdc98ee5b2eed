#if Llama
    import HearthBase
    import Synchronization

    /// Tells the computing threads to stop, and why. Set from any thread, read by ggml between two steps of its graph, so
    /// it is one atomic number and nothing else.
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

        /// Nobody waits for the answer any more.
        func cancel() { cause.store(Cause.cancelled, ordering: .relaxed) }

        /// The time is up. Who cancelled before does not care.
        func expire() {
            _ = cause.compareExchange(expected: Cause.none, desired: Cause.expired, ordering: .relaxed)
        }

        /// Strikes when the time-out is over, until the task given back is cancelled.
        func expiring(after timeout: Duration, _ time: TimeSource) -> Task<Void, Never>? {
            // Nobody waits for years, and the clock's arithmetic ends somewhere.
            guard timeout < .seconds(365 * 86400) else { return nil }
            // Detached: the engine's own thread is busy with the answer.
            return Task.detached { [self] in
                do { try await time.sleep(for: timeout) } catch { return }
                expire()
            }
        }
    }

    /// Those whom one computation is for. It is given up only when none of them wants it any more.
    ///
    /// Unchecked: changed and read by the thread that computes only; ggml asks on the thread that called it.
    final class StopGroup: @unchecked Sendable {
        /// Nobody in particular, as while a model warms up, is somebody who waits.
        var members: [StopSignal] = []

        var isSet: Bool {
            for member in members where !member.isSet { return false }
            return !members.isEmpty
        }
    }
#endif
