import Foundation
import HearthBase
import HearthHTTP
import Testing

@testable import HearthServer

/// Requests that no honest page sends.
@Suite(.timeLimit(.minutes(5))) struct NativeRefusalTests {
    private static let bodies = [
        "", "[]", "null", "\"text\"", "{", "{\"a\": }", "{\"unknownField\": 1}", "{\"\": {}}",
        "{\"reference\": 5, \"text\": [], \"title\": {}, \"name\": 1, \"scopes\": \"all\", \"decision\": \"maybe\"}",
        String(repeating: "[", count: 50_000), "{\"text\": \"\(String(repeating: "a", count: 600_000))\"}",
        "{\"a\": \(String(repeating: "{\"a\": ", count: 5000))1\(String(repeating: "}", count: 5001))",
        "\u{0}\u{1}",
    ]
    private static let names = [
        "unknown", "..", "%2e%2e", "a%00b", "'; DROP TABLE message", "-1", "ü", String(repeating: "a", count: 400),
        "x y",
    ]

    /// Every route with hostile bodies and unknown ids: a refusal with a code and a sentence, and never a failure of the
    /// server.
    @Test func everyRouteRefusesWhatItCannotUse() async throws {
        try await NativeFixture.with { fixture in
            for route in fixture.service.routes where !["/events", "/data/chats"].contains(route.path) {
                for (index, name) in Self.names.enumerated() {
                    let path = route.path.split(separator: "/").map { part in
                        part.hasPrefix("{")
                            ? name.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(["%"])) ?? "x"
                            : String(part)
                    }.joined(separator: "/")
                    let body = route.input == nil ? nil : Self.bodies[index % Self.bodies.count]
                    guard route.path.contains("{") || route.input != nil else { continue }
                    let reply = await fixture.reply(route.method, "/" + path, body)
                    guard let reply else { continue }
                    #expect(reply.status < 500, "\(route.method) /\(path) \(body?.prefix(60) ?? "")")
                    guard reply.status >= 400 else { continue }
                    let error = try JSONValue(parsing: Data(try await reply.collectedBody()))["error"]
                    #expect(error?["code"]?.text?.isEmpty == false)
                    #expect(error?["message"]?.text?.isEmpty == false)
                }
            }
            for body in Self.bodies {
                for route in fixture.service.routes where route.input?.example != nil && !route.path.contains("{") {
                    let reply = try #require(await fixture.reply(route.method, route.path, body))
                    #expect(reply.status < 500, "\(route.method) \(route.path) \(body.prefix(60))")
                }
            }
        }
    }

    @Test(
        arguments: [
            ("POST", "/chats", "text/plain", "{}", 415),
            ("POST", "/chats", "application/x-www-form-urlencoded", "a=b", 415),
            ("POST", "/chats", "multipart/form-data", "{}", 415),
            ("POST", "/chats", "application/json; charset=utf-8", "{}", 201),
            ("PUT", "/chats", "application/json", "{}", 405), ("GET", "/absent", "application/json", "", 0),
            ("POST", "/models/add", "application/json", #"{"reference": "/etc/passwd"}"#, 422),
            ("POST", "/models/add", "application/json", #"{"reference": "file:///etc/models.json"}"#, 422),
            ("POST", "/models/add", "application/json", #"{"reference": "~/models.json"}"#, 422),
            (
                "POST", "/models/add", "application/json",
                #"{"reference": "http://models.example.org/models.json"}"#, 422
            ),
            ("POST", "/pictures", "image/png", "no picture", 422), ("POST", "/pictures", "text/html", "<svg>", 415),
            ("POST", "/classify", "image/png", "no picture", 422), ("POST", "/classify", "text/html", "<svg>", 415),
            ("POST", "/classify?model=../x.onnx", "image/png", "", 400),
            ("POST", "/classify?top=0", "image/png", "", 400),
            ("PATCH", "/settings", "application/json", #"{"threads": "many"}"#, 422),
            ("PATCH", "/settings", "application/json", #"{"unknown.setting": 1}"#, 422),
            ("PATCH", "/settings", "application/json", #"{"threads": [1]}"#, 400),
            ("PATCH", "/settings", "text/plain", #"{"threads": 1}"#, 415),
            ("GET", "/chats?before=none", "", "", 422), ("GET", "/chats?archived=maybe", "", "", 400),
            ("GET", "/chats?pinned=5", "", "", 400), ("GET", "/chats/search?q=a&before=none", "", "", 422),
            ("GET", "/chats/search?q=a&from=monday", "", "", 400), ("GET", "/chats/search?q=a&limit=51", "", "", 400),
            ("PATCH", "/chats/unknown", "application/json", #"{"pinned": true}"#, 404),
            ("PATCH", "/chats/unknown", "application/json", #"{"pinned": 5}"#, 400),
            ("PATCH", "/chats/unknown", "application/json", #"{"folder": "a\u0000b"}"#, 422),
            ("POST", "/data/chats/import", "application/json", "[{", 422),
            ("POST", "/data/chats/import", "application/zip", "PK", 422),
            ("POST", "/data/chats/import", "text/plain", "[]", 415),
            ("POST", "/data/chats/import", "multipart/form-data", "[]", 415),
            ("POST", "/data/chats/import", "application/json", "[]", 200),
            ("GET", "/chats?limit=0", "", "", 400), ("GET", "/chats?limit=9999999999999999999", "", "", 400),
            ("GET", "/stores/calendar?from=now", "", "", 400),
            ("GET", "/stores/calendar?from=2026-01-01T00:00:00Z&until=2025-01-01T00:00:00Z", "", "", 400),
            ("POST", "/keys", "application/json", #"{"name": "", "scopes": ["chat"]}"#, 400),
            ("POST", "/keys", "application/json", #"{"name": "a", "scopes": ["everything"]}"#, 400),
        ] as [(String, String, String, String, Int)])
    func statuses(method: String, path: String, type: String, body: String, status: Int) async throws {
        try await NativeFixture.with { fixture in
            let reply = await fixture.reply(method, path, body, headers: ["Content-Type": type])
            #expect(reply?.status ?? 0 == status)
        }
    }

    @Test func aRefusedChangeOfSettingsChangesNothing() async throws {
        try await NativeFixture.with { fixture in
            let reply = try await fixture.call("PATCH", "/settings", #"{"temperature": 0.5, "threads": "many"}"#)
            #expect(reply.status == 422)
            #expect(reply.body["error"]?["field"]?.text == "threads")
            let settings = try await fixture.call("GET", "/settings").body["settings"]?.items ?? []
            #expect(settings.first { $0["key"]?.text == "temperature" }?["value"] == nil)
        }
    }
}
