import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthRouting
import HearthTestSupport
import HearthTransfer
import Testing

@testable import HearthServer

/// The gateway on the network, with the device's own clients.
@Suite(.timeLimit(.minutes(3)))
struct GatewayServerTests {
    private static let http = CurlHTTPClient()

    /// Runs a body with a gateway on a free port.
    private func with(
        _ fixture: GatewayFixture, bounds: CallerLimits.Bounds = CallerLimits.Bounds(),
        _ body: (URL) async throws -> Void
    ) async throws {
        let socket = try ListeningSocket(host: "127.0.0.1", port: 0)
        let server = try GatewayServer(fixture.gateway, on: [socket], bounds: bounds)
        let url = try required(server.addresses.first.flatMap { URL(string: $0.url) })
        do {
            try await body(url)
        } catch {
            await server.stop(grace: .zero)
            throw error
        }
        await server.stop(grace: .zero)
    }

    /// The relay's client of this package talks with the gateway as with the relay that it was written for.
    @Test func theDevicesEngineIsAnswered() async throws {
        let gemini = try FaultServer { request in
            guard request.headers["x-goog-api-key"] == GatewayFixture.cloudKey else { return Reply(403) }
            let text = [GatewayFixture.token, GatewayFixture.end].map { "data: \($0)\n\n" }.joined()
            return Reply(headers: ["Content-Type": "text/event-stream"], body: .data(Data(text.utf8)))
        }
        let cloud = try gemini.url("").absoluteString
        let fixture = try await GatewayFixture(http: Self.http, cloudURL: cloud)
        let key = try await fixture.key([.chat], credits: 1)
        try await with(fixture) { url in
            let credits = Locked<[Int]>([])
            let engine = CloudEngine(
                try CloudSettings(.geminiRelay, url: url, key: key), client: Self.http
            ) { left in credits.withLock { $0.append(left) } }
            try await engine.checkHealth()
            let text = Locked("")
            let ask: @Sendable (String) async throws -> GenerationSummary = { turn in
                try await CloudEngine.$turn.withValue(turn) {
                    try await engine.generate(
                        [ChatMessage(.user, "Hi")], options: GenerationOptions()
                    ) { event in
                        if case .text(let piece) = event { text.withLock { $0 += piece } }
                    }
                }
            }
            #expect(try await ask("one").reason == .endOfGeneration)
            #expect(text.withLock { $0 } == "Hello.")
            _ = try await ask("one")
            let error = await #expect(throws: LLMError.self) { try await ask("two") }
            #expect(error?.code == .noCredits)
            #expect(credits.withLock { $0 } == [0, 0, 0])

            let other = CloudEngine(try CloudSettings(.geminiRelay, url: url, key: "hearth-x"), client: Self.http)
            let refused = await #expect(throws: LLMError.self) {
                try await other.generate(
                    [ChatMessage(.user, "Hi")], options: GenerationOptions()
                ) { _ in }
            }
            #expect(refused?.code == .unauthorised)
        }
    }

    /// Some hundred requests at once with keys of every kind; the stage `gateway` sends ten thousand.
    @Test func manyRequestsAreDecidedRightly() async throws {
        let fixture = try await GatewayFixture()
        let good = try await fixture.key([.download])
        let quota = try await fixture.key([.download], addresses: 25)
        let revoked = try await fixture.key()
        try await fixture.store.revoke(String(revoked.split(separator: "-")[1]), at: fixture.clock.time.now)
        let kinds = [good, quota, revoked, "hearth-00000000-" + String(repeating: "a", count: 64)]
        var bounds = CallerLimits.Bounds()
        bounds.burst = 1000
        bounds.atOnce = 1000
        try await with(fixture, bounds: bounds) { url in
            let counts = try await withThrowingTaskGroup(of: String.self) { group in
                for index in 0..<400 {
                    group.addTask {
                        let body = #"{"location":"https://models.example/files/\#(index)"}"#
                        let response = try await Self.http.execute(
                            HTTPRequest(
                                url.appending(path: "models/address"), method: "POST", body: Data(body.utf8),
                                authorization: "Bearer \(kinds[index % 4])"))
                        let text = String(decoding: try await response.body.collect(upTo: 9999), as: UTF8.self)
                        return errorCode(text) ?? "\(response.status)"
                    }
                }
                return try await group.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
            }
            #expect(counts == ["200": 125, "over-quota": 75, "key-revoked": 100, "unknown-key": 100])
        }
        // The decisions about keys are all there; those about strangers are bounded.
        let lines = try fixture.audit()
        #expect(lines.count { $0["key"] != nil } == 300 && lines.count == 360)
    }

    @Test func aKeyHasALimitOfItsOwn() async throws {
        let fixture = try await GatewayFixture()
        let (first, second) = (try await fixture.key([.download]), try await fixture.key([.download]))
        var bounds = CallerLimits.Bounds()
        bounds.burst = 3
        bounds.perMinute = 1
        try await with(fixture, bounds: bounds) { url in
            func ask(_ key: String) async throws -> (Int, String?) {
                let response = try await Self.http.execute(
                    HTTPRequest(
                        url.appending(path: "models/address"), method: "POST",
                        body: Data(#"{"location":"https://models.example/files/x"}"#.utf8),
                        authorization: "Bearer \(key)"))
                return (response.status, response.headers["Retry-After"])
            }
            for _ in 0..<3 { #expect(try await ask(first).0 == 200) }
            let refused = try await ask(first)
            #expect(refused.0 == 429 && refused.1 == "60")
            #expect(try await ask(second).0 == 200)
        }
    }

    @Test func theDevicesDownloaderGetsAddresses() async throws {
        let fixture = try await GatewayFixture()
        let key = try await fixture.key([.download], addresses: 1)
        try await with(fixture) { url in
            let downloads = try AuthenticatedDownloader(
                gateway: url, key: key, files: [try required(URL(string: "https://models.example/files"))])
            let file = try required(URL(string: "https://models.example/files/a/x.gguf"))
            let address = try await downloads.downloadAddress(for: file)
            #expect(address.url.absoluteString.hasPrefix("https://s3.example/bucket/origin/a/x.gguf?"))
            #expect(address.lifetime == .seconds(900))
            let error = await #expect(throws: TransferError.self) { try await downloads.downloadURL(for: file) }
            #expect(error?.code == .serverBusy && error?.context.found == "status 429, over-quota")
        }
    }
}
