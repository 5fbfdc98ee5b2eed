import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthTransfer

extension ResidentServer {
    /// The longest body of the process's own routes.
    private static let bodyLimit = 1 << 20

    /// The reply of the process's own routes, `nil` for other paths.
    func ownReply(to request: ServerRequest) async -> ServerReply? {
        let path = request.target.path
        let method = request.method == "HEAD" ? "GET" : request.method
        if method == "GET", path == "/", !request.isOfBrowser { return .isRunning }
        if method == "GET", path == "/" || path.hasPrefix("/page/") { return await files.reply(to: request) }
        switch "\(method) \(path)" {
        case "GET /health":
            let (isWell, models) = await home.health()
            return .json(
                .object(["status": .string(isWell ? "ok" : "failing"), "models": .integer(models)]),
                status: isWell ? 200 : 503)
        case "GET /ready":
            return isReady
                ? .json(.object(["status": .string("ready")])) : .failure(503, "ending", "the server ends")
        case "GET /metrics":
            return ServerReply(
                status: 200,
                headers: ["Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Cache-Control": "no-store"],
                body: .bytes(Array(await metricsText().utf8)))
        case "GET /hearth/open":
            let refusal = request.target.value("code").flatMap { home.sessions.refusal(of: $0, from: request.peer) }
            return files.signIn(refusal: refusal)
        case "GET /hearth/v1/status": return .json(.object(await status()))
        case "GET /hearth/v1/jobs": return .json(.array(jobs.running.map(\.facts)))
        default:
            guard path.hasPrefix("/hearth/") else { return nil }
            if request.method == "POST", let work = work(for: request) {
                do {
                    try NativeRoute.requireJSON(request)
                } catch {
                    return error.reply
                }
                return await work()
            }
            return await page.reply(to: request) ?? .failure(404, "not-found", "there is no such path")
        }
    }

    /// The work of a path that changes something; `nil` for other paths. All of them take JSON, or no body.
    private func work(for request: ServerRequest) -> (() async -> ServerReply)? {
        switch request.target.path {
        case "/hearth/open": return { await self.signIn(request) }
        case "/hearth/v1/open":
            return {
                // A code makes keys: a session, which a stranger may have got hold of, makes no codes.
                guard request.caller != .page else { return RequestGuard.Refusal.noOwner.reply }
                var reply: JSONMembers = ["path": .string(self.home.sessions.oneTimePath())]
                // The same for other machines, with a code of its own.
                reply["url"] = await self.home.invite(.printed).map { .string($0.url) }
                return .json(.object(reply))
            }
        case "/hearth/v1/reload":
            return {
                await self.home.reload()
                return .json(.object(["status": .string("read")]))
            }
        case "/hearth/v1/stop":
            return {
                self.stopping.open()
                return .json(.object(["status": .string("ending")]), status: 202)
            }
        case "/hearth/v1/pull": return { await self.pull(request) }
        case let path:
            let parts = path.split(separator: "/").map(String.init)
            guard parts.count == 5, parts[2] == "jobs", parts[4] == "cancel" else { return nil }
            return { self.cancelJob(parts[3]) }
        }
    }

    /// Exchanges a code for the two secrets of a session: the cookie, and the secret that the page keeps for its origin.
    private func signIn(_ request: ServerRequest) async -> ServerReply {
        let code: String
        do {
            let body = Data(try await request.body.collect(limit: 4096))
            code = try JSONValue(parsing: body).members?["code"]?.string ?? ""
        } catch {
            return .failure(400, "bad-body", "the body has to be an object with code")
        }
        let secrets: PageSessions.Secrets
        do throws(OneTimeCodes.Refusal) {
            secrets = try await home.sessions.redeem(
                code, from: request.peer, agent: request.headers["User-Agent"] ?? "")
        } catch {
            return error.reply
        }
        page.log.add("devices", EmptyBody())
        var reply = ServerReply.json(.object(["page": .string(secrets.page)]))
        reply.headers.append(
            "Set-Cookie",
            "\(RequestGuard.sessionCookie)=\(secrets.cookie); Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000"
                + (guarding.scheme(request.headers) == "https" ? "; Secure" : ""))
        return reply
    }

    private func status() async -> JSONMembers {
        var facts = await home.status()
        let (connections, requests) = load
        facts["process"] = .integer(ProcessIdentity.current.number)
        facts["connections"] = .integer(connections)
        // Without the request that asks.
        facts["requests"] = .integer(max(0, requests - 1))
        facts["jobs"] = .array(jobs.running.map(\.facts))
        if let bytes = SystemMemory.residentBytes { facts["memoryBytes"] = .integer(bytes) }
        return facts
    }

    // MARK: Jobs

    /// Pulls a model; the events are those of `hearth pull --format json`.
    private func pull(_ request: ServerRequest) async -> ServerReply {
        let isOwn = request.caller == .owner
        let (order, reference): (PullJob, ModelReference)
        do {
            let body = Data(try await request.body.collect(limit: Self.bodyLimit))
            order = try JSONDecoder().decode(PullJob.self, from: body)
        } catch {
            return .failure(400, "bad-body", "the body has to be an object with model")
        }
        guard order.hub == nil || isOwn else {
            return .failure(403, "local-only", "only this machine's user may name another hub")
        }
        do {
            reference = try order.reference(isOwn: isOwn)
        } catch {
            return .failure(400, "bad-model", "that is not the name of a model")
        }
        let job = jobs.start(.pull, order.model) { [home] job in
            do {
                let outcome = try await order.run(reference, in: try home.present.hearth) { job.emit($0) }
                job.emit(.done(PulledRelease(outcome)))
            } catch {
                job.emit(PullEvent(error))
            }
        }
        guard let job else { return .failure(503, "busy", "too many jobs run, or the server ends") }
        let events = job.events
        return ServerReply(
            status: 200,
            headers: [
                "Content-Type": "application/x-ndjson", "Cache-Control": "no-store", "X-Hearth-Job": job.id,
            ],
            // The job goes on if the client leaves: only its words end it.
            body: .stream { writer in for await event in events { try await writer.write(event) } })
    }

    private func cancelJob(_ id: String) -> ServerReply {
        guard jobs.cancel(id) else { return .failure(404, "unknown-job", "there is no such job") }
        return .json(.object(["status": .string("taken")]), status: 202)
    }

    /// Continues the transfers of ended processes.
    func restoreTransfers(_ report: @escaping @Sendable (ServerEvent) -> Void) {
        _ = jobs.start(.restore) { [home] _ in
            do {
                for outcome in try await home.present.hearth.manager.restoreTransfers() {
                    guard let error = outcome.error, !(error is CancellationError) else { continue }
                    report(.notContinued(outcome.plan.label, error))
                }
            } catch {
                report(.notContinued("Unfinished transfers", error))
            }
        }
    }
}

extension ServerRequest {
    /// Whether the client gets the page or opens it in a browser: programs ask for any type, or for none.
    fileprivate var isOfBrowser: Bool {
        caller.getsPage || headers.values("Accept").contains { $0.lowercased().contains("text/html") }
    }
}

extension ServerReply {
    /// The words by which programs know a server of Ollama's API.
    fileprivate static var isRunning: ServerReply {
        .bytes(Array("Ollama is running".utf8), "text/plain; charset=utf-8", headers: ["Vary": "Accept"])
    }
}
