#if Server
    import HearthBase

    /// Counts the exchanges in progress, so that a stop can wait for them.
    final class Activity: Sendable {
        private struct State {
            var count = 0
            var waiters: [AsyncStream<Never>.Continuation] = []
        }

        private let state = Locked(State())

        func began() { state.withLock { $0.count += 1 } }

        func ended() {
            let waiters = state.withLock { state -> [AsyncStream<Never>.Continuation] in
                state.count -= 1
                guard state.count == 0 else { return [] }
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.finish() }
        }

        /// Returns when no exchange is in progress, after `grace` at the latest.
        func idle(within grace: Duration, time: TimeSource) async {
            let (idle, waiter) = AsyncStream<Never>.makeStream()
            let isIdle = state.withLock { state in
                if state.count > 0 { state.waiters.append(waiter) }
                return state.count == 0
            }
            if isIdle { return }
            let timer = Task {
                do { try await time.sleep(for: grace) } catch { return }
                waiter.finish()
            }
            // A task of its own: the caller may be cancelled, and a cancelled task would not wait.
            await Task { for await _ in idle {} }.value
            timer.cancel()
        }
    }
#endif
