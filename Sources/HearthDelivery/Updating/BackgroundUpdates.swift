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
    /// - Returns: the update that runs; `nil` during shutdown.
    @discardableResult
    func start(_ family: Family, _ update: @escaping @Sendable () async -> Void) -> Task<Void, Never>? {
        state.withLock { state in
            guard state.acceptsUpdates else { return nil }
            if let running = state.tasks[family] { return running }
            let task = Task {
                await update()
                self.state.withLock { $0.tasks[family] = nil }
            }
            state.tasks[family] = task
            return task
        }
    }

    /// Starts an update of a family, unless one is running, and returns when it has ended.
    func run(_ family: Family, _ update: @escaping @Sendable () async -> Void) async {
        await start(family, update)?.value
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
