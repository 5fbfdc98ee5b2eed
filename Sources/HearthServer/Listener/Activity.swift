#if Server
    import HearthBase

    /// Counts the exchanges under way, so that a stop can wait for them.
    final class Activity: Sendable {
        private struct State {
            var count = 0
            var waiters: [Signal] = []
        }

        private let state = Locked(State())

        func began() { state.withLock { $0.count += 1 } }

        func ended() {
            let waiters = state.withLock { state -> [Signal] in
                state.count -= 1
                guard state.count == 0 else { return [] }
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.fire() }
        }

        /// Returns when nothing is under way, after `grace` at the latest.
        func idle(within grace: Duration, time: TimeSource) async {
            let signal = Signal()
            let isIdle = state.withLock { state in
                if state.count > 0 { state.waiters.append(signal) }
                return state.count == 0
            }
            if isIdle { return }
            let timer = Task {
                do { try await time.sleep(for: grace) } catch { return }
                signal.fire()
            }
            await signal.wait()
            timer.cancel()
        }
    }

    /// An event that happens once, and the task that waits for it.
    private final class Signal: Sendable {
        private enum State {
            case pending
            case awaited(CheckedContinuation<Void, Never>)
            case fired
        }

        private let state = Locked(State.pending)

        func fire() {
            let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
                defer { state = .fired }
                guard case .awaited(let continuation) = state else { return nil }
                return continuation
            }
            continuation?.resume()
        }

        func wait() async {
            await withCheckedContinuation { continuation in
                let hasFired = state.withLock { state in
                    if case .fired = state { return true }
                    state = .awaited(continuation)
                    return false
                }
                if hasFired { continuation.resume() }
            }
        }
    }
#endif
