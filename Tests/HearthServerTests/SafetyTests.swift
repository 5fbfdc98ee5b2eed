import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthServer

/// Keys, hosts, origins and limits.
struct SafetyTests {
    private static let network = ServerPeer.network(host: "192.0.2.7")
    private static let here = ServerPeer.network(host: "127.0.0.1")

    private func request(
        _ headers: HTTPHeaders, method: String = "GET", peer: ServerPeer = here
    ) -> ServerRequest {
        var headers = headers
        if headers["Host"] == nil { headers.append("Host", "127.0.0.1:4327") }
        return ServerRequest(method: method, target: "/v1/models", headers: headers, peer: peer)
    }

    private func guarding(_ keys: AccessKeys = AccessKeys()) -> RequestGuard {
        var rules = RequestGuard.Rules()
        rules.hosts = ["box.example"]
        rules.allowedOrigins = ["https://app.example"]
        rules.user = 1000
        return RequestGuard(rules: rules, keys: keys) { $0 == "session" }
    }

    private func name(
        _ headers: HTTPHeaders, method: String = "GET", peer: ServerPeer = here,
        need: RequestGuard.Need = .scope(.chat), keys: AccessKeys = AccessKeys()
    ) -> String {
        do {
            return try guarding(keys).caller(of: request(headers, method: method, peer: peer), need: need).name
        } catch {
            return "\(error)"
        }
    }

    @Test(
        arguments: [
            ("127.0.0.1", "local"), ("127.0.0.1:4327", "local"), ("localhost:1", "local"), ("[::1]:4327", "local"),
            ("LOCALHOST", "local"), ("app.localhost", "local"), ("192.168.1.2", "local"),
            ("box.example:80", "local"),
            ("evil.example", "foreignHost"), ("127.0.0.1.evil.example", "foreignHost"),
            ("localhost.evil", "foreignHost"),
            ("", "foreignHost"), ("a b", "foreignHost"), ("localhost:x", "foreignHost"),
            ("localhost:99999", "foreignHost"),
            ("user@localhost", "foreignHost"), ("[::1", "foreignHost"), ("[evil]", "foreignHost"),
            ("0x7f.1", "foreignHost"), ("localhost/", "foreignHost"),
        ])
    func checksTheHost(host: String, expected: String) {
        #expect(name(["Host": host]) == expected)
    }

    @Test(
        arguments: [
            (["Origin": "http://127.0.0.1:4327"], "local"), (["Origin": "https://app.example"], "local"),
            (["Origin": "http://127.0.0.1:80"], "foreignOrigin"),
            (["Origin": "https://evil.example"], "foreignOrigin"),
            (["Origin": "null"], "foreignOrigin"), (["Origin": ""], "foreignOrigin"),
            (["Origin": "http://127.0.0.1:4327.evil"], "foreignOrigin"),
            (["Origin": "https://app.example.evil"], "foreignOrigin"), (["Origin": "file://"], "foreignOrigin"),
            (["Origin": "http://localhost:4327"], "foreignOrigin"),
            (["Origin": "http://localhost:4327", "Host": "localhost:4327"], "local"),
            (["Origin": "http://localhost", "Host": "localhost"], "local"),
            (["Origin": "https://localhost", "Host": "localhost:443"], "local"),
            (["Sec-Fetch-Site": "cross-site"], "foreignOrigin"), (["Sec-Fetch-Site": "same-site"], "foreignOrigin"),
            (["Sec-Fetch-Site": "same-origin"], "local"), (["Sec-Fetch-Site": "none"], "local"),
            (
                ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"],
                "local"
            ),
            (
                ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"],
                "foreignOrigin"
            ),
            (["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"], "foreignOrigin"),
        ] as [(HTTPHeaders, String)])
    func checksTheOrigin(headers: HTTPHeaders, expected: String) {
        #expect(name(headers) == expected)
    }

    @Test func identifiesCallers() throws {
        var keys = AccessKeys()
        let chat = try keys.create("laptop", scopes: [.chat], at: Date())
        let admin = try keys.create("script", scopes: [.admin], at: Date())
        let ids = keys.keys.map { "key-\($0.id)" }
        func ask(_ headers: HTTPHeaders, peer: ServerPeer = Self.network, need: RequestGuard.Need = .scope(.chat))
            -> String
        {
            name(headers, peer: peer, need: need, keys: keys)
        }
        #expect(ask([:]) == "noKey")
        #expect(ask(["Authorization": "Bearer sk-x"]) == "badKey")
        #expect(ask(["Authorization": "Bearer \(chat)"]) == ids[0])
        #expect(ask(["authorization": "bearer \(chat)"]) == ids[0])
        #expect(ask(["x-api-key": chat]) == ids[0])
        #expect(ask(["x-api-key": chat], need: .scope(.models)) == "noRight(HearthServer.ServerScope.models)")
        #expect(ask(["x-api-key": chat], need: .owner) == "noOwner")
        #expect(ask(["x-api-key": admin], need: .owner) == ids[1])
        #expect(ask(["x-api-key": String(chat.dropLast())]) == "badKey")
        // On this machine the dialects are open, and clients send any text.
        #expect(ask(["Authorization": "Bearer sk-x"], peer: Self.here) == "local")
        #expect(ask(["Authorization": "Bearer \(chat)0"], peer: Self.here) == "badKey")
        #expect(ask([:], peer: Self.here, need: .owner) == "noOwner")
        #expect(ask(["X-Forwarded-For": "203.0.113.9"], peer: Self.here) == "noKey")
        #expect(ask([:], peer: .local(user: 1000), need: .owner) == "owner")
        #expect(ask(["Host": "anything"], peer: .local(user: 1000), need: .owner) == "owner")
        #expect(ask([:], peer: .local(user: 1001), need: .owner) != "owner")
        try keys.revoke(keys.keys[0].id)
        #expect(ask(["x-api-key": chat]) == "badKey")
    }

