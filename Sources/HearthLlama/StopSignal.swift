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

        /// Runs `body`, during which the time-out may strike.
        func expiring<Result>(after timeout: Duration, _ time: TimeSource, _ body: () throws -> Result) rethrows
            -> Result
        {
            // Nobody waits for years, and the clock's arithmetic ends somewhere.
            guard timeout < .seconds(365 * 86400) else { return try body() }
            // Detached: the engine's own thread is busy with the body.
            let timer = Task.detached { [self] in
                do { try await time.sleep(for: timeout) } catch { return }
                expire()
            }
            defer { timer.cancel() }
            return try body()
        }
    }
#endif
