import HearthBase

/// A locked state that tasks wait for: each change has the waiting tasks look at it again.
final class WaitableState<State: Sendable>: Sendable {
    private struct Core: Sendable {
        var state: State
        /// Counts changes, so that a task that looked before a change does not wait after it.
        var version: UInt64 = 0
        var lastWaiter: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let core: Locked<Core>

    init(_ state: State) { core = Locked(Core(state: state)) }

    func read<Value: Sendable>(_ body: (State) throws -> Value) rethrows -> Value {
        try core.withLock { try body($0.state) }
    }

    @discardableResult func change<Value: Sendable>(_ body: (inout State) throws -> Value) rethrows -> Value {
        let (value, waiters) = try core.withLock { core in
            let value = try body(&core.state)
            core.version += 1
            let waiters = Array(core.waiters.values)
            core.waiters = [:]
            return (value, waiters)
        }
        for waiter in waiters { waiter.resume() }
        return value
    }

    /// Returns the first value that `look` finds, now or after a change.
    ///
    /// `look` may change the state, but no change that another task waits for.
    /// - Throws: errors of `look`; `CancellationError`.
    func wait<Value: Sendable>(for look: (inout State) throws -> Value?) async throws -> Value {
        while true {
            try Task.checkCancellation()
            let (value, version) = try core.withLock { (try look(&$0.state), $0.version) }
            if let value { return value }
            await changed(since: version)
        }
    }

    /// Returns after a change, or when the task is cancelled.
    private func changed(since version: UInt64) async {
        let number = core.withLock { core in
            core.lastWaiter += 1
            return core.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = core.withLock { core in
                    // A cancellation from here on finds the continuation.
                    let isOver = core.version != version || Task.isCancelled
                    if !isOver { core.waiters[number] = continuation }
                    return isOver
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            core.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
    }
}
