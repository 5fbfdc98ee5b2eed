import Foundation
import HearthBase
import HearthHTTP
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthServer

/// Who gets an address or an answer, and what the audit log says of it.
@Suite(.timeLimit(.minutes(2)))
struct GatewayTests {
    private static let file = "https://models.example/files/models/x-v1.0.0-q4.gguf"

    @Test func aKeyGetsASignedAddress() async throws {
        let fixture = try await GatewayFixture()
        let key = try await fixture.key([.download])
        let reply = try await fixture.address(Self.file, key: key)
        #expect(reply.status == 200)
        let members = try JSONValue(parsing: Data(reply.body.utf8)).members
        #expect(
            members == [
                "url": .string("https://s3.example/bucket/origin/models/x-v1.0.0-q4.gguf?signed=1800000000+900"),
                "expiresIn": .integer(900),
            ])
        #expect(reply.headers["Cache-Control"] == "no-store")
        let header = try await fixture.ask(
            "/models/address", key: nil, body: #"{"location":"\#(Self.file)"}"#, headers: ["X-API-Key": key])
        #expect(header.status == 200)
        let line = try required(try fixture.audit().first?.members)
        #expect(line["outcome"] == .string("allowed") && line["object"] == .string("models/x-v1.0.0-q4.gguf"))
        #expect(line["key"] == .string(String(key.split(separator: "-")[1])) && line["seconds"] == .integer(900))
    }

    @Test func keysThatMayNotAreRefused() async throws {
        let fixture = try await GatewayFixture { _ in .init(pieces: ["data: \(GatewayFixture.token)\n\n"]) }
        let now = fixture.clock.time.now
        let revoked = try await fixture.key()
        try await fixture.store.revoke(String(revoked.split(separator: "-")[1]), at: now)
        let expired = try await fixture.key(expires: now.addingTimeInterval(60))
        let ending = try await fixture.key(expires: now.addingTimeInterval(61))
        fixture.clock.advance(by: .seconds(60))
        let download = try await fixture.key([.download])
        let free = try await fixture.key([.chat], tier: .free)
        let quota = try await fixture.key([.download], addresses: 1)
        #expect(try await fixture.address(Self.file, key: quota).status == 200)

        let table: [(key: String?, status: Int, code: String)] = [
            (nil, 401, "key-required"), ("", 401, "key-required"), ("sk-other", 401, "unknown-key"),
            (String(ending.dropLast()) + "x", 401, "unknown-key"), (revoked, 401, "key-revoked"),
            (expired, 401, "key-expired"), (free, 403, "scope-missing"), (quota, 429, "over-quota"),
        ]
        for (key, status, code) in table {
            let reply = try await fixture.address(Self.file, key: key)
            #expect(reply.status == status && errorCode(reply.body) == code, "\(code): \(reply.body)")
        }
        let full = try await fixture.address(Self.file, key: quota)
        let midnight = 86_400 - (1_800_000_000 + 60) % 86_400
        #expect(full.headers["Retry-After"] == "\(midnight)")
        #expect(try await fixture.address(Self.file, key: ending).status == 200)
        #expect(errorCode(try await fixture.chat(key: download).body) == "scope-missing")
        let plan = try await fixture.chat(key: free)
        #expect(plan.status == 403 && errorCode(plan.body) == "not-entitled")
        #expect(try await fixture.chat(key: ending).status == 200)
        fixture.clock.advance(by: .seconds(1))
        #expect(errorCode(try await fixture.chat(key: ending).body) == "key-expired")
        #expect(fixture.cloud.requests.withLock { $0.count } == 1)
    }

    @Test(
        arguments: [
            "", "x", "https://models.example/", "https://models.example/files", "https://models.example/files/",
            "https://models.example/other/x", "https://models.example/filesx", "http://models.example/files/x",
            "https://models.example:8443/files/x", "https://evil.example/files/x",
            "https://models.example.evil/files/x", "https://models.example@evil.example/files/x",
            "https://user@models.example/files/x", "https://models.example/files/../secret",
            "https://models.example/files/%2e%2e/secret", "https://models.example/files/a/../../secret",
            "https://models.example/files/a%2fb", "https://models.example/files/a%5Cb",
            "https://models.example/files/a//b", "https://models.example/files/.",
            "https://models.example/files/a/", "https://models.example/files/a%00",
            "https://models.example/files/%0a",
            "https://models.example/files/a?versions", "https://models.example/files/a#b",
            "https://models.example/files/%zz", "https://models.example/files/a b", "file:///files/x",
            "https://models.example/files/" + String(repeating: "x", count: 5000),
        ])
    func locationsOutsideAreNotServed(location: String) async throws {
        let fixture = try await GatewayFixture()
        let reply = try await fixture.address(location, key: try await fixture.key())
        #expect(reply.status == 404 && errorCode(reply.body) == "location-not-served", "\(reply.body)")
        #expect(try fixture.audit().allSatisfy { $0.members?["object"] == nil })
    }

