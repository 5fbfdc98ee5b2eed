#if Server
import CMicrohttpd
import Foundation
import HearthBase

/// An HTTP/1.1 server on one or more sockets: libmicrohttpd's epoll threads, and a task for each request.
///
/// Listens from its creation until `stop(grace:)`.
///
/// Unchecked because of the C pointers: they are set once, the library allows these calls from any thread but its own,
/// and `isStopped` ensures a single call of `MHD_stop_daemon`.
package final class HTTPListener: @unchecked Sendable {
    /// Whether this build can listen.
    package static let isAvailable = true

    /// The addresses with their actual ports, without unix sockets.
    package let addresses: [ListeningAddress]
    private let daemons: [OpaquePointer]
    /// The library's threads call it until `MHD_stop_daemon` returns.
    private let core: ListenerCore
    private let acceptor: Acceptor
    private let isStopped = Locked(false)

    /// Starts to serve. Blocks.
    /// - Parameters:
    ///   - sockets: bound sockets, closed at the end.
    ///   - identity: a certificate and its key for all network addresses; unix sockets do without TLS.
    ///   - finished: receives each exchange at its end, on a thread of the listener.
    ///   - immediately: decides replies without the body and without waiting, on a thread of the listener whose other
    ///     connections wait meanwhile; `nil` passes the request, with the caller it set, to `respond`.
    ///   - respond: makes the replies.
    /// - Throws: ``ServerError`` with `cannot-listen`.
    package init(
        _ sockets: [ListeningSocket], limits: ListenerLimits = ListenerLimits(), identity: ServerIdentity? = nil,
        time: TimeSource = .system, finished: (@Sendable (FinishedExchange) -> Void)? = nil,
        immediately: (@Sendable (inout ServerRequest) -> ServerReply?)? = nil, respond: @escaping Responder
    ) throws {
        limits.raiseOpenFiles()
        let core = ListenerCore(
            limits: limits, time: time, finished: finished, immediately: immediately, respond: respond)
        // Unix sockets do without TLS, in a daemon of their own.
        var daemons: [Bool: OpaquePointer] = [:]
        func discard() {
            for daemon in daemons.values { MHD_stop_daemon(daemon) }
            core.watch.stop()
        }
        for isNetwork in Set(sockets.map { identity != nil && $0.address != nil }) {
            guard let daemon = Self.start(core: core, limits: limits, identity: isNetwork ? identity : nil) else {
                discard()
                throw ServerError(
                    .cannotListen, "the HTTP server could not be started",
                    context: ErrorContext(
                        remedy: identity == nil
                            ? "The log at level debug has the reason."
                            : "Check that the certificate and the key are PEM files that belong together."))
            }
            daemons[isNetwork] = daemon
        }
        let doors = sockets.compactMap { socket in
            daemons[identity != nil && socket.address != nil].map { Acceptor.Door(socket: socket, daemon: $0) }
        }
        let connections = core.connections
        do {
            acceptor = try Acceptor(
                doors, hasRoom: { connections.count < limits.connections }, accepted: { connections.wasAccepted() })
        } catch {
            discard()
            throw error
        }
        self.daemons = Array(daemons.values)
        self.core = core
        addresses = sockets.compactMap(\.address)
    }

    private static func start(
        core: ListenerCore, limits: ListenerLimits, identity: ServerIdentity?
    ) -> OpaquePointer? {
        var options = hearth_mhd_options()
        options.workers = 2
        // The acceptor keeps the limit; the library divides its own between its threads.
        options.connection_limit = UInt32(limits.connections) * 2
        options.idle_seconds = UInt32(limits.silence.components.seconds)
        options.connection_memory = limits.connectionMemory
        options.context = Unmanaged.passUnretained(core).toOpaque()
        options.handler = handleRequest
        options.begin = beginRequest
        options.completed = completeRequest
        options.connection = notifyConnection
        options.message = takeMessage
        guard let identity else { return hearth_mhd_start(&options) }
        return identity.certificate.withCString { certificate in
            identity.key.withCString { key in
                options.certificate = certificate
                options.key = key
                return hearth_mhd_start(&options)
            }
        }
    }

    deinit { stopNow() }

    /// The open connections.
    package var connectionCount: Int { core.connections.count }

    /// The requests in progress.
    package var requestCount: Int { core.exchanges.count }

    /// Closes each connection after its next reply; new ones are still accepted.
    package func beginEnding() { core.ending.begin() }

    /// Accepts no more connections, which the system refuses from then on, and waits at most `grace` for unfinished
    /// replies. Then cancels the tasks of the rest, which may write their reason within `farewell`, and closes all
    /// connections. Later calls wait for the same end.
    package func stop(
        grace: Duration = .seconds(5), farewell: Duration = .seconds(2), time: TimeSource = .system
    ) async {
        await blocking { [acceptor] in
            acceptor.stop()
            acceptor.closeSockets()
        }
        core.ending.begin()
        await core.connections.lateRequests(within: min(grace, .milliseconds(250)), time: time)
        await core.exchanges.idle(within: grace, time: time)
        let tasks = core.exchanges.all.filter { $0.cancelTask() }
        if !tasks.isEmpty { await core.exchanges.idle(within: farewell, time: time) }
        await blocking { self.stopNow() }
    }

    /// Joins the library's threads, which takes as long as the slowest callback. A second caller waits for the first.
    private func stopNow() {
        acceptor.stop()
        isStopped.withLock { isStopped in
            guard !isStopped else { return }
            isStopped = true
            // The library must not be stopped with suspended connections; a broken exchange suspends none.
            core.close()
            for exchange in core.exchanges.all { exchange.breakOff() }
            for daemon in daemons { MHD_stop_daemon(daemon) }
            core.watch.stop()
            acceptor.closeSockets()
        }
    }
}
#else
import HearthBase

/// The listener of a build without the trait `Server`: it cannot be started.
package final class HTTPListener: Sendable {
    /// Whether this build can listen.
    package static let isAvailable = false

    package let addresses: [ListeningAddress] = []
    package let connectionCount = 0
    package let requestCount = 0

    /// - Throws: ``ServerError`` with `server-unavailable`.
    package init(
        _ sockets: [ListeningSocket], limits: ListenerLimits = ListenerLimits(), identity: ServerIdentity? = nil,
        time: TimeSource = .system, finished: (@Sendable (FinishedExchange) -> Void)? = nil,
        immediately: (@Sendable (inout ServerRequest) -> ServerReply?)? = nil, respond: @escaping Responder
    ) throws {
        throw ServerError(
            .serverUnavailable, "this build cannot serve",
            context: ErrorContext(remedy: "Build it with the trait Server."))
    }

    package func beginEnding() {}
    package func stop(
        grace: Duration = .seconds(5), farewell: Duration = .seconds(2), time: TimeSource = .system
    ) async {}
}
#endif
