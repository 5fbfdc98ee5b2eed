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
        if path == "/hearth/open" {
            if method == "POST" { return await signIn(request) }
            guard method == "GET" else { return nil }
            let refusal = request.target.value("code").flatMap { home.sessions.refusal(of: $0, from: request.peer) }
            return files.signIn(refusal: refusal)
        }
        if let reply = await router.reply(to: request) { return reply }
        guard path.hasPrefix("/hearth/") else { return nil }
        return await page.reply(to: request) ?? .failure(404, "not-found", "there is no such path")
    }

    /// Exchanges a code for the two secrets of a session: the cookie, and the secret that the page keeps for its origin.
    private func signIn(_ request: ServerRequest) async -> ServerReply {
        let code: String
        do {
            try NativeRoute.requireJSON(request)
        } catch {
            return error.reply
        }
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

    /// The facts of the process.
    func status() async -> JSONMembers {
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
    func pull(_ request: ServerRequest) async -> ServerReply {
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

    /// Begins the work of a start: unfinished transfers go on, the saved models are loaded, and newer releases of the models
    /// in use are looked for.
    func beginWork(_ report: @escaping @Sendable (ServerEvent) -> Void) {
        restoreTransfers(report)
        _ = jobs.start(.open) { [home] _ in await home.openSavedModels() }
        _ = jobs.start(.update) { [home] _ in await home.updateModelsInUse() }
    }

    /// Continues the transfers of ended processes.
    private func restoreTransfers(_ report: @escaping @Sendable (ServerEvent) -> Void) {
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
