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

/// The files of the page, and the way to them.
@Suite(.timeLimit(.minutes(5))) struct PageTests {
    private func get(
        _ path: String, caller: ServerCaller = .owner, _ headers: HTTPHeaders = [:],
        in page: PageFiles = PageFiles()
    ) async -> ServerReply? {
        await page.reply(to: ServerRequest(target: path, headers: headers, caller: caller))
    }

    @Test func everyFileIsSentWithItsTypeAndTheFieldsOfSafety() async throws {
        let page = PageFiles()
        #expect(page.all.contains("index.html"))
        for name in page.all {
            let reply = try #require(await get("/page/" + name, in: page))
            #expect(reply.status == 200)
            #expect(try await reply.collectedBody().isEmpty == false)
            #expect(reply.headers["Content-Type"]?.hasPrefix("text/plain") == false, "\(name)")
            #expect(reply.headers["X-Content-Type-Options"] == "nosniff")
            #expect(reply.headers["Referrer-Policy"] == "no-referrer")
            #expect(reply.headers["Cross-Origin-Opener-Policy"] == "same-origin")
            let policy = try #require(reply.headers["Content-Security-Policy"])
            for part in ["default-src 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"] {
                #expect(policy.contains(part))
            }
            #expect(!policy.contains("unsafe"))
        }
        #expect(try await get("/", in: page)?.collectedBody() == get("/page/index.html", in: page)?.collectedBody())
    }

    @Test func aFileIsSentPackedAndOnce() async throws {
        let plain = try #require(await get("/"))
        let tag = try #require(plain.headers["ETag"])
        #expect(await get("/", ["If-None-Match": tag])?.status == 304)
        #expect(await get("/", ["If-None-Match": "W/\(tag), \"other\""])?.status == 304)
        #expect(await get("/", ["If-None-Match": "\"other\""])?.status == 200)
        let page = PageFiles()
        let name = try #require(page.all.first { $0.hasSuffix(".js") && $0 != "lib/highlight.js" })
        let packed = try #require(await get("/page/" + name, ["Accept-Encoding": "gzip, br"], in: page))
        if packed.headers["Content-Encoding"] == "gzip" {
            #expect(packed.headers["Vary"] == "Accept-Encoding")
            #expect(try await packed.collectedBody().starts(with: [0x1F, 0x8B]))
        }
    }

    @Test(
        arguments: [
            "/page/", "/page/absent.js", "/page/../index.html", "/page/%2e%2e/index.html", "/page//index.html",
            "/page/index.html/", "/page/\u{0}",
        ])
    func otherPathsHaveNoFile(path: String) async throws {
        let folder = try TemporaryFolder()
        try folder.write("index.html", Data("x".utf8))
        try folder.write("page/own.js", Data("y".utf8))
        #expect(await get(path)?.status ?? 404 == 404)
        #expect(await get(path, in: PageFiles(folder: folder.path("page")))?.status ?? 404 == 404)
    }

    @Test func aFolderReplacesTheFilesForWorkOnThePage() async throws {
        let folder = try TemporaryFolder()
        try folder.write("own.js", Data("y".utf8))
        let page = PageFiles(folder: folder.path)
        #expect(try await get("/page/own.js", in: page)?.collectedBody() == Array("y".utf8))
        #expect(await get("/", in: page)?.status == 200)
    }

    @Test func withoutASessionThePageSaysWhatToDo() async throws {
        for caller in [ServerCaller.anonymous, .thisMachine] {
            let reply = try #require(await get("/", caller: caller))
            #expect(reply.status == 401)
            let text = String(decoding: try await reply.collectedBody(), as: UTF8.self)
            #expect(text.contains("<code>hearth serve</code>"))
            #expect(reply.headers["Content-Security-Policy"] != nil)
        }
    }

    @Test func sessionsOutliveTheProcess() async throws {
        let home = try TemporaryFolder()
        var sessions = PageSessions()
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let time = Duration.seconds(now.timeIntervalSince1970)
        let code = sessions.makeCode(at: time)
        let redeemed = sessions.redeem(code, at: time)
        let token = try #require(redeemed)
        SessionFile.save(sessions, home: home.path, at: now)
        let path = home.path("server/sessions.json")
        let mode = try FileManager.default.attributesOfItem(atPath: path.string)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        #expect(!(try String(contentsOfFile: path.string, encoding: .utf8)).contains(token))
        var later = SessionFile.load(home: home.path)
        let uses = [(token, 60), (token + "x", 60), (token, 90 * 86_400)].map { token, seconds in
            later.use(token, at: time + .seconds(seconds))
        }
        #expect(uses == [true, false, false])
        try home.write("server/sessions.json", Data("{\"format\": 1, \"sessions\": [{}]}".utf8))
        var damaged = SessionFile.load(home: home.path)
        let isKnown = damaged.use(token, at: time)
        #expect(!isKnown)
    }
}

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

    @Test func thePrintedAddressLeadsToThePage() async throws {
        try await with { server, address in
            #expect(try get(address, "/").status == 401)
            #expect(try get(address, "/page/index.html").status == 403)
            let opened = try get(address, server.oneTimePath())
            #expect(opened.status == 303)
            let cookie = "Cookie: " + (opened.headers["set-cookie"] ?? "").prefix { $0 != ";" }
            let page = try get(address, "/", [cookie, "Sec-Fetch-Site: none"])
            #expect(page.status == 200)
            #expect(page.headers["content-type"]?.hasPrefix("text/html") == true)
            #expect(try get(address, "/page/index.html", [cookie, "Sec-Fetch-Site: same-origin"]).status == 200)
            #expect(try get(address, "/hearth/v1/state", [cookie]).text.contains("\"version\""))
            #expect(try get(address, "/hearth/v1/absent", [cookie]).status == 404)
        }
    }

    @Test(
        arguments: [
            ([], "127.0.0.1", 403), (["Cookie: hearth_session=wrong"], "127.0.0.1", 403),
            (["Cookie: COOKIE", "Origin: https://evil.example"], "127.0.0.1", 403),
            (["Cookie: COOKIE", "Origin: null"], "127.0.0.1", 403),
            (["Cookie: COOKIE", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"], "127.0.0.1", 403),
            (["Cookie: COOKIE", "Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors"], "127.0.0.1", 403),
            (["Cookie: COOKIE"], "rebound.example", 421), (["Cookie: COOKIE"], "127.0.0.1", 200),
            (["Cookie: other=1; COOKIE; more=2"], "127.0.0.1", 200),
            (["Authorization: Bearer hearth-00000000-aaaa"], "127.0.0.1", 401),
            (["Cookie: COOKIE", "X-Forwarded-For: 10.0.0.1"], "127.0.0.1", 200),
        ] as [([String], String, Int)])
    func onlyThePageOfThisServerMayCall(fields: [String], host: String, status: Int) async throws {
        try await with { server, address in
            let opened = try get(address, server.oneTimePath())
            let cookie = String((opened.headers["set-cookie"] ?? "").prefix { $0 != ";" })
            let sent = fields.map { $0.replacingOccurrences(of: "COOKIE", with: cookie) }
            #expect(try get(address, "/hearth/v1/state", sent, host: host).status == status)
        }
    }
}
