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

    @Test func commentsOfScriptsAreNotSent() async throws {
        let script = "// a\nb(); // c\n\n    // d\nconst e = \"//\";\n//"
        let sent = PageFiles.withoutComments(Array(script.utf8))
        #expect(sent == Array("b(); // c\n\nconst e = \"//\";".utf8))
        #expect(PageFiles.withoutComments([]) == [])
        let page = PageFiles()
        for name in page.all where name.hasSuffix(".js") && !name.hasPrefix("lib/") {
            let text = String(
                decoding: try #require(await get("/page/" + name, in: page)?.collectedBody()), as: UTF8.self)
            #expect(!text.split(separator: "\n").contains { $0.drop { $0 == " " }.hasPrefix("//") }, "\(name)")
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
            for name in ["sign-in.js", "sign-in.css", "icon.svg"] {
                #expect(await get("/page/\(name)", caller: caller)?.status == 200)
            }
            #expect(await get("/page/app.js", caller: caller)?.status == 401)
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
        let secrets = sessions.begin(agent: "Phone", at: time)
        SessionFile.save(sessions, home: home.path, at: now)
        let path = home.path("server/sessions.json")
        let mode = try FileManager.default.attributesOfItem(atPath: path.string)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        let written = try String(contentsOfFile: path.string, encoding: .utf8)
        #expect(!written.contains(secrets.cookie) && !written.contains(secrets.page))
        var later = SessionFile.load(home: home.path)
        let uses = [(secrets.cookie, 60), (secrets.cookie + "x", 60), (secrets.cookie, 90 * 86_400)].map {
            later.use($0, page: secrets.page, at: time + .seconds($1))
        }
        #expect(uses == [.whole, .none, .none])
        let kept = try #require(later.kept(at: time).values.first)
        #expect(kept.agent == "Phone" && kept.created == time)
        // Sessions of format 2 stay.
        try home.write("server/sessions.json", Data(written.replacing(/"format" ?: ?3/, with: "\"format\": 2").utf8))
        var earlier = SessionFile.load(home: home.path)
        let use = earlier.use(secrets.cookie, page: secrets.page, at: time)
        #expect(use == .whole)
        // A damaged file, and one of a version whose sessions had one secret, sign browsers out.
        let old = written.replacing(/"format" ?: ?3/, with: "\"format\": 1")
        #expect(old != written)
        for text in ["{\"format\": 2, \"sessions\": [{}]}", old] {
            try home.write("server/sessions.json", Data(text.utf8))
            var damaged = SessionFile.load(home: home.path)
            let proof = damaged.use(secrets.cookie, page: secrets.page, at: time)
            #expect(proof == .none)
        }
    }
}
