import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthServer

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The resident process: its place, its routes, its jobs.
@Suite(.timeLimit(.minutes(5)))
struct ResidentTests {
    /// A resident server of a home, on its unix socket and a free port.
    private final class Fixture: Sendable {
        let home: TemporaryFolder
        let place: ResidentPlace
        let server: ResidentServer
        let address: ListeningAddress
        let key: String
        let stopped = Signal()
        let lines = Locked<[String]>([])

        init(_ run: @escaping @Sendable (ResidentJob, JobOrder) async -> Int32) throws {
            home = try TemporaryFolder()
            place = ResidentPlace(home: home.path, environment: [:])
            try place.prepare()
            var keys = AccessKeys()
            key = try keys.create("test", scopes: [.admin], at: Date())
            var rules = RequestGuard.Rules()
            rules.user = getuid()
            rules.allowedOrigins = ["https://app.example"]
            let (stopped, lines) = (stopped, lines)
            let parts = ResidentServer.Parts(
                models: { request in
                    request.target.path == "/v1/models" ? .text(200, "models for \(request.caller.name)") : nil
                }, scope: { _, path in path == "/v1/models" ? .chat : nil }, run: run,
                pull: { $0.hasPrefix("/") ? nil : ["pull", $0] }, stop: { stopped.send() },
                log: { line in lines.withLock { $0.append(line) } })
            var bounds = CallerLimits.Bounds()
            bounds.burst = 40
            bounds.perMinute = 1
            server = ResidentServer(
                rules: rules, keys: keys, bounds: bounds, usesTLS: false, time: .system, parts: parts)
            let tcp = try ListeningSocket(host: "127.0.0.1", port: 0)
            guard let address = tcp.address else { throw RawConnection.Failure(number: 0) }
            self.address = address
            _ = try server.listen(on: [tcp, ListeningSocket(unix: place.socket)])
        }

        func get(_ path: String, method: String = "GET", _ fields: [String] = []) throws -> RawConnection.Response {
            let connection = try RawConnection(address)
            try connection.send(
                Array(
                    "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\(fields.map { $0 + "\r\n" }.joined())\r\n"
                        .utf8))
            return try connection.response(hasBody: method != "HEAD")
        }
    }

    private func with(
        run: @escaping @Sendable (ResidentJob, JobOrder) async -> Int32 = { _, _ in 0 },
        _ body: @Sendable (Fixture) async throws -> Void
    ) async throws {
        try await BlockingExecutor.run {
            let fixture = try Fixture(run)
            do {
                try await body(fixture)
            } catch {
                await fixture.server.stop(grace: .zero)
                throw error
            }
            await fixture.server.stop(grace: .zero)
        }
    }

    @Test func opensEachRouteToItsCallers() async throws {
        try await with { fixture in
            #expect(try fixture.get("/health").status == 200)
            #expect(try fixture.get("/ready").status == 200)
            #expect(try fixture.get("/metrics").text.contains("hearth_http_requests_total{status=\"2xx\"} "))
            #expect(try fixture.get("/v1/models").text == "models for local\n")
            #expect(try fixture.get("/absent").status == 404)
            #expect(try fixture.get("/hearth/v1/status").status == 403)
            #expect(try fixture.get("/hearth/v1/status", ["Authorization: Bearer \(fixture.key)"]).status == 200)
            #expect(try fixture.get("/v1/models", ["Origin: https://evil.example"]).status == 403)
            let client = ResidentClient(fixture.place)
            let reply = try #require(try await client.send("GET", "/hearth/v1/status"))
            #expect(reply.status == 200)
            let facts = try JSONValue(parsing: Data(try await reply.rest())).members
            #expect(facts?["process"] == .integer(getpid()))
            #expect(await client.isServing())
            let mode = try FileManager.default.attributesOfItem(atPath: fixture.place.socket.string)[
                .posixPermissions]
            #expect(mode as? Int == 0o600)
        }
    }

    @Test func signsABrowserInOnce() async throws {
        try await with { fixture in
            let path = fixture.server.oneTimePath()
            let opened = try fixture.get(path)
            #expect(opened.status == 303)
            #expect(opened.headers["location"] == "/")
            let cookie = try #require(opened.headers["set-cookie"])
            #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
            #expect(try fixture.get(path).status == 403)
            let pair = cookie.prefix { $0 != ";" }
            #expect(try fixture.get("/hearth/v1/status", ["Cookie: \(pair)"]).status == 200)
            let foreign = ["Cookie: \(pair)", "Origin: https://evil.example"]
            #expect(try fixture.get("/hearth/v1/stop", method: "POST", foreign).status == 403)
            // The log has no code.
            #expect(!fixture.lines.withLock { $0 }.contains { $0.contains("code=") })
        }
    }

