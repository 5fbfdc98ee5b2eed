import Foundation
import Hearth
import HearthBase
import HearthDelivery
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
    @Test func opensEachRouteToItsCallers() async throws {
        try await ResidentFixture.with { fixture in
            #expect(try fixture.get("/health").status == 200)
            #expect(try fixture.get("/ready").status == 200)
            // Neither a program without a key nor a key that asks models reads the counts, through a proxy or not.
            for fields in [[], ["X-Forwarded-For: 192.0.2.1"]] {
                #expect([401, 403].contains(try fixture.get("/metrics", fields).status))
                let chat = fields + ["Authorization: Bearer \(fixture.chatKey)"]
                #expect(try fixture.get("/metrics", chat).status == 403)
                let admin = fields + ["Authorization: Bearer \(fixture.key)"]
                #expect(try fixture.get("/metrics", admin).text.contains("hearth_http_requests_total{status=\"2xx\"} "))
            }
            let metrics = try #require(try await ResidentClient(fixture.place).send("GET", "/metrics"))
            #expect(metrics.status == 200)
            // Without a key, this machine asks models and changes nothing.
            #expect(try fixture.get("/api/delete", method: "DELETE").status == 403)
            #expect(try fixture.get("/api/pull", method: "POST").status == 403)
            #expect(try fixture.get("/api/tags").status == 200)
            #expect(try fixture.get("/v1/models").text.contains("\"data\""))
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
            // A line comes after its reply.
            while !fixture.lines.withLock({ $0.contains { $0.contains(" local GET /v1/models 200 ") } }) {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    @Test func writesNoCodeIntoTheLog() async throws {
        try await ResidentFixture.with { fixture in
            let opened = try fixture.get(fixture.server.home.sessions.oneTimePath())
            #expect(opened.status == 200)
            #expect(fixture.lines.withLock { $0 }.contains { $0.contains(" GET /hearth/open 200 ") })
            #expect(!fixture.lines.withLock { $0 }.contains { $0.contains("code=") })
        }
    }

    @Test func answersPagesOfConfiguredOriginsOnly() async throws {
        try await ResidentFixture.with { fixture in
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
        try await ResidentFixture.with { fixture in
            let key = ["Authorization: Bearer \(fixture.key)"]
            var statuses: [Int] = []
            for _ in 0..<50 { statuses.append(try fixture.get("/hearth/v1/jobs", key).status) }
            #expect(statuses.prefix(40).allSatisfy { $0 == 200 })
            #expect(statuses.suffix(9).allSatisfy { $0 == 429 })
            #expect(try fixture.get("/hearth/v1/jobs", key).headers["retry-after"].flatMap { Int($0) } ?? 0 > 0)
            // Programs of this machine without a key are not counted.
            for _ in 0..<50 { #expect(try fixture.get("/v1/models").status == 200) }
        }
    }

    @Test func pullsAModelForItsClient() async throws {
        try await ResidentFixture.with { fixture in
            let client = ResidentClient(fixture.place)
            let reply = try #require(
                try await client.send("POST", "/hearth/v1/pull", body: Array(#"{"model": "talker"}"#.utf8)))
            #expect(reply.status == 200 && reply.job != nil)
            var last: PullEvent?
            while let line = try await reply.line() { last = PullEvent(line: line) }
            guard case .done(let release)? = last else {
                Issue.record("the last event is done, not \(String(describing: last))")
                return
            }
            #expect(release.row.family == "talker" && release.row.version == "1.0.0" && !release.wasInstalled)
            #expect(try await fixture.native.hearth.manager.installed().count == 1)
            #expect(fixture.server.jobs.running.isEmpty)
        }
    }

    @Test func reportsTheFailureOfAPull() async throws {
        try await ResidentFixture.with { fixture in
            let reply = try #require(
                try await ResidentClient(fixture.place).send(
                    "POST", "/hearth/v1/pull", body: Array(#"{"model": "absent"}"#.utf8)))
            let line = try #require(try await reply.line())
            guard case .failed(let failure)? = PullEvent(line: line) else {
                Issue.record("the event is error, not \(line)")
                return
            }
            #expect(failure.codeText == "unknown-family")
            #expect(try await reply.line() == nil)
        }
    }

    @Test func goesOnWhenTheClientLeavesAndEndsOnItsWord() async throws {
        try await ResidentFixture.with { fixture in
            let (cancelled, ended) = (Signal(), Signal())
            let job = try #require(
                fixture.server.jobs.start(.pull, "talker") { _ in
                    await withTaskCancellationHandler {
                        await cancelled.wait()
                    } onCancel: {
                        cancelled.send()
                    }
                    ended.send()
                })
            let client = ResidentClient(fixture.place)
            #expect(fixture.server.jobs.running.map(\.id) == [job.id])
            let taken = try await client.send("POST", "/hearth/v1/jobs/\(job.id)/cancel")
            #expect(taken?.status == 202)
            await ended.wait()
            #expect(try await client.send("POST", "/hearth/v1/jobs/absent/cancel")?.status == 404)
            await fixture.server.jobs.end()
            #expect(fixture.server.jobs.start(.pull) { _ in } == nil)
        }
    }

    @Test func takesNamesButNoPathsFromTheNetwork() async throws {
        try await ResidentFixture.with { fixture in
            func pull(_ body: String) throws -> (Int, String) {
                let connection = try RawConnection(fixture.address)
                try connection.send(
                    Array(
                        ("POST /hearth/v1/pull HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(fixture.key)\r\n"
                            + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
                            .utf8))
                let head = try connection.head()
                guard head.status == 200 else { return (head.status, "") }
                return (200, String(decoding: try connection.chunk(), as: UTF8.self))
            }
            let taken = try pull(#"{"model": "talker", "metered": "allow", "activate": false}"#)
            #expect(taken.0 == 200 && taken.1.hasPrefix(#"{"completedBytes":"#))
            let refused = [
                #"{"model": "/etc/passwd.gguf"}"#, #"{"model": "https://127.0.0.1:1/models.json"}"#, #"{"model": ""}"#,
                #"{"model": 5}"#, #"{"model": "talker", "bytesPerSecond": -1}"#, "rubbish",
                #"{"model": "talker", "version": "../1"}"#,
            ]
            for body in refused { #expect(try pull(body).0 == 400, "\(body)") }
            #expect(try pull(#"{"model": "hf:a/b", "hub": {"endpoint": "http://127.0.0.1:1"}}"#).0 == 403)
        }
    }

    @Test func anAppEmbedsIt() async throws {
        let folder = try TemporaryFolder()
        let hearth = try Hearth(
            home: folder.path("home"), environment: ["HEARTH_NETWORK": "unmetered"], engines: EngineRegistry())
        let (ready, ending) = (AsyncStream<URL>.makeStream(), Signal())
        var options = HearthServer.Options()
        options.port = 0
        options.report = { event in
            switch event {
            case .ready(let address, _): ready.continuation.yield(address)
            case .ending: ending.send()
            default: break
            }
        }
        let server = HearthServer(hearth, options)
        let task = Task { try await server.run() }
        var addresses = ready.stream.makeAsyncIterator()
        let address = try #require(await addresses.next())
        let reply = try await DefaultHTTPClient().execute(HTTPRequest(address.appending(path: "ready")))
        #expect(reply.status == 200)
        let second = await #expect(throws: ServerError.self) { try await HearthServer(hearth, options).run() }
        #expect(second?.code == .alreadyServing)
        task.cancel()
        try await task.value
        await ending.wait()
        // The app's models are its own.
        #expect(try await hearth.manager.installed().isEmpty)
        await hearth.close()
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
        #expect(ServiceManager(environment: environment, process: 7).descriptors.count == count)
    }
}
