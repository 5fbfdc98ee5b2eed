#if canImport(Network)
import Foundation
import HearthBase
import Network

/// The network condition of Apple platforms, from `NWPathMonitor`.
///
/// Paths that the system calls expensive (cellular, personal hotspots) or constrained (Low Data Mode) are metered.
/// Until the first reading the network counts as online and metered, so that no download begins on an unknown one.
package final class PathNetworkMonitor: NetworkMonitor, @unchecked Sendable {
    private let board = NetworkBoard()
    // Used only by `init` and `deinit`; its updates arrive on a queue of its own.
    private let monitor = NWPathMonitor()

    /// A monitor that listens until its last reference and stream are released.
    package init() {
        monitor.pathUpdateHandler = { [board] path in board.post(Self.condition(of: path)) }
        monitor.start(queue: DispatchQueue(label: "hearth.network"))
    }

    deinit {
        monitor.cancel()
        board.close()
    }

    package var condition: NetworkCondition {
        board.condition ?? NetworkCondition(isOnline: true, isMetered: true)
    }

    package func conditions() -> AsyncStream<NetworkCondition> { board.conditions(keeping: self) }

    package var source: String? { "NWPathMonitor" }

    /// A path that requires a connection, such as a VPN on demand, is online: a request establishes it.
    private static func condition(of path: NWPath) -> NetworkCondition {
        NetworkCondition(isOnline: path.status != .unsatisfied, isMetered: path.isExpensive || path.isConstrained)
    }
}
#endif