    @Test func answersPagesOfConfiguredOriginsOnly() async throws {
        try await with { fixture in
            let preflight = [
                "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization",
            ]
            let ours = try fixture.get("/v1/models", method: "OPTIONS", preflight + ["Origin: https://app.example"])
            #expect(ours.status == 204)
            #expect(ours.headers["access-control-allow-origin"] == "https://app.example")
            #expect(ours.headers["access-control-allow-headers"] == "authorization")
            let evil = try fixture.get(
                "/v1/models", method: "OPTIONS", preflight + ["Origin: https://evil.example"])
            #expect(evil.status == 403)
            #expect(evil.headers["access-control-allow-origin"] == nil)
            let get = try fixture.get("/v1/models", ["Origin: https://app.example"])
            #expect(get.headers["access-control-allow-origin"] == "https://app.example")
            #expect(try fixture.get("/v1/models").headers["access-control-allow-origin"] == nil)
        }
    }

    @Test func slowsDownACallerWithManyRequests() async throws {
        try await with { fixture in
            let key = ["Authorization: Bearer \(fixture.key)"]
            var statuses: [Int] = []
            for _ in 0..<50 { statuses.append(try fixture.get("/hearth/v1/jobs", key).status) }
            #expect(statuses.prefix(40).allSatisfy { $0 == 200 })
            #expect(statuses.suffix(9).allSatisfy { $0 == 429 })
            #expect(try fixture.get("/hearth/v1/jobs", key).headers["retry-after"].flatMap { Int($0) } ?? 0 > 0)
            // This machine's own programs are not counted.
            for _ in 0..<50 { #expect(try fixture.get("/v1/models").status == 200) }
        }
    }

    @Test func runsAJobForItsClient() async throws {
        let run: @Sendable (ResidentJob, JobOrder) async -> Int32 = { job, order in
            job.write("words: \(order.words.joined(separator: ","))\n", to: .output)
            job.write("width \(order.errors.width ?? 0)", to: .errors)
            job.askForInput()
            for await line in job.input {
                job.write("read \(line)", to: .errors)
                break
            }
            return 75
        }
        try await with(run: run) { fixture in
            var order = JobOrder(words: ["pull", "x"])
            order.errors = .init(isTerminal: true, width: 77)
            let client = ResidentClient(fixture.place)
            let reply = try #require(
                try await client.send("POST", "/hearth/v1/jobs", body: Array(try JSONEncoder().encode(order))))
            #expect(reply.status == 200)
            func next() async throws -> [String: JSONValue] {
                try JSONValue(parsing: Data(try #require(try await reply.line()).utf8)).members ?? [:]
            }
            guard case .string(let id)? = try await next()["job"] else {
                Issue.record("the first event names the job")
                return
            }
            #expect(try await next() == ["out": .string("words: pull,x\n")])
            #expect(try await next() == ["err": .string("width 77")])
            #expect(try await next() == ["input": .boolean(true)])
            let taken = try await client.send(
                "POST", "/hearth/v1/jobs/\(id)/input", body: Array(#"{"line":"yes"}"#.utf8))
            #expect(taken?.status == 202)
            #expect(try await next() == ["err": .string("read yes")])
            #expect(try await next() == ["end": .integer(75)])
            #expect(try await reply.line() == nil)
        }
    }

    @Test func leavesCommandsOfAnotherVersionToThem() async throws {
        try await with { fixture in
            var order = JobOrder(words: ["pull"])
            order.version = "another"
            let reply = try await ResidentClient(fixture.place).send(
                "POST", "/hearth/v1/jobs", body: Array(try JSONEncoder().encode(order)))
            #expect(reply?.status == 409)
        }
    }

    @Test func goesOnWhenTheClientLeavesAndEndsOnItsWord() async throws {
        let (left, ended) = (Signal(), Signal())
        let run: @Sendable (ResidentJob, JobOrder) async -> Int32 = { job, _ in
            await left.wait()
            let cancelled = Signal()
            job.onCancel { cancelled.send() }
            job.write("still here", to: .output)
            await cancelled.wait()
            ended.send()
            return 130
        }
        try await with(run: run) { fixture in
            let client = ResidentClient(fixture.place)
            let reply = try #require(
                try await client.send(
                    "POST", "/hearth/v1/jobs", body: Array(try JSONEncoder().encode(JobOrder(words: ["pull"])))))
            _ = try await reply.line()
            reply.close()
            let job = try #require(fixture.server.jobs.running.first)
            left.send()
            let taken = try await client.send("POST", "/hearth/v1/jobs/\(job.id)/cancel")
            #expect(taken?.status == 202)
            await ended.wait()
            #expect(try await client.send("POST", "/hearth/v1/jobs/absent/cancel")?.status == 404)
        }
    }

    @Test func takesNamesButNoPathsFromTheNetwork() async throws {
        let run: @Sendable (ResidentJob, JobOrder) async -> Int32 = { job, order in
            job.write("{\"event\":\"done\",\"words\":\"\(order.words.joined(separator: " "))\"}\n", to: .output)
            job.write("for people", to: .errors)
            return 0
        }
        try await with(run: run) { fixture in
            func pull(_ body: String) throws -> (Int, String) {
                let connection = try RawConnection(fixture.address)
                try connection.send(
                    Array(
                        ("POST /hearth/v1/pull HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(fixture.key)\r\n"
                            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8))
                let head = try connection.head()
                guard head.status == 200 else { return (head.status, "") }
                return (200, String(decoding: try connection.chunk(), as: UTF8.self))
            }
            #expect(try pull(#"{"model":"tiny"}"#) == (200, "{\"event\":\"done\",\"words\":\"pull tiny\"}\n"))
            #expect(try pull(#"{"model":"/etc/passwd"}"#).0 == 400)
            #expect(try pull(#"{"model":5}"#).0 == 400)
            #expect(try pull("rubbish").0 == 400)
            let order = try RawConnection(fixture.address)
            try order.send(
                Array(
                    ("POST /hearth/v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(fixture.key)\r\n"
                        + "Content-Length: 2\r\n\r\n{}").utf8))
            #expect(try order.response().status == 403)
        }
    }

    @Test func isOneForEachHome() throws {
        let home = try TemporaryFolder()
        let place = ResidentPlace(home: home.path, environment: [:])
        try place.prepare()
        let claim = try #require(try place.claim(time: .system))
        #expect(try place.claim(time: .system) == nil)
        #expect(try place.holder(time: .system)?.number == getpid())
        claim.release()
        #expect(try place.holder(time: .system) == nil)
        #expect(try place.claim(time: .system) != nil)
    }

    @Test(
        arguments: [
            ("/home/u/.local/share/hearth", [:], "/home/u/.local/share/hearth/server/socket"),
            (
                "/" + String(repeating: "h", count: 90), ["XDG_RUNTIME_DIR": "/run/user/1000"],
                "/run/user/1000/hearth-"
            ),
            ("/" + String(repeating: "h", count: 90), ["XDG_RUNTIME_DIR": "relative"], "/tmp/hearth-"),
            ("/" + String(repeating: "h", count: 90), [:], "/tmp/hearth-"),
        ] as [(String, [String: String], String)])
    func keepsThePathOfTheSocketShort(home: String, environment: [String: String], beginning: String) {
        let socket = ResidentPlace(home: Path(home), environment: environment).socket
        #expect(socket.string.hasPrefix(beginning))
        #expect(socket.string.utf8.count < 100)
    }

    @Test func tellsTheServiceManager() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("notify")
        let receiver = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(receiver) }
        #expect(try withUnixAddress(path) { bind(receiver, $0, $1) } == 0)
        ServiceManager(environment: ["NOTIFY_SOCKET": path.string]).tell("READY=1", "STATUS=Serving")
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = recv(receiver, &bytes, bytes.count, 0)
        #expect(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self) == "READY=1\nSTATUS=Serving")
        ServiceManager(environment: [:]).tell("READY=1")
    }

    @Test(
        arguments: [
            (["LISTEN_PID": "7", "LISTEN_FDS": "2"], 2), (["LISTEN_PID": "8", "LISTEN_FDS": "2"], 0),
            (["LISTEN_FDS": "2"], 0), (["LISTEN_PID": "7"], 0), (["LISTEN_PID": "7", "LISTEN_FDS": "-4"], 0),
            (["LISTEN_PID": "7", "LISTEN_FDS": "x"], 0),
        ] as [([String: String], Int)])
    func takesSocketsMeantForIt(environment: [String: String], count: Int) {
        #expect(ServiceManager(environment: environment, process: 7).socketCount == count)
    }
}
