#if Server
    import CMicrohttpd
    import Foundation
    import HearthBase

    /// An HTTP/1.1 server on one address: libmicrohttpd's epoll threads in front of a Swift function.
    ///
    /// Accepts connections, keeps limits and sends replies; its responder decides what a reply contains. It listens from
    /// its creation until `stop(grace:)`.
    public final class HTTPListener: Sendable {
        /// Answers a request, on one of the listener's own threads: other connections of that thread wait meanwhile.
        public typealias Responder = @Sendable (ServerRequest) -> ServerReply

        /// An address and the limits of a listener.
        public struct Configuration: Sendable, Hashable {
            /// An IPv4 or IPv6 literal.
            public var address: String
            /// 0 takes a free one.
            public var port: UInt16
            /// Connections above this number wait in the system's queue.
            public var connectionLimit: UInt32 = 512
            /// The time without a byte in either direction after which a connection is closed.
            public var idleTimeout: Duration = .seconds(60)
            /// The bytes a request's header may have, reply header included.
            public var headerLimit = 16 << 10
            /// The bytes of body a request may have. With 0, requests that announce one are answered unread.
            public var bodyLimit = 0
            /// The threads that serve connections.
            public var threads: UInt32 = 2

            /// The usual limits for an address.
            public init(address: String = "127.0.0.1", port: UInt16 = 0) {
                self.address = address
                self.port = port
            }
        }

        /// The address with the port really taken.
        public let address: ListeningAddress
        private let daemon: Daemon
        private let core: ListenerCore

        /// Binds, and serves from now on.
        /// - Parameters:
        ///   - configuration: where to listen, and the limits.
        ///   - respond: gives the reply to a request.
        ///   - finished: receives each exchange when it is over, on one of the listener's threads.
        /// - Throws: ``ServerError`` with `port-in-use`, `permission`, `address-unavailable` or `cannot-listen`.
        public init(
            _ configuration: Configuration, finished: (@Sendable (FinishedExchange) -> Void)? = nil,
            respond: @escaping Responder
        ) throws {
            let socket = try ListeningSocket(host: configuration.address, port: configuration.port)
            core = ListenerCore(bodyLimit: configuration.bodyLimit, respond: respond, finished: finished)
            daemon = try Daemon(socket: socket, core: core, configuration: configuration)
            address = socket.address
        }

        /// Takes no more connections, waits at most `grace` for the replies on their way, then closes what is left.
        /// Later calls return once nothing runs any more.
        public func stop(grace: Duration = .seconds(5), time: TimeSource = .system) async {
            daemon.quiesce()
            await core.activity.idle(within: grace, time: time)
            await daemon.stop()
        }
    }

    /// Owns the `MHD_Daemon`.
    ///
    /// Unchecked, because of the C pointer: it is set once, the library allows these calls from any thread but its own,
    /// and `phase` lets `MHD_stop_daemon` happen exactly once.
    private final class Daemon: @unchecked Sendable {
        private let pointer: OpaquePointer
        // Both outlive the daemon: the library closes no socket it was given once it is quiesced, and its threads call
        // the core until `MHD_stop_daemon` returns.
        private let socket: ListeningSocket
        private let core: ListenerCore
        private let phase = Locked(Phase.running)

        private enum Phase { case running, quiesced, stopped }

        init(socket: ListeningSocket, core: ListenerCore, configuration: HTTPListener.Configuration) throws {
            let seconds = UInt32(clamping: Int64(configuration.idleTimeout.seconds.rounded(.up)))
            let pointer = hearth_mhd_start(
                socket.descriptor, configuration.threads, configuration.connectionLimit, seconds,
                configuration.headerLimit, Unmanaged.passUnretained(core).toOpaque(), handleRequest, beginRequest,
                completeRequest, takeMessage)
            guard let pointer else {
                throw ServerError(
                    .cannotListen, "the HTTP server could not be started",
                    context: ErrorContext(remedy: "The log at level debug has the reason."))
            }
            self.pointer = pointer
            self.socket = socket
            self.core = core
        }

        deinit { stopNow() }

        func quiesce() {
            phase.withLock { phase in
                guard phase == .running else { return }
                _ = MHD_quiesce_daemon(pointer)
                phase = .quiesced
            }
        }

        func stop() async {
            do {
                try await blocking { self.stopNow() }
            } catch {
                Log.write(.error, "stopping failed: \(error)")
            }
        }

        /// Joins the library's threads, which takes as long as the slowest callback.
        private func stopNow() {
            quiesce()
            phase.withLock { phase in
                guard phase == .quiesced else { return }
                MHD_stop_daemon(pointer)
                phase = .stopped
            }
        }
    }
#endif
