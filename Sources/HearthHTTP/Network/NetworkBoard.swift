import HearthBase

/// Stores the newest network condition and sends each change to all watchers.
///
/// Serves implementations of ``NetworkMonitor`` with another source.
package final class NetworkBoard: Sendable {
    private typealias Watcher = AsyncStream<NetworkCondition>.Continuation

    private struct State {
        var condition: NetworkCondition?
        var watchers: [UInt64: Watcher] = [:]
        var nextID: UInt64 = 0
        var isClosed = false
    }

    private let state: Locked<State>

    /// A board with a first condition, or none yet.
    package init(_ condition: NetworkCondition? = nil) { state = Locked(State(condition: condition)) }

    /// The newest condition; `nil` before the first.
    package var condition: NetworkCondition? { state.withLock { $0.condition } }

    /// The number of watchers.
    package var watcherCount: Int { state.withLock { $0.watchers.count } }

    /// Stores a condition; watchers receive it only if it changed.
    package func post(_ condition: NetworkCondition) {
        state.withLock { state in
            guard state.condition != condition, !state.isClosed else { return }
            state.condition = condition
            // Inside the lock, so that all watchers receive the changes in one order. `yield` only queues the value.
            for watcher in state.watchers.values { watcher.yield(condition) }
        }
    }

    /// Ends every stream; later conditions are ignored.
    package func close() {
        let watchers = state.withLock { state in
            defer { state.watchers = [:] }
            state.isClosed = true
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.finish() }
    }

    /// The current condition, then each change. `owner` lives at least as long as the stream.
    package func conditions(keeping owner: (any AnyObject & Sendable)? = nil) -> AsyncStream<NetworkCondition> {
        let (stream, watcher) = AsyncStream<NetworkCondition>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state -> UInt64? in
            if let condition = state.condition { watcher.yield(condition) }
            guard !state.isClosed else { return nil }
            state.nextID += 1
            state.watchers[state.nextID] = watcher
            return state.nextID
        }
        guard let id else {
            watcher.finish()
            return stream
        }
        watcher.onTermination = { [state] _ in
            withExtendedLifetime(owner) { state.withLock { _ = $0.watchers.removeValue(forKey: id) } }
        }
        return stream
    }
}
