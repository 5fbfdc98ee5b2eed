import HearthBase
import HearthHTTP

/// A network whose condition a test decides.
package final class ScriptedNetworkMonitor: NetworkMonitor {
    private let board: NetworkBoard
    private let watched: AsyncStream<Void>.Continuation
    private let watching: AsyncStream<Void>
    private let asked: AsyncStream<Void>.Continuation
    private let asking: AsyncStream<Void>

    /// A network in that condition; with `nil`, one of which nothing is known yet.
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
    /// Those who watch now.
    package var watcherCount: Int { board.watcherCount }

    package func conditions() -> AsyncStream<NetworkCondition> {
        defer { watched.yield() }
        return board.conditions()
    }

    /// The network changes.
    package func change(to condition: NetworkCondition) { board.post(condition) }

    /// The monitor ends.
    package func end() { board.close() }

    /// Returns when a caller has asked for ``condition``, once for each time.
    package func nextReading() async {
        for await _ in asking { return }
    }

    /// Returns when a watcher has begun, once for each watcher.
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
