import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthServer

/// A server that other machines reach: strangers get nothing, and a code opens the page.
@Suite(.timeLimit(.minutes(5))) struct NetworkGuardTests {
    /// An address of this machine that is not loopback: a client at it is another machine for the server.
    private static let host = NetworkAddresses.current().first

    /// A server on all addresses, called at the one of the network.
    private struct Fixture: Sendable {
        let server: ResidentServer
        let address: ListeningAddress

        func send(
            _ method: String, _ path: String, _ body: String? = nil, host: String? = nil, fields: [String] = []
        ) throws -> RawConnection.Response {
            let connection = try begin(method, path, body, host: host, fields: fields)
            return try connection.response(hasBody: method != "HEAD")
        }

        func begin(
            _ method: String, _ path: String, _ body: String? = nil, host: String? = nil, fields: [String] = []
        ) throws -> RawConnection {
            let connection = try RawConnection(address)
            let own = address.host.contains(":") ? "[\(address.host)]" : address.host
            var head = ["\(method) \(path) HTTP/1.1", "Host: \(host ?? own)"] + fields
            if let body { head += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"] }
            try connection.send(Array((head.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")).utf8))
            return connection
        }

        func open(_ code: String) throws -> RawConnection.Response {
            let agent = "User-Agent: Mozilla/5.0 (Linux; Android 15)"
            return try send("POST", "/hearth/open", #"{"code": "\#(code)"}"#, fields: [agent])
        }

        /// The fields of a browser that is signed in.
        func signIn() throws -> [String] {
            let reply = try open(server.home.sessions.makeCode(.displayed))
            let cookie = try #require(reply.headers["set-cookie"]).prefix { $0 != ";" }
            let secret = try #require(try JSONValue(parsing: Data(reply.body)).members?["page"]?.string)
            return ["Cookie: \(cookie)", "X-Hearth-Page: \(secret)", "Sec-Fetch-Site: same-origin"]
        }
    }

    private func with(
        time: TimeSource = .system, _ body: @Sendable (Fixture) async throws -> Void
    ) async throws {
        let host = try #require(Self.host)
        try await BlockingExecutor.run {
            let native = try await NativeFixture(time: time)
            let server = ResidentServer(native.home, page: native.service)
            let socket = try ListeningSocket(host: host.contains(":") ? "::" : "0.0.0.0", port: 0)
            let port = try #require(socket.address?.port)
            let listener = try server.listen(on: [socket])
            native.home.setListening(listener.addresses, usesTLS: false)
            do {
                try await body(Fixture(server: server, address: ListeningAddress(host: host, port: port)))
            } catch {
                await server.stop(grace: .zero)
                await native.close()
                throw error
            }
            await server.stop(grace: .zero)
            await native.close()
        }
    }

    @Test(.enabled(if: host != nil)) func aStrangerGetsNothing() async throws {
        try await with { fixture in
            for path in [
                "/page/app.js", "/page/index.html", "/metrics", "/v1/models", "/api/tags", "/api/ps", "/props",
                "/slots",
                "/hearth/v1/state", "/hearth/v1/events", "/hearth/v1/devices", "/hearth/v1/models/search?q=x",
                "/hearth/v1/keys", "/hearth/v1/status", "/hearth/v1/openapi.json",
            ] {
                let reply = try fixture.send("GET", path)
                #expect(reply.status == 401, "\(path)")
                #expect(!reply.text.contains("talker"), "\(path)")
            }
            for path in [
                "/v1/chat/completions", "/v1/messages", "/api/chat", "/completion", "/hearth/v1/devices/code",
                "/hearth/v1/open", "/hearth/v1/stop", "/hearth/v1/models/upload?name=a.gguf", "/hearth/v1/pull",
            ] {
                #expect(try fixture.send("POST", path, "{}").status == 401, "\(path)")
            }
            // Programs learn that a server is here, browsers get the page that asks for a code.
            #expect(try fixture.send("GET", "/").text.contains("Ollama is running"))
            #expect(try fixture.send("GET", "/", fields: ["Accept: text/html"]).status == 401)
            // The page that asks for a code, by the address or a name of this machine and by no other.
            #expect(try fixture.send("GET", "/hearth/open").status == 200)
            #expect(try fixture.send("GET", "/page/sign-in.js").status == 200)
            #expect(try fixture.send("GET", "/hearth/open", host: "rebound.example").status == 421)
            #expect(try fixture.send("GET", "/hearth/open", host: "192.168.1.5.example").status == 421)
            let foreign = ["Origin: http://192.168.1.66"]
            #expect(try fixture.send("POST", "/hearth/open", "{}", fields: foreign).status == 403)
        }
    }

    @Test(.enabled(if: host != nil)) func aCodeOpensThePageOnce() async throws {
        try await with { fixture in
            let invitation = try #require(await fixture.server.home.invite(.displayed))
            #expect(invitation.address == fixture.address.url)
            #expect(try fixture.open(invitation.url).status == 200)
            let again = try fixture.open(invitation.code)
            #expect(again.status == 403 && again.text.contains("\"used-code\""))
            #expect(try fixture.open("0000-0000").text.contains("\"unknown-code\""))
            let browser = try fixture.signIn()
            let made = try fixture.send("POST", "/hearth/v1/devices/code", "", fields: browser)
            #expect(made.status == 201)
            let code = try #require(try JSONValue(parsing: Data(made.body)).members?["code"]?.string)
            // A code that a page displays makes no key.
            let order = #"{"name": "thief", "scopes": ["admin"], "code": "\#(code)"}"#
            let key = try fixture.send("POST", "/hearth/v1/keys", order, fields: browser)
            #expect(key.status == 403 && key.text.contains("\"code-required\""))
            #expect(try fixture.open(code).status == 200)
        }
    }

    @Test(.enabled(if: host != nil)) func codesAreNotFoundByTrying() async throws {
        // The date stands still: a slow machine forgets no attempt.
        let date = Date(timeIntervalSince1970: 1_795_521_600)
        try await with(time: TimeSource(clock: ContinuousClock(), now: { date })) { fixture in
            let code = fixture.server.home.sessions.makeCode()
            for index in 0..<10 {
                let path = "/hearth/open?code=0000-000\(index)"
                let reply = index % 2 == 0 ? try fixture.open("0000-000\(index)") : try fixture.send("GET", path)
                #expect(reply.status == 403)
            }
            for reply in [try fixture.open(code), try fixture.send("GET", "/hearth/open?code=\(code)")] {
                #expect(reply.status == 429)
                #expect(Int(reply.headers["retry-after"] ?? "").map { (1...6).contains($0) } == true)
            }
        }
    }

    @Test(.enabled(if: host != nil)) func aRemovedDeviceIsSignedOutAtOnce() async throws {
        try await with { fixture in
            let (first, second) = (try fixture.signIn(), try fixture.signIn())
            let stream = try fixture.begin("GET", "/hearth/v1/events", fields: second)
            let listed = try JSONValue(parsing: Data(try fixture.send("GET", "/hearth/v1/devices", fields: first).body))
            #expect(listed["devices"]?.items.count == 2)
            #expect(listed["reach"]?["address"]?.text == fixture.address.url)
            let other = try #require(listed["devices"]?.items.first { $0["isThis"] == .boolean(false) })
            #expect(other["agent"]?.text == "Mozilla/5.0 (Linux; Android 15)")
            let id = try #require(other["id"]?.text)
            #expect(try fixture.send("DELETE", "/hearth/v1/devices/\(id)", fields: first).status == 200)
            // The stream ends: the whole reply can be read.
            #expect(try stream.response(hasBody: true).status == 200)
            #expect(try fixture.send("GET", "/hearth/v1/state", fields: second).status == 401)
            #expect(try fixture.send("GET", "/hearth/v1/state", fields: first).status == 200)
            #expect(try fixture.send("DELETE", "/hearth/v1/devices/\(id)", fields: first).status == 404)
        }
    }

    @Test func aServerOfThisMachineAloneInvitesNobodyElse() async throws {
        try await NativeFixture.with { fixture in
            fixture.home.setListening([ListeningAddress(host: "127.0.0.1", port: 1)], usesTLS: false)
            let refused = try await fixture.call("POST", "/devices/code")
            #expect(refused.status == 409)
            #expect(refused.body["error"]?["code"]?.text == "not-on-network")
            let listed = try await fixture.call("GET", "/devices").body
            #expect(listed["devices"]?.items.isEmpty == true && listed["reach"] == nil)
        }
    }
}
