import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Who may have what of a registry, and who sees the log-in.
@Suite(.timeLimit(.minutes(10)), .serialized) struct RegistryAccessTests {
    private let lab: RegistryLab
    private let secrets = ["user", "pass word", TestRegistry.refreshToken, "token-0"].map {
        [$0, Data($0.utf8).base64EncodedString()]
    }

    init() throws {
        lab = try RegistryLab()
        lab.publish()
    }

    @Test(arguments: [TestRegistry.Access.everybody, .tokens, .accounts, .basic])
    func whoMayHaveWhat(_ access: TestRegistry.Access) async throws {
        let registry = lab.registry
        registry.require(access)
        let needsAccount = access == .accounts || access == .basic
        #expect(await lab.code("ai/m:1") == (needsAccount ? "repository-missing" : nil))
        try lab.logIn(account: "user:wrong")
        #expect(await lab.code("ai/m:1") == (needsAccount ? "repository-missing" : nil))
        try lab.logIn()
        #expect(try await lab.pull("ai/m:1").isActive)
        try lab.logIn(#"{"identitytoken": "\#(TestRegistry.refreshToken)"}"#)
        // A refresh token is nothing for a registry without a token server.
        if access != .basic { #expect(try await lab.pull("ai/m:1", home: "other").isActive) }
    }

    @Test func oneTokenServesAllFilesOfAPull() async throws {
        let registry = lab.registry
        registry.require(.tokens)
        let layers = (0..<6).map { number in
            registry.store(
                .pattern(offset: UInt64(number), count: 1000), type: RegistryLab.gguf,
                name: "m-0000\(number + 1)-of-00006.gguf")
        }
        registry.publish("ai/parts", tag: "1", layers: layers)
        #expect(try await lab.pull("ai/parts:1").isActive)
        #expect(registry.tokens.requests.count == 1)
        let asked = try #require(registry.tokens.requests.first)
        #expect(asked.query("service") == "test%2C%20registry")
        #expect(asked.query("scope") == "repository%3Aai%2Fparts%3Apull")
    }

    @Test func aTokenThatEndsInMidTransferIsRenewed() async throws {
        let registry = lab.registry
        registry.require(.tokens)
        let content = Content.pattern(count: 4 << 20)
        lab.publish(content, tag: "2")
        let cut = Locked(false)
        registry.disturb { [weak registry] request in
            guard request.path.contains("/blobs/"), request.headers["Authorization"] == "Bearer token-0" else {
                return nil
            }
            guard
                cut.withLock({ done in
                    defer { done = true }; return !done
                })
            else { return nil }
            registry?.expireTokens()
            return FaultServer.answer(request, with: content, etag: "\"e\"").dropped(after: 1 << 20)
        }
        let release = try await lab.pull("ai/m:2")
        #expect(try lab.bytes(release, "m.gguf") == content.bytes)
        #expect(registry.tokens.requests.count == 2)
    }

    @Test func aRegistryThatRefusesForEverIsAskedTwiceForEachRequest() async throws {
        let registry = lab.registry
        registry.require(.tokens)
        registry.disturb { request in
            Reply(401).header(
                "WWW-Authenticate", #"Bearer realm="http://127.0.0.1:\#(registry.tokens.port)/token""#)
        }
        #expect(await lab.code("ai/m:1") == "repository-missing")
        #expect(registry.server.requests.count == 2)
        #expect(registry.tokens.requests.count == 1)
        // The same in mid-transfer.
        registry.disturb { request in
            request.path.contains("/blobs/")
                ? Reply(401).header(
                    "WWW-Authenticate", #"Bearer realm="http://127.0.0.1:\#(registry.tokens.port)/token""#) : nil
        }
        #expect(await lab.code("ai/m:1") == "access-denied")
        #expect(registry.server.requests.count { $0.path.contains("/blobs/") } <= 8)
    }

    @Test(arguments: ["", "{", "[]", "{}", #"{"token": ""}"#, #"{"token": 7}"#, #"{"token": "a b"}"#])
    func aTokenServerThatGivesNoTokenEndsThePull(_ answer: String) async throws {
        lab.registry.require(.tokens)
        lab.registry.disturbTokens { _ in .text(answer) }
        #expect(await lab.code("ai/m:1") == "repository-missing")
    }

    @Test func aTokenServerWithoutEndIsCutOff() async throws {
        lab.registry.require(.tokens)
        lab.registry.disturbTokens { _ in Reply(body: .pattern(count: 1 << 30)) }
        #expect(await lab.code("ai/m:1") == "repository-missing")
        #expect(lab.registry.tokens.requests.allSatisfy { $0.bytesSent < 16 << 20 })
    }

    @Test(arguments: [429, 500, 503])
    func aBusyTokenServerIsToBeAskedLater(_ status: Int) async throws {
        lab.registry.require(.tokens)
        lab.registry.disturbTokens { _ in Reply(status) }
        #expect(await lab.code("ai/m:1") == "origin-unreachable")
    }

    @Test func noHostButTheRegistryAndItsTokenServerSeesTheLogIn() async throws {
        let registry = lab.registry
        registry.require(.accounts)
        registry.redirectBlobs()
        try lab.logIn()
        let log = await RecordedLog.start(.debug)
        defer { log.stop() }
        #expect(try await lab.pull("ai/m:1").isActive)
        #expect(!registry.storage.requests.isEmpty)
        #expect(registry.storage.requests.allSatisfy { $0.headers["Authorization"] == nil })
        // The registry gets the token, and never the password.
        #expect(
            registry.server.requests.allSatisfy { [nil, "Bearer token-0"].contains($0.headers["Authorization"]) })
        let home = try HubLab.tree(lab.folder.path("home"))
        for secret in secrets.flatMap(\.self) where secret.utf8.count > 6 {
            #expect(!home.values.contains { $0.firstRange(of: Data(secret.utf8)) != nil })
            #expect(!log.messages().contains { $0.contains(secret) })
        }
    }

    @Test func aRedirectedTokenRequestIsNotFollowed() async throws {
        let other = try FaultServer { _ in .text(#"{"token": "token-0"}"#) }
        lab.registry.require(.accounts)
        lab.registry.disturbTokens { _ in .redirect("http://localhost:\(other.port)/token", status: 307) }
        for entry in [#"{"identitytoken": "\#(TestRegistry.refreshToken)"}"#, #"{"auth": "dTpw"}"#] {
            try lab.logIn(entry)
            #expect(await lab.code("ai/m:1") == "repository-missing")
        }
        #expect(other.requests.isEmpty)
    }

    @Test func aChallengeOfAStorageIsNotAnswered() async throws {
        try lab.logIn()
        let registry = lab.registry
        let storage = try FaultServer { _ in
            Reply(401).header("WWW-Authenticate", #"Bearer realm="http://127.0.0.1:\#(registry.tokens.port)/token""#)
        }
        registry.disturb { request in
            request.path.contains("/blobs/")
                ? .redirect("http://localhost:\(storage.port)\(request.path)", status: 307) : nil
        }
        #expect(await lab.code("ai/m:1") == "access-denied")
        #expect(registry.tokens.requests.isEmpty)
        #expect(storage.requests.allSatisfy { $0.headers["Authorization"] == nil })
    }

    @Test func anotherRegistryIsNotToldTheLogIn() async throws {
        try lab.logIn()
        let other = try TestRegistry()
        other.require(.accounts)
        other.publish("ai/m", tag: "1", layers: [other.store(.pattern(count: 50), type: RegistryLab.gguf)])
        let code = await HubLab.code {
            _ = try await lab.manager().pull(try ModelReference(parsing: "oci://\(other.host)/ai/m:1"))
        }
        #expect(code == "repository-missing")
        #expect((other.server.requests + other.tokens.requests).allSatisfy { $0.headers["Authorization"] == nil })
    }

    @Test func aBrokenLogInIsNamedInTheError() async throws {
        lab.registry.require(.accounts)
        try lab.folder.write("docker/config.json", Data(#"{"credsStore": "missing-helper"}"#.utf8))
        let error = await #expect(throws: CatalogError.self) { try await lab.pull("ai/m:1") }
        #expect(error?.message.contains("docker-credential-missing-helper") == true)
        // A repository for every client needs none.
        lab.registry.require(.tokens)
        #expect(try await lab.pull("ai/m:1").isActive)
    }
}
