import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthServer

/// Hosts, origins, keys, sessions and proxies.
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

    private func guarding(
        _ keys: AccessKeys = AccessKeys(), rules change: (inout RequestGuard.Rules) -> Void = { _ in }
    ) -> RequestGuard {
        var rules = RequestGuard.Rules()
        rules.hosts = ["box.example"]
        rules.allowedOrigins = ["https://app.example"]
        rules.user = 1000
        change(&rules)
        return RequestGuard(rules: rules, keys: keys) { cookie, page in
            cookie != "session" ? .none : page == "secret" ? .whole : .cookie
        }
    }

    private func name(
        _ headers: HTTPHeaders, method: String = "GET", peer: ServerPeer = here,
        need: RequestGuard.Need = .scope(.chat), keys: AccessKeys = AccessKeys(),
        rules: (inout RequestGuard.Rules) -> Void = { _ in }
    ) -> String {
        do {
            return try guarding(keys, rules: rules).caller(of: request(headers, method: method, peer: peer), need: need)
                .name
        } catch {
            if case .noKey = error { return "noKey" }
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
            // The same host and port with another scheme is another origin.
            (["Origin": "https://localhost", "Host": "localhost:443"], "foreignOrigin"),
            (["Origin": "https://127.0.0.1:4327"], "foreignOrigin"),
            (["Origin": "https://localhost", "Host": "localhost"], "foreignOrigin"),
            (["Origin": "HTTP://127.0.0.1:4327"], "foreignOrigin"),
            (["Origin": "https://127.0.0.1:4327", "X-Forwarded-Proto": "https"], "noKey"),
            (["Origin": "https://127.0.0.1:4327", "X-Forwarded-Proto": "https, http"], "noKey"),
            (["Origin": "http://127.0.0.1:4327", "X-Forwarded-Proto": "https"], "foreignOrigin"),
            (
                ["Origin": "https://127.0.0.1:4327", "Forwarded": "for=192.0.2.1; Proto=\"https\", for=x;proto=http"],
                "noKey"
            ),
            (["Origin": "https://127.0.0.1:4327", "Forwarded": "for=192.0.2.1"], "foreignOrigin"),
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
        // Root may do everything anyway. A user that the system does not tell is no user's equal.
        #expect(ask([:], peer: .local(user: 0), need: .owner) == "owner")
        for user in [1001, 65_534, ServerPeer.unknownUser] {
            #expect(ask([:], peer: .local(user: user), need: .owner) == "noKey")
            #expect(ask([:], peer: .local(user: user)) == "noKey")
            #expect(ask(["x-api-key": admin], peer: .local(user: user), need: .owner) == ids[1])
        }
        try keys.revoke(keys.keys[0].id)
        #expect(ask(["x-api-key": chat]) == "badKey")
    }

    @Test(
        arguments: [
            (["Cookie": "hearth_session=session"], "GET", "page"),
            (["Cookie": "a=b; hearth_session=session"], "GET", "page"),
            (["Cookie": "hearth_session=other"], "GET", "noOwner"),
            (["Cookie": "hearth_session=session"], "POST", "noOwner"),
            (["Cookie": "hearth_session=session", "Origin": "http://127.0.0.1:4327"], "POST", "page"),
            (["Cookie": "hearth_session=session", "Origin": "https://127.0.0.1:4327"], "POST", "foreignOrigin"),
            (["Cookie": "hearth_session=session", "Origin": "https://app.example"], "POST", "noOwner"),
            (["Cookie": "hearth_session=session", "Sec-Fetch-Site": "same-origin"], "POST", "page"),
            (["Cookie": "hearth_session=session", "Sec-Fetch-Site": "cross-site"], "POST", "foreignOrigin"),
        ] as [(HTTPHeaders, String, String)])
    func trustsASessionOfItsOwnPage(headers: HTTPHeaders, method: String, expected: String) {
        var headers = headers
        #expect(name(headers, method: method, need: .owner) == (expected == "page" ? "noOwner" : expected))
        for (secret, isRight) in [("secret", true), ("", false), ("session", false), ("secret2", false)] {
            headers["X-Hearth-Page"] = secret
            let found = name(headers, method: method, need: .owner)
            #expect(found == (expected == "page" && !isRight ? "noOwner" : expected), "\(secret)")
        }
    }

    @Test func aCookieAloneGetsTheFilesOfThePageAndNothingElse() {
        let cookie: HTTPHeaders = ["Cookie": "hearth_session=session"]
        #expect(name(cookie, need: .page) == "browser")
        #expect(name(cookie, peer: Self.network, need: .page) == "browser")
        #expect(name(cookie, peer: Self.network) == "noRight(HearthServer.ServerScope.chat)")
        #expect(name(cookie, peer: Self.network, need: .owner) == "noOwner")
        #expect(name(cookie, need: .scope(.models)) == "noRight(HearthServer.ServerScope.models)")
        #expect(name(["X-Hearth-Page": "secret"], need: .owner) == "noOwner")
        #expect(name(["X-Hearth-Page": "secret"], need: .page) == "noOwner")
        #expect(name(["X-Hearth-Page": "secret"], peer: Self.network, need: .page) == "noKey")
    }

    /// Without a key, programs on this machine ask models; the refusal of everything else says how to get a key.
    @Test func programsOfThisMachineChatWithoutAKey() async throws {
        #expect(name([:]) == "local")
        #expect(name([:], need: .nothing) == "local")
        for scope in [ServerScope.models, .admin] {
            let refusal = #expect(throws: RequestGuard.Refusal.self) {
                try guarding().caller(of: request([:]), need: .scope(scope))
            }
            let reply = try #require(refusal?.reply)
            #expect(reply.status == 403)
            let text = String(decoding: try await reply.collectedBody(), as: UTF8.self)
            #expect(text.contains("hearth keys create NAME --scopes \(scope.rawValue)"))
            #expect(text.contains("Authorization: Bearer"))
        }
        #expect(name([:], need: .page) == "noOwner")
        #expect(name([:], need: .owner) == "noOwner")
    }

    @Test(
        arguments: [
            "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "x-forwarded-proto", "X-Forwarded-Port",
            "X-Forwarded-Server", "X-Forwarded-Prefix", "X-Forwarded", "X_Forwarded_For", "X-Real-IP",
            "CF-Connecting-IP",
            "CF-Connecting-IPv6", "CF-Ray", "CF-Visitor", "CF-IPCountry", "CDN-Loop", "True-Client-IP", "X-Client-IP",
            "X-Cluster-Client-IP", "Fastly-Client-IP", "Fly-Client-IP", "X-Azure-ClientIP", "X-Amzn-Trace-Id",
            "X-Amz-Cf-Id", "X-Envoy-External-Address", "X-Varnish", "X-Original-Forwarded-For", "X-Cloud-Trace-Context",
            "Tailscale-User-Login", "Ngrok-Trace-Id", "X-ProxyUser-Ip", "X-Remote-Addr", "Akamai-Origin-Hop",
        ])
    func aRequestThroughAProxyNeedsAKey(field: String) {
        #expect(name([field: "203.0.113.9"]) == "noKey")
        // The presence counts, not the value.
        #expect(name([field: ""]) == "noKey")
        #expect(name([field: "127.0.0.1"]) == "noKey")
        #expect(name([field: "127.0.0.1", "Authorization": "Bearer sk-x"]) == "badKey")
        #expect(name([field: "203.0.113.9"], need: .nothing) == "anonymous")
    }

    @Test(
        arguments: [
            "Accept", "User-Agent", "Content-Type", "Accept-Encoding", "Connection", "Authorization", "x-api-key",
            "anthropic-version", "OpenAI-Organization", "X-Stainless-OS", "X-Client-Name", "X-Request-Id", "Cookie",
            "Sec-Fetch-Site", "Traceparent", "X-Title", "HTTP-Referer", "Priority", "X-Hearth-Page",
        ])
    func fieldsOfClientsAreNoSignOfAProxy(field: String) { #expect(!ProxyFields.contains(field)) }

    @Test func withRequiredKeysProgramsOfThisMachineNeedOneToo() throws {
        var keys = AccessKeys()
        let chat = try keys.create("local", scopes: [.chat], at: Date())
        func ask(_ headers: HTTPHeaders, peer: ServerPeer = Self.here, need: RequestGuard.Need = .scope(.chat))
            -> String
        {
            name(headers, peer: peer, need: need, keys: keys) { $0.requiresKeys = true }
        }
        #expect(ask([:]) == "noKey")
        #expect(ask(["Authorization": "Bearer sk-x"]) == "badKey")
        #expect(ask(["Authorization": "Bearer \(chat)"]) == "key-\(keys.keys[0].id)")
        #expect(ask([:], need: .nothing) == "anonymous")
        #expect(ask([:], peer: .local(user: 1000), need: .owner) == "owner")
        let session: HTTPHeaders = ["Cookie": "hearth_session=session", "X-Hearth-Page": "secret"]
        #expect(ask(session, need: .owner) == "page")
        #expect(ask(["Cookie": "hearth_session=session"]) == "noRight(HearthServer.ServerScope.chat)")
    }

    @Test func aServerWithTLSHasAnotherOrigin() {
        func ask(_ headers: HTTPHeaders) -> String { name(headers) { $0.usesTLS = true } }
        #expect(ask(["Origin": "https://127.0.0.1:4327"]) == "local")
        #expect(ask(["Origin": "http://127.0.0.1:4327"]) == "foreignOrigin")
        #expect(ask(["Origin": "https://localhost", "Host": "localhost:443"]) == "local")
    }
}
