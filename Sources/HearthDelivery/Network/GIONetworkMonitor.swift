#if canImport(CGio)
    import CGio
    import Foundation
    import HearthBase

    /// The network as the system sees it: GIO's `GNetworkMonitor`, which asks NetworkManager over D-Bus, or the portal inside a
    /// sandbox.
    ///
    /// It listens on a thread of its own, from the first question until the last reference and the last stream are gone. Where
    /// neither NetworkManager nor the portal runs, nobody knows of metered networks, and a missing route proves nothing (a proxy,
    /// a container): the condition is `NetworkCondition.unrestricted` then.
    public final class GIONetworkMonitor: NetworkMonitor {
        /// After so long without an answer of the system's bus the condition counts as unknown, in seconds. An answer that comes
        /// later is a change like any other.
        static let patience: TimeInterval = 2

        private let board: NetworkBoard
        private let listener: GIOListener
        private let hasStarted = Locked(false)

        /// A monitor that has not begun to listen.
        public init() {
            board = NetworkBoard()
            listener = GIOListener(board: board)
        }

        deinit {
            listener.end()
            board.close()
        }

        public var condition: NetworkCondition {
            start()
            return board.condition ?? .unrestricted
        }

        public func conditions() -> AsyncStream<NetworkCondition> {
            start()
            return board.conditions(keeping: self)
        }

        /// `NetworkManager`, `portal`, or `nil` where neither runs.
        public var source: String? { listener.source }

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

    /// The thread's side: owns everything of GIO's and reads it after every turn of its loop, so that no C function calls back.
    private final class GIOListener: @unchecked Sendable {
        private let board: NetworkBoard
        private let isEnding = Locked(false)
        private let teller = Locked<String?>(nil)
        // GIO allows any thread to wake a context and to cancel; everything else of GIO's stays in `listen()`.
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

        /// Has ``listen()`` return soon.
        func end() {
            isEnding.withLock { $0 = true }
            g_cancellable_cancel(cancellable)
            g_main_context_wakeup(context)
        }

        /// Writes every change on the board until ``end()``. Blocks.
        func listen() {
            // What GIO makes from here on delivers its news to this context, and so to this thread.
            g_main_context_push_thread_default(context)
            defer { g_main_context_pop_thread_default(context) }
            guard let monitor = hearth_gio_make_monitor(cancellable) else {
                Log.write(.info, "delivery.network", "no network monitor works here")
                return board.post(.unrestricted)
            }
            defer { g_object_unref(monitor) }
            let kind = NetworkReading.Kind(typeName: String(cString: hearth_gio_type_name(monitor)))
            teller.withLock { $0 = kind.source }
            while !isEnding.withLock({ $0 }) {
                let reading = NetworkReading(
                    kind: kind, isAvailable: hearth_gio_is_available(monitor) != 0,
                    isMetered: hearth_gio_is_metered(monitor) != 0)
                board.post(reading.condition { RoutingTable.read().hasDefaultRoute })
                g_main_context_iteration(context, 1)
            }
        }
    }
#endif
