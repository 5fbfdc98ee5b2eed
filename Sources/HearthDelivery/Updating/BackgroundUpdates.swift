import HearthBase
import HearthCatalog

/// Runs updates in the background, at most one for each family, until an app's end stops them.
final class BackgroundUpdates: Sendable {
    private struct State {
        var tasks: [Family: Task<Void, Never>] = [:]
        /// Cleared when shutdown begins; no update starts after it.
        var acceptsUpdates = true
    }

    private let state = Locked(State())

    /// Starts an update of a family, unless one is running.
    func start(_ family: Family, _ update: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard state.acceptsUpdates, state.tasks[family] == nil else { return }
            state.tasks[family] = Task {
                await update()
                self.state.withLock { $0.tasks[family] = nil }
            }
        }
    }

    /// Waits for the updates under way.
    func finish() async {
        for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
    }

    /// Cancels the updates under way, starts no others, and waits for their end.
    func stop() async {
        let tasks = state.withLock { state in
            state.acceptsUpdates = false
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }
}
