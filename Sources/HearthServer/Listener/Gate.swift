import HearthBase

/// Opens once; tasks wait for it.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [AsyncStream<Never>.Continuation] = []
    }

    private let state = Locked(State())

    /// Lets all waiting tasks go on; further calls do nothing.
    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.finish() }
    }

    /// Returns when the gate is open or the task is cancelled.
    func wait() async {
        let (opened, waiter) = AsyncStream<Never>.makeStream()
        let isOpen = state.withLock { state in
            if !state.isOpen { state.waiters.append(waiter) }
            return state.isOpen
        }
        if isOpen { return }
        for await _ in opened {}
    }
}