    @Test(
        arguments: [
            ("x.gguf", "x.gguf"), ("a/b/x.gguf", "a/b/x.gguf"), ("a%20b+c=(1).gguf", "a%20b%2Bc%3D%281%29.gguf"),
            ("gr%C3%BC%C3%9Fe.gguf", "gr%C3%BC%C3%9Fe.gguf"), ("%61.gguf", "a.gguf"), ("a~b_c-d.e", "a~b_c-d.e"),
        ])
    func namesAreWrittenAsTheBucketReadsThem(path: String, expected: String) async throws {
        let fixture = try await GatewayFixture()
        let reply = try await fixture.address("https://MODELS.example/files/\(path)", key: try await fixture.key())
        #expect(reply.body.contains("https://s3.example/bucket/origin/\(expected)?signed="), "\(reply.body)")
    }

    @Test(
        arguments: [
            ("/models/address", "", 400), ("/models/address", "{", 400), ("/models/address", "[]", 400),
            ("/models/address", #"{"location":1}"#, 400),
            ("/models/address", #"{"location":"x","location":"y"}"#, 400),
            ("/models/address", String(repeating: " ", count: 20_000), 413),
            ("/models/address", "{\"location\":" + String(repeating: "[", count: 9000), 400),
            ("/ai/chat", "", 400), ("/ai/chat", "null", 400), ("/ai/chat", #"{"contents":[]}"#, 400),
            ("/ai/chat", #"{"contents":"x"}"#, 400),
            ("/ai/chat", "{\"contents\":[" + String(repeating: "[", count: 9000), 400),
            ("/ai/chat", "\u{FFFE}", 400), ("/", "", 404), ("/ai/chat/", "", 404), ("/AI/CHAT", "", 404),
            ("/models/address/../address", "", 404),
        ])
    func hostileBodiesAreRefused(path: String, body: String, status: Int) async throws {
        let fixture = try await GatewayFixture()
        let reply = try await fixture.ask(path, key: try await fixture.key(), body: body)
        #expect(reply.status == status, "\(reply.body)")
        #expect(fixture.cloud.requests.withLock { $0.isEmpty })
    }

    @Test func otherMethodsAreRefused() async throws {
        let fixture = try await GatewayFixture()
        for (path, method) in [("/models/address", "GET"), ("/ai/chat", "PUT"), ("/agent/health", "POST")] {
            let reply = try await fixture.ask(path, key: nil, method: method)
            #expect(reply.status == 405 && reply.headers["Allow"] != nil)
        }
        let health = try await fixture.ask("/agent/health", key: nil, method: "GET")
        #expect(health.status == 200 && health.body.contains("\"ok\""))
        await fixture.store.close()
        #expect(try await fixture.ask("/agent/health", key: nil, method: "GET").status == 503)
        let reply = try await fixture.address(
            Self.file, key: "hearth-01234567-" + String(repeating: "0", count: 64))
        #expect(reply.status == 503 && errorCode(reply.body) == "store-unavailable")
    }

    @Test func theAuditLogHasNoTextsAndNoSecrets() async throws {
        let fixture = try await GatewayFixture { _ in .init(pieces: ["data: \(GatewayFixture.token)\n\n"]) }
        let key = try await fixture.key(credits: 2)
        _ = try await fixture.chat(key: key, turn: "a private name")
        _ = try await fixture.chat(key: key, turn: "\u{1}\n\u{2028}")
        _ = try await fixture.chat(key: key)
        _ = try await fixture.chat(key: key, turn: String(repeating: "x", count: 257))
        _ = try await fixture.address(Self.file, key: key)
        _ = try await fixture.address("https://evil.example/private", key: "hearth-secret")
        let lines = try fixture.audit()
        #expect(lines.compactMap { $0.members?["outcome"] }.count == lines.count)
        let text = "\(lines)"
        for secret in ["private", "Hello", String(key.suffix(64)), "secret", GatewayFixture.cloudKey, "signed="] {
            #expect(!text.contains(secret), "\(secret)")
        }
        let mode = try FileManager.default.attributesOfItem(atPath: fixture.folder.path("audit.log").string)
        #expect(mode[.posixPermissions] as? Int == 0o600)
    }
}
