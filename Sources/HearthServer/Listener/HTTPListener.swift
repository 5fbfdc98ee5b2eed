#if Server
    import CMicrohttpd
    import Foundation
    import HearthBase

    /// An HTTP/1.1 server on one address: libmicrohttpd's epoll threads call a Swift function.
    ///
    /// Listens from its creation until `stop(grace:)`; the responder makes the replies. Requests have no bodies.
    ///
    /// Unchecked because of the C pointer: it is set once, the library allows these calls from any thread but its own, and
    /// `phase` ensures a single call of `MHD_stop_daemon`.
    final class HTTPListener: @unchecked Sendable {
        /// Makes the reply to a request, on a thread of the listener whose other connections wait meanwhile.
        typealias Responder = @Sendable (ServerRequest) -> ServerReply

        /// The address with the actual port.
        let address: ListeningAddress
        private let daemon: OpaquePointer
        /// The library's threads call it until `MHD_stop_daemon` returns.
        private let core: ListenerCore
        private let phase: Locked<Phase>

        /// A quiesced library does not close the socket, so its owner does.
        private enum Phase {
            case running(ListeningSocket), quiesced(ListeningSocket), stopped
        }

        /// Binds the address and starts to serve.
        /// - Parameters:
        ///   - host: an IPv4 or IPv6 literal.
        ///   - port: 0 takes a free one.
        ///   - finished: receives each exchange at its end, on a thread of the listener.
        ///   - respond: makes the reply to a request.
        /// - Throws: ``ServerError`` with `port-in-use`, `permission`, `address-unavailable` or `cannot-listen`.
        init(
            host: String, port: UInt16, finished: (@Sendable (FinishedExchange) -> Void)? = nil,
            respond: @escaping Responder
        ) throws {
            let socket = try ListeningSocket(host: host, port: port)
            let core = ListenerCore(respond: respond, finished: finished)
            // 2 threads; 512 connections, further ones wait in the system's queue; 60 s without a byte close a connection;
            // the headers of a request and its reply have at most 16 KiB together.
            let daemon = hearth_mhd_start(
                socket.descriptor, 2, 512, 60, 16 << 10, Unmanaged.passUnretained(core).toOpaque(), handleRequest,
                beginRequest, completeRequest, takeMessage)
            guard let daemon else {
                throw ServerError(
                    .cannotListen, "the HTTP server could not be started",
                    context: ErrorContext(remedy: "The log at level debug has the reason."))
            }
            self.daemon = daemon
            self.core = core
            address = socket.address
            phase = Locked(.running(socket))
        }

        deinit { stopNow() }

        /// Accepts no more connections, waits at most `grace` for unfinished replies, then closes all connections. Later calls
        /// wait for the same end.
        func stop(grace: Duration = .seconds(5), time: TimeSource = .system) async {
            quiesce()
            await core.activity.idle(within: grace, time: time)
            do {
                try await blocking { self.stopNow() }
            } catch {
                Log.write(.error, "stopping failed: \(error)")
            }
        }

        private func quiesce() {
            phase.withLock { phase in
                guard case .running(let socket) = phase else { return }
                _ = MHD_quiesce_daemon(daemon)
                phase = .quiesced(socket)
            }
        }

        /// Joins the library's threads, which takes as long as the slowest callback.
        private func stopNow() {
            quiesce()
            phase.withLock { phase in
                guard case .quiesced = phase else { return }
                MHD_stop_daemon(daemon)
                phase = .stopped
            }
        }
    }
#endif
