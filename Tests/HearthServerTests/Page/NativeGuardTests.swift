import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthServer

/// The native API and the page behind the listener and its checks.
@Suite(.timeLimit(.minutes(5))) struct NativeGuardTests {
    private func with(_ body: @Sendable (ResidentServer, ListeningAddress) async throws -> Void) async throws {
        try await BlockingExecutor.run {
            let native = try await NativeFixture()
            let server = ResidentServer(native.home, page: native.service)
            let socket = try ListeningSocket(host: "127.0.0.1", port: 0)
            guard let address = socket.address else { throw RawConnection.Failure(number: 0) }
            _ = try server.listen(on: [socket])
            do {
                try await body(server, address)
            } catch {
                await server.stop(grace: .zero)
                await native.close()
                throw error
            }
            await server.stop(grace: .zero)
            await native.close()
        }
    }

    private func get(
        _ address: ListeningAddress, _ path: String, _ fields: [String] = [], method: String = "GET",
        host: String = "127.0.0.1"
    ) throws -> RawConnection.Response {
        let connection = try RawConnection(address)
        let head = "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n\(fields.map { $0 + "\r\n" }.joined())\r\n"
        try connection.send(Array(head.utf8))
        return try connection.response(hasBody: method != "HEAD")
    }

    /// Signs a browser in, as the page does, and returns the fields of its requests.
    private func signIn(_ server: ResidentServer, _ address: ListeningAddress) throws -> (cookie: String, page: String)
    {
        let code = server.home.sessions.oneTimePath().split(separator: "=").last.map(String.init) ?? ""
        let reply = try post(address, "/hearth/open", #"{"code": "\#(code)"}"#)
        let cookie = try #require(reply.headers["set-cookie"]).prefix { $0 != ";" }
        let secret = try #require(try JSONValue(parsing: Data(reply.body)).members?["page"]?.string)
        return ("Cookie: \(cookie)", "X-Hearth-Page: \(secret)")
    }

    private func post(
        _ address: ListeningAddress, _ path: String, _ body: String, type: String? = "application/json",
        _ fields: [String] = []
    ) throws -> RawConnection.Response {
        let connection = try RawConnection(address)
        let head =
            ["POST \(path) HTTP/1.1", "Host: 127.0.0.1", "Content-Length: \(body.utf8.count)"]
            + (type.map { ["Content-Type: \($0)"] } ?? []) + fields
        try connection.send(Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8))
        return try connection.response(hasBody: true)
    }

    @Test func thePrintedAddressLeadsToThePage() async throws {
        try await with { server, address in
            // Programs learn that a server is here, browsers get the page that asks for a code.
            #expect(try get(address, "/").text.contains("Ollama is running"))
            #expect(try get(address, "/", ["Accept: text/html"]).status == 401)
            #expect(try get(address, "/page/index.html").status == 403)
            #expect(try get(address, "/page/sign-in.js").status == 200)
            // The address shows the page that sends the code; looking at it uses nothing up.
            let path = server.home.sessions.oneTimePath()
            for _ in 0..<2 {
                let opened = try get(address, path)
                #expect(opened.status == 200 && opened.headers["set-cookie"] == nil)
                #expect(opened.text.contains("/page/sign-in.js"))
            }
            #expect(try get(address, "/hearth/open").status == 200)
            #expect(try get(address, "/hearth/open?code=\(String(repeating: "0", count: 32))").status == 403)
            let (cookie, secret) = try signIn(server, address)
            let page = try get(address, "/", [cookie, "Sec-Fetch-Site: none"])
            #expect(page.status == 200)
            #expect(page.headers["content-type"]?.hasPrefix("text/html") == true)
            #expect(try get(address, "/page/index.html", [cookie, "Sec-Fetch-Site: same-origin"]).status == 200)
            #expect(try get(address, "/hearth/v1/state", [cookie, secret]).text.contains("\"version\""))
            #expect(try get(address, "/hearth/v1/absent", [cookie, secret]).status == 404)
        }
    }

    @Test func aCodeIsTakenOnceAndAsJSON() async throws {
        try await with { server, address in
            let path = server.home.sessions.oneTimePath()
            let code = String(path.split(separator: "=").last ?? "")
            for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", nil] {
                #expect(try post(address, "/hearth/open", #"{"code": "\#(code)"}"#, type: type).status == 415)
            }
            for body in ["", "[]", "{}", "{", #"{"code": 5}"#, #"{"code": ""}"#, #"{"code": "\#(code)0"}"#] {
                let reply = try post(address, "/hearth/open", body)
                #expect([400, 403].contains(reply.status) && reply.headers["set-cookie"] == nil, "\(body)")
            }
            #expect(try post(address, "/hearth/open", String(repeating: "[", count: 5000)).status == 400)
            let foreign = ["Origin: https://evil.example"]
            #expect(try post(address, "/hearth/open", #"{"code": "\#(code)"}"#, foreign).status == 403)
            // People paste the whole address.
            let reply = try post(address, "/hearth/open", #"{"code": " http://127.0.0.1:4327\#(path) "}"#)
            #expect(reply.status == 200)
            let cookie = try #require(reply.headers["set-cookie"])
            #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains("Secure"))
            #expect(try post(address, "/hearth/open", #"{"code": "\#(code)"}"#).status == 403)
            #expect(try get(address, path).status == 403)
            let next = String(server.home.sessions.oneTimePath().split(separator: "=").last ?? "")
            let secure = try post(address, "/hearth/open", #"{"code": "\#(next)"}"#, ["X-Forwarded-Proto: https"])
            #expect(secure.headers["set-cookie"]?.contains("; Secure") == true)
        }
    }

    /// Another program on this host gets the cookie, and sends from its own server what it likes.
    @Test func aStolenCookieIsWorthNothing() async throws {
        try await with { server, address in
            let (cookie, secret) = try signIn(server, address)
            let forged = [cookie, "Origin: http://127.0.0.1:\(address.port)", "Sec-Fetch-Site: same-origin"]
            let host = "127.0.0.1:\(address.port)"
            for path in ["state", "stores/notes", "settings", "keys", "chats", "events", "status", "jobs"] {
                #expect(try get(address, "/hearth/v1/\(path)", forged, host: host).status == 403, "\(path)")
            }
            #expect(try get(address, "/metrics", forged, host: host).status == 403)
            let order = #"{"name": "thief", "scopes": ["admin"]}"#
            for page in [[], ["X-Hearth-Page: "], ["X-Hearth-Page: \(String(repeating: "0", count: 64))"]] {
                #expect(try post(address, "/hearth/v1/keys", order, [cookie] + page).status == 403)
                #expect(try post(address, "/hearth/v1/open", "", type: nil, [cookie] + page).status == 403)
                #expect(try post(address, "/hearth/v1/stop", "", type: nil, [cookie] + page).status == 403)
            }
            // The whole session makes a key with a code alone, and makes no codes.
            let session = [cookie, secret, "Sec-Fetch-Site: same-origin"]
            #expect(try post(address, "/hearth/v1/open", "", type: nil, session).status == 403)
            for code in ["", "0", "code="] {
                let body = #"{"name": "thief", "scopes": ["admin"], "code": "\#(code)"}"#
                let refused = try post(address, "/hearth/v1/keys", body, session)
                #expect(refused.status == 403 && refused.text.contains("\"code-required\""))
            }
            #expect(try post(address, "/hearth/v1/keys", order, session).text.contains("\"code-required\""))
            #expect(try get(address, "/hearth/v1/keys", session).text.contains("\"keys\":[]"))
            let path = server.home.sessions.oneTimePath()
            let confirmed = #"{"name": "own", "scopes": ["chat"], "code": "\#(path)"}"#
            #expect(try post(address, "/hearth/v1/keys", confirmed, session).status == 201)
            #expect(try post(address, "/hearth/v1/keys", confirmed, session).status == 403)
        }
    }

    @Test(
        arguments: [
            ([], "127.0.0.1", 403), (["Cookie: hearth_session=wrong"], "127.0.0.1", 403),
            (["Cookie: COOKIE", "Origin: https://evil.example"], "127.0.0.1", 403),
            (["Cookie: COOKIE", "Origin: null"], "127.0.0.1", 403),
            (["Cookie: COOKIE", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"], "127.0.0.1", 403),
            (["Cookie: COOKIE", "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors"], "127.0.0.1", 403),
            (["Cookie: COOKIE", "X-Hearth-Page: PAGE"], "rebound.example", 421),
            (["Cookie: COOKIE", "X-Hearth-Page: PAGE"], "127.0.0.1", 200), (["Cookie: COOKIE"], "127.0.0.1", 403),
            (["X-Hearth-Page: PAGE"], "127.0.0.1", 403), (["Cookie: COOKIE", "X-Hearth-Page: 0"], "127.0.0.1", 403),
            (["Cookie: COOKIE", "X-Hearth-Page: PAGE", "Origin: https://127.0.0.1"], "127.0.0.1", 403),
            (["Cookie: other=1; COOKIE; more=2", "X-Hearth-Page: PAGE"], "127.0.0.1", 200),
            (["Authorization: Bearer hearth-00000000-aaaa"], "127.0.0.1", 401),
            (["Cookie: COOKIE", "X-Hearth-Page: PAGE", "X-Forwarded-For: 10.0.0.1"], "127.0.0.1", 200),
            (["Cookie: COOKIE", "X-Forwarded-For: 10.0.0.1"], "127.0.0.1", 403),
        ] as [([String], String, Int)])
    func onlyThePageOfThisServerMayCall(fields: [String], host: String, status: Int) async throws {
        try await with { server, address in
            let (cookie, secret) = try signIn(server, address)
            let sent = fields.map {
                $0.replacingOccurrences(of: "COOKIE", with: cookie.dropFirst("Cookie: ".count))
                    .replacingOccurrences(of: "PAGE", with: secret.dropFirst("X-Hearth-Page: ".count))
            }
            #expect(try get(address, "/hearth/v1/state", sent, host: host).status == status)
        }
    }
}