    @Test(
        arguments: [
            (["Cookie": "hearth_session=session"], "GET", "owner"),
            (["Cookie": "a=b; hearth_session=session"], "GET", "owner"),
            (["Cookie": "hearth_session=other"], "GET", "noOwner"),
            (["Cookie": "hearth_session=session"], "POST", "noOwner"),
            (["Cookie": "hearth_session=session", "Origin": "http://127.0.0.1:4327"], "POST", "owner"),
            (["Cookie": "hearth_session=session", "Origin": "https://app.example"], "POST", "noOwner"),
            (["Cookie": "hearth_session=session", "Sec-Fetch-Site": "same-origin"], "POST", "owner"),
            (["Cookie": "hearth_session=session", "Sec-Fetch-Site": "cross-site"], "POST", "foreignOrigin"),
        ] as [(HTTPHeaders, String, String)])
    func trustsTheCookieOfItsOwnPage(headers: HTTPHeaders, method: String, expected: String) {
        #expect(name(headers, method: method, need: .owner) == expected)
    }

    @Test func keepsKeysAsDigests() async throws {
        let home = try TemporaryFolder()
        let text = try await AccessKeys.change(home: home.path) {
            try $0.create("laptop", scopes: [.chat, .models], at: Date(timeIntervalSince1970: 1000))
        }
        var keys = try AccessKeys.load(home: home.path)
        let file = AccessKeys.path(home: home.path)
        let written = String(decoding: try LocalFileSystem().contents(ofFile: file, limit: 1 << 16), as: UTF8.self)
        #expect(!written.contains(text.suffix(64)))
        let mode = try FileManager.default.attributesOfItem(atPath: file.string)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(keys.key(text)?.name == "laptop")
        try home.write("server/keys.json", Data(#"{"format":2,"keys":[]}"#.utf8))
        #expect(throws: ServerError.self) { try AccessKeys.load(home: home.path) }
        let absent = Result { try keys.revoke("absent") }
        #expect(throws: ServerError.self) { try absent.get() }
        for _ in 0..<255 { _ = try keys.create("k", scopes: [], at: Date()) }
        let another = Result { try keys.create("k", scopes: [], at: Date()) }
        #expect(throws: ServerError.self) { try another.get() }
    }

    @Test func keysAtOnceAreAllKept() async throws {
        let home = try TemporaryFolder()
        let file = try KeyFile(home: home.path)
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let text = try await AccessKeys.change(home: home.path) {
                        try $0.create("k\(number)", scopes: [.chat], at: Date())
                    }
                    // A server that runs accepts the key before the command prints it.
                    #expect(file.current.key(text)?.name == "k\(number)")
                    return text
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let keys = try AccessKeys.load(home: home.path)
        #expect(texts.allSatisfy { keys.key($0) != nil } && keys.keys.count == 20)
        let first = keys.keys[0].id
        try await AccessKeys.change(home: home.path) { try $0.revoke(first) }
        #expect(texts.filter { file.current.key($0) == nil }.count == 1)
        // A damaged file leaves the keys before.
        try home.write("server/keys.json", Data("{".utf8))
        #expect(texts.filter { file.current.key($0) == nil }.count == 1)
    }

    @Test func findsNoKeyForOtherTexts() throws {
        var keys = AccessKeys()
        let texts = try (0..<20).map { try keys.create("\($0)", scopes: [.chat], at: Date()) }
        for (index, text) in texts.enumerated() { #expect(keys.key(text) == keys.keys[index]) }
        #expect((0..<5000).allSatisfy { keys.key("sk-\($0)") == nil })
    }

    @Test func boundsEachCaller() {
        var bounds = CallerLimits.Bounds()
        bounds.atOnce = 2
        bounds.perMinute = 60
        bounds.burst = 4
        var limits = CallerLimits(bounds)
        func begin(_ caller: String, _ seconds: Int = 0) -> Int? { limits.begin(caller, at: .seconds(seconds)) }
        #expect(begin("a") == nil)
        #expect(begin("a") == nil)
        #expect(begin("a") == 1)
        #expect(begin("b") == nil)
        limits.end("a")
        limits.end("a")
        #expect(begin("a") == nil)
        #expect(begin("a") == nil)
        limits.end("a")
        limits.end("a")
        #expect(begin("a") == 1)
        #expect(begin("a", 1) == nil)
    }

    @Test func opensAPrintedAddressOnce() {
        var sessions = PageSessions()
        func redeem(_ code: String, _ seconds: Int) -> String? { sessions.redeem(code, at: .seconds(seconds)) }
        func use(_ token: String, _ seconds: Int) -> Bool { sessions.use(token, at: .seconds(seconds)) }
        let code = sessions.makeCode(at: .zero)
        let late = sessions.makeCode(at: .zero)
        let token = redeem(code, 10)
        #expect(token != nil)
        #expect(redeem(code, 10) == nil)
        #expect(redeem(late, 3601) == nil)
        #expect(redeem("", 0) == nil)
        #expect(use(token ?? "", 20))
        #expect(!use("other", 20))
        #expect(!use(token ?? "", 31 * 24 * 3600 + 20))
    }
}
