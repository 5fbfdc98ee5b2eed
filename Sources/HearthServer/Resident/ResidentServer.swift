import Foundation
import HearthBase
import HearthHTTP

/// Joins the checks, the routes of the resident process and the routes of the models.
package final class ResidentServer: Sendable {
    private struct State {
        var listener: HTTPListener?
        var isReady = false
    }

    package let jobs: ResidentJobs
    let home: ServedHome
    /// The API of the page.
    let page: NativeService
    let files: PageFiles
    let stopping = Gate()
    private let metrics = ServerMetrics()
    /// The routes of the process.
    private let own = Locked(NativeRouter([], base: ""))
    private let state = Locked(State())
    private let usesTLS: Bool
    private let counted: CountedRequests
    /// Takes a line for each request that ended; `nil` for no log.
    private let log: (@Sendable (String) -> Void)?

    package init(
        _ home: ServedHome, page: NativeService, files: PageFiles = PageFiles(),
        bounds: CallerLimits.Bounds = CallerLimits.Bounds(), usesTLS: Bool = false,
        log: (@Sendable (String) -> Void)? = nil
    ) {
        self.home = home
        self.page = page
        self.files = files
        self.usesTLS = usesTLS
        self.log = log
        jobs = ResidentJobs(time: home.time)
        counted = CountedRequests(bounds, time: home.time)
        own.withLock { $0 = NativeRouter(routes, base: "") }
    }

    /// The table of the process's own routes.
    var router: NativeRouter { own.withLock { $0 } }

    /// Starts to listen.
    /// - Throws: ``ServerError``.
    package func listen(
        on sockets: [ListeningSocket], limits: ListenerLimits = .resident, identity: ServerIdentity? = nil
    ) throws -> HTTPListener {
        var limits = limits
        limits.largeBodies[ModelUpload.path] = ModelUpload.limit
        limits.largeBodies[ChatRoutes.importPath] = ChatRoutes.importLimit
        let listener = try HTTPListener(
            sockets, limits: limits, identity: identity, finished: { [self] in finish($0) },
            immediately: { [self] in check(&$0) }, respond: { [self] in await reply(to: $0) })
        state.withLock { state in
            state.listener = listener
            state.isReady = true
        }
        return listener
    }

    /// Says that the process is not ready; requests are answered further on, and connections end with their replies.
    package func beginEnding() {
        let listener = state.withLock { state in
            state.isReady = false
            return state.listener
        }
        listener?.beginEnding()
    }

    /// Ends the jobs, then the listener: unfinished replies have `grace`, then they end with a reason.
    package func stop(grace: Duration = .milliseconds(750)) async {
        beginEnding()
        let listener = state.withLock { state in
            defer { state.listener = nil }
            return state.listener
        }
        async let jobsEnd: Void = jobs.end()
        await listener?.stop(grace: grace, farewell: .milliseconds(500))
        await jobsEnd
        await home.sessions.keep()
    }

    var isReady: Bool { state.withLock { $0.isReady } }

    /// The facts of the listener.
    var load: (connections: Int, requests: Int) {
        let listener = state.withLock { $0.listener }
        return (listener?.connectionCount ?? 0, listener?.requestCount ?? 0)
    }

    func metricsText() async -> String {
        let (connections, requests) = load
        return metrics.text(connections: connections, running: requests, jobs: jobs.running.count)
            + home.metrics
    }

    // MARK: Checks

    private func need(of request: ServerRequest) -> RequestGuard.Need {
        let path = request.target.path
        switch path {
        // Without a session, the page asks for a code.
        case "/", "/hearth/open": return .nothing
        case "/health", "/ready": return .health
        case "/metrics": return .owner
        case "/openapi.json": return .scope(.chat)
        default:
            if path.hasPrefix("/page/") { return PageFiles.isOpen(path) ? .nothing : .page }
            if path.hasPrefix("/hearth/") { return .owner }
            return .scope(home.scope(request.method, path) ?? .chat)
        }
    }

    /// The present checks of this server.
    var guarding: RequestGuard {
        var checking = home.requestGuard
        checking.rules.usesTLS = usesTLS
        return checking
    }

    /// The checks before the body; sets the caller.
    private func check(_ request: inout ServerRequest) -> ServerReply? {
        let checking = guarding
        let isPreflight =
            request.method == "OPTIONS" && request.headers["Access-Control-Request-Method"] != nil
        do {
            // A preflight carries no key.
            let caller = try checking.caller(of: request, need: isPreflight ? .nothing : need(of: request))
            request.caller = caller
        } catch {
            // The question whether a page may call is answered without a key.
            if isPreflight, error.isAboutKeys { return preflight(request) }
            return error.reply
        }
        if isPreflight, checking.rules.allowedOrigins.contains(request.headers["Origin"] ?? "") {
            return preflight(request)
        }
        guard request.caller.isCounted else { return nil }
        return counted.begin(request.id, of: request.caller.name).map(CallerLimits.refusal)
    }

    private func preflight(_ request: ServerRequest) -> ServerReply {
        var reply = ServerReply(status: 204)
        reply.headers.append("Access-Control-Allow-Methods", "GET, POST, DELETE, HEAD")
        reply.headers.append(
            "Access-Control-Allow-Headers", request.headers["Access-Control-Request-Headers"] ?? "")
        reply.headers.append("Access-Control-Max-Age", "600")
        return withOrigin(reply, request)
    }

    /// The reply with the field that lets a page of a configured origin read it.
    private func withOrigin(_ reply: ServerReply, _ request: ServerRequest) -> ServerReply {
        guard let origin = request.headers["Origin"],
            home.requestGuard.rules.allowedOrigins.contains(origin)
        else { return reply }
        var reply = reply
        reply.headers.append("Access-Control-Allow-Origin", origin)
        reply.headers.append("Vary", "Origin")
        return reply
    }

    /// The reply without a field that browsers ignore, and complain of, on pages of plain http from another machine.
    private func withoutVainFields(_ reply: ServerReply, _ request: ServerRequest) -> ServerReply {
        guard !request.isLoopback, guarding.scheme(request.headers) == "http" else { return reply }
        var reply = reply
        reply.headers["Cross-Origin-Opener-Policy"] = nil
        return reply
    }

    private func reply(to request: ServerRequest) async -> ServerReply {
        let reply: ServerReply
        if let own = await ownReply(to: request) {
            reply = own
        } else if let other = await home.reply(to: request) {
            reply = other
        } else {
            reply = .failure(404, "not-found", "there is no such path")
        }
        return withOrigin(withoutVainFields(reply, request), request)
    }

    /// Counts and logs an exchange, without its text.
    private func finish(_ exchange: FinishedExchange) {
        metrics.count(exchange)
        counted.end(exchange.id)
        log?(exchange.logLine(caller: exchange.caller))
    }
}
