/// Where a monitor writes what it sees and its watchers read: keeps the newest condition and hands it to each.
///
/// For whoever makes a ``NetworkMonitor`` of another source.
public final class NetworkBoard: Sendable {
    private typealias Watcher = AsyncStream<NetworkCondition>.Continuation

    private struct State {
        var condition: NetworkCondition?
        var watchers: [UInt64: Watcher] = [:]
        var nextID: UInt64 = 0
        var isClosed = false
    }

    private let state: Locked<State>

    /// A board on which stands `condition`; empty with `nil`.
    public init(_ condition: NetworkCondition? = nil) { state = Locked(State(condition: condition)) }

    /// What stands there; `nil` while nothing does.
    public var condition: NetworkCondition? { state.withLock { $0.condition } }

    /// The watchers there are.
    public var watcherCount: Int { state.withLock { $0.watchers.count } }

    /// Writes a condition; one that stands there already tells nobody anything.
    public func post(_ condition: NetworkCondition) {
        state.withLock { state in
            guard state.condition != condition, !state.isClosed else { return }
            state.condition = condition
            // Inside the lock, so that everybody sees the changes in one order: it only queues, and calls nobody.
            for watcher in state.watchers.values { watcher.yield(condition) }
        }
    }

    /// There will be no further change: every stream ends.
    public func close() {
        let watchers = state.withLock { state in
            defer { state.watchers = [:] }
            state.isClosed = true
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.finish() }
    }

    /// What stands there, then each change. `owner` lives at least as long as the stream.
    public func conditions(keeping owner: (any AnyObject & Sendable)? = nil) -> AsyncStream<NetworkCondition> {
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
