#if canImport(CGio)
import CGio
import Foundation
import HearthBase

/// The system's network condition from GIO's `GNetworkMonitor`, which asks NetworkManager over D-Bus, or the portal
/// in a sandbox.
///
/// A thread of its own listens from the first request until the last reference and stream are released. If neither
/// NetworkManager nor the portal runs, metered networks cannot be recognized, and a missing route proves nothing
/// (there may be a proxy or a container). The condition is then `NetworkCondition.unrestricted`.
package final class GIONetworkMonitor: NetworkMonitor {
    /// The seconds to wait for the system's bus, after which the condition is assumed unrestricted. A later answer
    /// counts as a change.
    static let patience: TimeInterval = 2

    private let board: NetworkBoard
    private let listener: GIOListener
    private let hasStarted = Locked(false)

    /// A monitor that does not listen yet.
    package init() {
        board = NetworkBoard()
        listener = GIOListener(board: board)
    }

    deinit {
        listener.end()
        board.close()
    }

    package var condition: NetworkCondition {
        start()
        return board.condition ?? .unrestricted
    }

    package func conditions() -> AsyncStream<NetworkCondition> {
        start()
        return board.conditions(keeping: self)
    }

    /// `NetworkManager` or `portal`; `nil` if neither runs.
    package var source: String? { listener.source }

    private func start() {
        let isFirst = hasStarted.withLock { hasStarted in
            defer { hasStarted = true }
            return !hasStarted
        }
        guard isFirst else { return }
        let (listener, board) = (listener, board)
        Thread {
            ThreadName.current = "hearth.network"
            listener.listen()
        }.start()
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience) {
            if board.condition == nil { board.post(.unrestricted) }
        }
    }
}

/// Owns all GIO objects on its thread. It reads them after every turn of the main loop, so no C callback is needed.
private final class GIOListener: @unchecked Sendable {
    private let board: NetworkBoard
    private let isEnding = Locked(false)
    private let teller = Locked<String?>(nil)
    // Any thread may wake the context or cancel; all other GIO calls stay in `listen()`.
    private let context: OpaquePointer
    private let cancellable: UnsafeMutablePointer<GCancellable>

    init(board: NetworkBoard) {
        self.board = board
        context = g_main_context_new()
        cancellable = g_cancellable_new()
    }

    deinit {
        g_main_context_unref(context)
        g_object_unref(cancellable)
    }

    var source: String? { teller.withLock { $0 } }

    /// Makes ``listen()`` return soon.
    func end() {
        isEnding.withLock { $0 = true }
        g_cancellable_cancel(cancellable)
        g_main_context_wakeup(context)
    }

    /// Posts every change to the board until ``end()``. Blocks.
    func listen() {
        // GIO objects created after this deliver their events to this context, and so to this thread.
        g_main_context_push_thread_default(context)
        defer { g_main_context_pop_thread_default(context) }
        guard let monitor = hearth_gio_make_monitor(cancellable) else {
            Log.write(.info, "network", "no network monitor works here")
            return board.post(.unrestricted)
        }
        defer { g_object_unref(monitor) }
        let source = NetworkReading.source(typeName: String(cString: hearth_gio_type_name(monitor)))
        teller.withLock { $0 = source }
        while !isEnding.withLock({ $0 }) {
            let reading = NetworkReading(
                source: source, isAvailable: hearth_gio_is_available(monitor) != 0,
                isMetered: hearth_gio_is_metered(monitor) != 0)
            board.post(reading.condition { RoutingTable.hasDefaultRoute() })
            g_main_context_iteration(context, 1)
        }
    }
}
#endif
