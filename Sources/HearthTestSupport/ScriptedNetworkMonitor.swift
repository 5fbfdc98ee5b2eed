import HearthBase
import HearthHTTP

/// A network whose condition a test sets.
package final class ScriptedNetworkMonitor: NetworkMonitor {
    private let board: NetworkBoard
    private let watched: AsyncStream<Void>.Continuation
    private let watching: AsyncStream<Void>
    private let asked: AsyncStream<Void>.Continuation
    private let asking: AsyncStream<Void>

    /// Makes a network with that condition; `nil` is an unknown one.
    package init(_ condition: NetworkCondition? = .unrestricted) {
        board = NetworkBoard(condition)
        (watching, watched) = AsyncStream.makeStream()
        (asking, asked) = AsyncStream.makeStream()
    }

    package var condition: NetworkCondition {
        defer { asked.yield() }
        return board.condition ?? .unrestricted
    }

    package var source: String? { "the test" }
    /// The number of present watchers.
    package var watcherCount: Int { board.watcherCount }

    package func conditions() -> AsyncStream<NetworkCondition> {
        defer { watched.yield() }
        return board.conditions()
    }

    /// Changes the condition.
    package func change(to condition: NetworkCondition) { board.post(condition) }

    /// Ends the monitor.
    package func end() { board.close() }

    /// Returns at each reading of ``condition`` by a caller, once for each reading.
    package func nextReading() async {
        for await _ in asking { return }
    }

    /// Returns when a watcher begins, once for each watcher.
    package func nextWatcher() async {
        for await _ in watching { return }
    }
}

extension NetworkCondition {
    /// Online on a metered network.
    package static let metered = NetworkCondition(isOnline: true, isMetered: true)
    /// No network.
    package static let offline = NetworkCondition(isOnline: false, isMetered: false)
}
