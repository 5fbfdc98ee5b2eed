import Foundation
import Hearth
import HearthBase
import HearthHTTP
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthCommand

/// `hearth doctor --online`
@Suite struct OnlineExaminationTests {
    private static let manifest = """
        {"schemaVersion":1,"models":[{"id":"m","version":"1.0.0","filename":"m-v1.0.0-q4_0.gguf","sizeBytes":1,\
        "sha256":"\(String(repeating: "a", count: 64))","minAppVersion":"1.0.0","downloadUrl":"m.gguf"}]}
        """

    /// On a clock that stands still, so that no limit passes on a busy machine.
    private func probe(
        _ folder: TemporaryFolder, origin: URL? = nil, hub: URL? = nil, cloud: URL? = nil,
        catalog: Bool = false, time: TimeSource = ManualClock().time
    ) throws -> CommandProbe {
        if !catalog {
            let settings = Data(#"{"catalog": {"shipped": false}}"#.utf8)
            try LocalFileSystem().makeFolders(folder.path("home"))
            try LocalFileSystem().replaceContents(
                of: folder.path("home/config.json"), with: settings, permissions: 0o600)
        }
        var environment: [String: String] = [:]
        environment["HEARTH_ORIGIN"] = origin?.absoluteString
        environment["HF_ENDPOINT"] = hub?.absoluteString
        environment["HF_TOKEN"] = hub.map { _ in "hf_token" }
        var probe = CommandProbe(home: folder.path("home"), environment: environment, time: time)
        probe.cloud = try cloud.map { url in
            let settings = try CloudSettings(.openai, url: url, model: "m-1", key: "key")
            return CloudModel(engine: CloudEngine(settings), name: "m-1", hasOwnKey: true)
        }
        return probe
    }

    private struct Report: Decodable {
        struct Answer: Decodable, Hashable {
            let name: String
            let address: String
            let outcome: String
            let milliseconds: Int
            let detail: String?
            let code: String?
        }

        struct Finding: Decodable {
            let severity: String
            let code: String
            let message: String
            let cure: String?
        }

        let online: [Answer]?
        let findings: [Finding]

        func problem(_ code: String) -> Finding? { findings.first { $0.code == code && $0.severity == "problem" } }
    }

    private func report(_ probe: CommandProbe, online: Bool = true) async throws -> Report {
        _ = await probe.run(["doctor", "--format", "json"] + (online ? ["--online"] : []))
        return try JSONDecoder().decode(Report.self, from: Data(probe.output.contents.utf8))
    }

    @Test func withoutTheFlagNothingIsAsked() async throws {
        let folder = try TemporaryFolder()
        let server = try FaultServer { _ in .text(Self.manifest) }
        let url = try server.url("/models.json")
        let report = try await report(probe(folder, origin: url, hub: url, cloud: url), online: false)
        #expect(report.online == nil)
        #expect(server.requests.isEmpty && server.record.connectionsAccepted == 0)
    }

    @Test func eachAddressIsAskedOnce() async throws {
        let folder = try TemporaryFolder()
        let server = try FaultServer { $0.path == "/models.json" ? .text(Self.manifest) : .text("{}") }
        let base = try server.url("")
        let report = try await report(
            probe(folder, origin: server.url("/models.json"), hub: base, cloud: base))
        let online = try #require(report.online)
        #expect(online.map(\.name) == ["(environment)", "hub", "cloud"])
        #expect(online.map(\.outcome) == ["reachable", "reachable", "reachable"])
        #expect(online.map(\.detail) == ["offers 1 release", nil, "m-1"])
        #expect(online.allSatisfy { $0.code == nil && $0.milliseconds == 0 })
        #expect(server.requests.map(\.path).sorted() == ["/api/whoami-v2", "/models.json", "/v1/models"])
        let hub = server.requests.first { $0.path == "/api/whoami-v2" }
        #expect(hub?.headers["Authorization"] == "Bearer hf_token")
        #expect(report.findings.allSatisfy { $0.severity == "note" || $0.code == "engine-missing" })
    }

    @Test func withoutAddressesThereIsNothingToAsk() async throws {
        let folder = try TemporaryFolder()
        #expect(try await report(probe(folder)).online == [])
        let people = try probe(folder)
        _ = await people.run("doctor", "--online")
        #expect(people.output.contents.contains("Online\n"))
        #expect(people.output.contents.contains("none are configured\n"))
    }

    @Test(arguments: [
        (401, "key-refused", "unauthorised"), (403, "key-refused", "unauthorised"),
        (404, "not-found", "remote-model-missing"), (500, "failed", "unreachable"), (302, "failed", "unusable-answer"),
        (200, "failed", "unusable-answer"),
    ])
    func theCloudsAnswerIsNamed(status: Int, outcome: String, code: String) async throws {
        let folder = try TemporaryFolder()
        let server = try FaultServer { _ in
            switch status {
            case 200: .htmlPage
            case 302: .redirect("https://elsewhere.example/")
            default: .text("no", status: status)
            }
        }
        let report = try await report(probe(folder, cloud: server.url("")))
        let answer = try #require(report.online?.first)
        #expect(answer.outcome == outcome && answer.code == code)
        let problem = try #require(report.problem(code))
        #expect(problem.message.hasPrefix("cloud: 127.0.0.1:\(server.port) "))
        #expect(problem.cure != nil)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [
        (403, "key-refused", "origin-refused"), (404, "not-found", "origin-refused"),
        (503, "failed", "origin-unreachable"), (200, "failed", "not-a-manifest"),
    ])
    func theOriginsAnswerIsNamed(status: Int, outcome: String, code: String) async throws {
        let folder = try TemporaryFolder()
        let server = try FaultServer { _ in status == 200 ? .htmlPage : .text("no", status: status) }
        let report = try await report(probe(folder, origin: server.url("/models.json")))
        #expect(report.online?.map(\.outcome) == [outcome] && report.online?.map(\.code) == [code])
        #expect(report.problem(code)?.cure != nil)
    }

