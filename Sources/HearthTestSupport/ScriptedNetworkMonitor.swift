import HearthBase
import HearthHTTP

/// A network whose condition a test decides.
public final class ScriptedNetworkMonitor: NetworkMonitor {
    private let board: NetworkBoard
    private let watched: AsyncStream<Void>.Continuation
    private let watching: AsyncStream<Void>
    private let asked: AsyncStream<Void>.Continuation
    private let asking: AsyncStream<Void>

    /// A network in that condition; with `nil`, one of which nothing is known yet.
    public init(_ condition: NetworkCondition? = .unrestricted) {
        board = NetworkBoard(condition)
        (watching, watched) = AsyncStream.makeStream()
        (asking, asked) = AsyncStream.makeStream()
    }

    public var condition: NetworkCondition {
        defer { asked.yield() }
        return board.condition ?? .unrestricted
    }

    public var source: String? { "the test" }
    /// Those who watch now.
    public var watcherCount: Int { board.watcherCount }

    public func conditions() -> AsyncStream<NetworkCondition> {
        defer { watched.yield() }
        return board.conditions()
    }

    /// The network changes.
    public func change(to condition: NetworkCondition) { board.post(condition) }

    /// The monitor ends.
    public func end() { board.close() }

    /// Returns when a caller has asked for ``condition``, once for each time.
    public func nextReading() async {
        for await _ in asking { return }
    }

    /// Returns when a watcher has begun, once for each watcher.
    public func nextWatcher() async {
        for await _ in watching { return }
    }
}

extension NetworkCondition {
    /// Online on a metered network.
    public static let metered = NetworkCondition(isOnline: true, isMetered: true)
    /// No network.
    public static let offline = NetworkCondition(isOnline: false, isMetered: false)
}
