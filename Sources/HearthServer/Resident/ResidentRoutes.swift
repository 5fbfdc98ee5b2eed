import Foundation
import HearthBase
import HearthHTTP

/// A command line that the resident process runs, and the terminal of its client.
package struct JobOrder: Sendable, Hashable {
    /// A stream of the client.
    package struct Terminal: Sendable, Hashable {
        package var isTerminal = false
        /// The columns of a line, `nil` without a terminal.
        package var width: Int?

        package init(isTerminal: Bool = false, width: Int? = nil) {
            self.isTerminal = isTerminal
            self.width = width
        }
    }

    package var words: [String]
    /// The client's version: another version runs its commands itself.
    package var version = ""
    package var output = Terminal()
    package var errors = Terminal()
    package var inputIsTerminal = false
    /// The client's variables that matter to the command.
    package var environment: [String: String] = [:]

    package init(words: [String]) { self.words = words }
}

extension JobOrder: Codable {}
extension JobOrder.Terminal: Codable {}

extension ResidentServer {
    /// The longest body of the process's own routes.
    private static let bodyLimit = 1 << 20

    /// The reply of the process's own routes, `nil` for other paths.
    func ownReply(to request: ServerRequest) async -> ServerReply? {
        let path = request.target.path
        let method = request.method == "HEAD" ? "GET" : request.method
        if method == "GET", path == "/" || path.hasPrefix("/page/") { return await parts.page(request) }
        switch "\(method) \(path)" {
        case "GET /health":
            let (isWell, models) = await parts.health()
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
        case "GET /hearth/open": return await open(request)
        case "GET /hearth/v1/status": return .json(.object(await status()))
        case "GET /hearth/v1/jobs": return .json(.array(jobs.running.map(\.facts)))
        case "POST /hearth/v1/open": return .json(.object(["path": .string(oneTimePath())]))
        case "POST /hearth/v1/reload":
            await parts.reload()
            return .json(.object(["status": .string("read")]))
        case "POST /hearth/v1/stop":
            parts.stop()
            return .json(.object(["status": .string("ending")]), status: 202)
        case "POST /hearth/v1/jobs": return await startJob(request)
        case "POST /hearth/v1/pull": return await pull(request)
        default:
            guard path.hasPrefix("/hearth/") else { return nil }
            if let reply = await steer(request) { return reply }
            return await parts.native(request) ?? .failure(404, "not-found", "there is no such path")
        }
    }

    private func open(_ request: ServerRequest) async -> ServerReply {
        guard let code = request.target.value("code"), let cookie = await cookie(for: code) else {
            return .text(403, "This address was used already or is too old. Ask for another: hearth serve")
        }
        var reply = ServerReply(status: 303, headers: ["Location": "/", "Cache-Control": "no-store"])
        reply.headers.append("Set-Cookie", cookie)
        return reply
    }

    private func status() async -> [String: JSONValue] {
        var facts = await parts.status()
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

    /// Runs a command line of this machine's user.
    private func startJob(_ request: ServerRequest) async -> ServerReply {
        guard case .local = request.peer else {
            return .failure(403, "local-only", "only the command line of this machine may do that")
        }
        do {
            let body = Data(try await request.body.collect(limit: Self.bodyLimit))
            let order = try JSONDecoder().decode(JobOrder.self, from: body)
            guard order.version == parts.version else {
                return .failure(409, "other-version", "this is version \(parts.version)")
            }
            return start(order)
        } catch {
            return .failure(400, "bad-order", "the body is no order")
        }
    }

    /// Pulls a model by its name; the events are those of `hearth pull --format json`.
    private func pull(_ request: ServerRequest) async -> ServerReply {
        struct Form: Decodable { let model: String }
        do {
            let body = Data(try await request.body.collect(limit: Self.bodyLimit))
            let form = try JSONDecoder().decode(Form.self, from: body)
            guard let words = parts.pull(form.model) else {
                return .failure(400, "bad-model", "that is not the name of a model")
            }
            return start(JobOrder(words: words), onlyOutput: true)
        } catch {
            return .failure(400, "bad-body", "the body has to be an object with model")
        }
    }

    private func start(_ order: JobOrder, onlyOutput: Bool = false) -> ServerReply {
        let job = jobs.start(order.words) { [parts] in await parts.run($0, order) }
        guard let job else { return .failure(503, "busy", "too many jobs run, or the server ends") }
        let events = job.events
        return ServerReply(
            status: 200,
            headers: [
                "Content-Type": "application/x-ndjson", "Cache-Control": "no-store", "X-Hearth-Job": job.id,
            ],
            // The job goes on if the client leaves: only its words end it.
            body: .stream { writer in
                if !onlyOutput { try await writer.write("{\"job\": \"\(job.id)\"}\n") }
                for await event in events {
                    if onlyOutput {
                        guard case .string(let text)? = try? JSONValue(parsing: Data(event)).members?["out"] else {
                            continue  // messages for a terminal
                        }
                        try await writer.write(text)
                    } else {
                        try await writer.write(event)
                    }
                }
            })
    }

    /// `POST /hearth/v1/jobs/ID/cancel` and `…/input`.
    private func steer(_ request: ServerRequest) async -> ServerReply? {
        let parts = request.target.path.split(separator: "/").map(String.init)
        guard request.method == "POST", parts.count == 5, parts[2] == "jobs" else { return nil }
        guard let job = jobs[parts[3]] else { return .failure(404, "unknown-job", "there is no such job") }
        switch parts[4] {
        case "cancel": job.cancel()
        case "input":
            struct Form: Decodable { let line: String? }
            do {
                let body = Data(try await request.body.collect(limit: Self.bodyLimit))
                job.takeInput(try JSONDecoder().decode(Form.self, from: body).line)
            } catch {
                return .failure(400, "bad-body", "the body has to be an object with line")
            }
        default: return nil
        }
        return .json(.object(["status": .string("taken")]), status: 202)
    }
}

extension ResidentJob {
    /// The job for listings.
    var facts: JSONValue {
        .object([
            "id": .string(id), "words": .array(words.map { .string($0) }),
            "started": .string(started.formatted(.iso8601)),
        ])
    }
}