    @Test(.enabled(if: TLSServer.program != nil)) func aCertificateOfNoAuthorityIsNamed() async throws {
        let folder = try TemporaryFolder()
        let server = try TLSServer(answers: ["models.json": TLSServer.answer(200)])
        let url = try server.url("/models.json")
        let report = try await report(probe(folder, origin: url, cloud: url))
        #expect(report.online?.map(\.outcome) == ["certificate-refused", "certificate-refused"])
        #expect(report.online?.map(\.code) == ["tls-failure", "unreachable"])
        #expect(report.problem("tls-failure")?.cure != nil)
    }

    @Test func anAddressWithoutAServerFails() async throws {
        let folder = try TemporaryFolder()
        let port = try ClosedPort()
        let url = try #require(URL(string: "http://127.0.0.1:\(port.port)/models.json"))
        let probe = try probe(folder, origin: url, cloud: url)
        #expect(await probe.run("doctor", "--online") == 1)
        let text = probe.output.contents
        #expect(text.contains("(environment)") && text.contains(": \(url.absoluteString)\n"))
        #expect(text.contains("[origin-unreachable]") && text.contains("[unreachable]"))
        #expect(probe.errors.contents.contains("[problems-found]"))
    }

    @Test func anAddressThatStaysSilentIsGivenUpAfterFiveSeconds() async throws {
        let folder = try TemporaryFolder()
        let gate = Gate()
        let server = try FaultServer { _ in Reply.text("").stalledBeforeHead(at: gate) }
        defer { gate.open() }
        let clock = ManualClock()
        let probe = try probe(folder, origin: server.url("/models.json"), cloud: server.url(""), time: clock.time)
        let running = Task { try await self.report(probe) }
        await server.wait { $0.requests.count == 2 }
        await clock.sleepers(atLeast: 2)
        clock.advance(by: .seconds(5))
        let report = try await running.value
        #expect(report.online?.map(\.outcome) == ["timed-out", "timed-out"])
        #expect(report.online?.map(\.code) == ["timed-out", "timed-out"])
        #expect(report.online?.map(\.milliseconds) == [5000, 5000])
    }

    @Test func aReportToShareShowsNoAddress() async throws {
        let folder = try TemporaryFolder()
        let port = try ClosedPort()
        let url = try #require(URL(string: "http://127.0.0.1:\(port.port)/models.json"))
        let probe = try probe(folder, origin: url)
        _ = await probe.run("doctor", "--online", "--report")
        #expect(probe.output.contents.contains("http://<host>"))
        #expect(!probe.output.contents.contains("\(port.port)/models.json"))
    }
}
