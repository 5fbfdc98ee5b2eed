import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthServer

/// Names behind which several models stand.
@Suite(.timeLimit(.minutes(5))) struct AliasTests {
    /// Two upstreams: the first with the given answer, the second one works.
    private func pair(
        _ time: TimeSource = .system, _ first: @escaping @Sendable (RecordedRequest) -> Reply
    ) throws -> (FaultServer, FaultServer, UpstreamFixture) {
        let broken = try FaultServer(UpstreamScript.handler(.openai, first))
        let good = try FaultServer(UpstreamScript.handler(.openai) { _ in UpstreamScript.answer(.openai) })
        let settings = [
            try UpstreamScript.settings("one", .openai, broken), try UpstreamScript.settings("two", .openai, good),
        ]
        let aliases = ["gpt-5.5": ["one/big", "two/big"], "org/Model": ["two/big"]]
        return (broken, good, try UpstreamFixture(settings, aliases: aliases, time: time, keeping: [broken, good]))
    }

    private func questions(_ server: FaultServer) -> Int { server.requests.filter { $0.method == "POST" }.count }

    @Test func anAliasIsListedAndAnswers() async throws {
        let (_, good, api) = try pair { _ in UpstreamScript.answer(.openai) }
        let list = try await api.send("GET", "/v1/models").json
        #expect((0..<4).map { list.text("data/\($0)/id") } == ["gpt-5.5", "org/Model", "one/big", "two/big"])
        for name in ["org/Model", "org/Model:latest"] {
            let answer = try await api.ask(name)
            #expect(try answer.json.text("model") == "org/Model")
            #expect(answer.headers["X-Hearth-Answered-By"] == "two/big")
            #expect(answer.headers["X-Hearth-Passed-Over"] == nil)
        }
        #expect(questions(good) == 2)
    }

    @Test(
        arguments: [
            (.htmlPage, "unusable-answer"), (.hangUp, "unreachable"), (.redirect("/x"), "unusable-answer"),
            (UpstreamScript.json("{}", status: 429).header("Retry-After", "5"), "rate-limited"),
            (UpstreamScript.json("{}", status: 500), "unreachable"),
            (UpstreamScript.json("{}", status: 401), "unauthorised"),
            (UpstreamScript.json("{}", status: 400), "generation-failed"),
            (UpstreamScript.json("{}", status: 404), "remote-model-missing"),
            (UpstreamScript.stream([]), "unusable-answer"),
            (UpstreamScript.stream([#"{"error":{"message":"overloaded","code":529}}"#]), "rate-limited"),
        ] as [(Reply, String)])
    func theNextOneTakesOverBeforeTheFirstToken(_ reply: Reply, _ code: String) async throws {
        for more in ["", #","stream":true"#] {
            let (_, good, api) = try pair { _ in reply }
            let answer = try await api.ask("gpt-5.5", more)
            #expect(answer.status == 200 && answer.text.contains("Grüße"))
            #expect(answer.headers["X-Hearth-Answered-By"] == "two/big")
            #expect(answer.headers["X-Hearth-Passed-Over"] == "one/big \(code)")
            #expect(questions(good) == 1)
        }
    }

    @Test func afterTheFirstTokenNoOtherTakesOver() async throws {
        let (_, good, api) = try pair { _ in UpstreamScript.answer(.openai).dropped(after: 130) }
        let answer = try await api.ask("gpt-5.5", #","stream":true"#)
        #expect(try answer.events.last?.text("error/code") == "answer-interrupted")
        #expect(questions(good) == 0)
    }

    @Test func aFailingServerIsPassedOverUntilItIsWell() async throws {
        let clock = ManualClock()
        let isWell = Locked(false)
        let (broken, _, api) = try pair(clock.time) { _ in
            isWell.withLock { $0 } ? UpstreamScript.answer(.openai) : UpstreamScript.json("{}", status: 502)
        }
        for _ in 0..<5 { #expect(try await api.ask("gpt-5.5").status == 200) }
        // The third failure is the last question for now.
        #expect(questions(broken) == 3)
        #expect(api.upstreams.all.map(\.isFailing) == [true, false])
        isWell.withLock { $0 = true }
        clock.advance(by: CircuitBreaker.pause)
        let lists = broken.requests.count
        #expect(try await api.ask("gpt-5.5").headers["X-Hearth-Answered-By"] == "two/big")
        // A question that costs nothing tells whether it is well.
        await broken.wait { $0.requests.count > lists && $0.requests.last?.outcome == .complete }
        while api.upstreams.all[0].isChecking { await Task.yield() }
        #expect(try await api.ask("gpt-5.5").headers["X-Hearth-Answered-By"] == "one/big")
        #expect(api.upstreams.all.map(\.isFailing) == [false, false])
    }

    @Test func aPauseIsKept() async throws {
        let clock = ManualClock()
        let (first, _, api) = try pair(clock.time) { _ in
            UpstreamScript.json("{}", status: 429).header("Retry-After", "20")
        }
        for _ in 0..<3 { #expect(try await api.ask("gpt-5.5").headers["X-Hearth-Answered-By"] == "two/big") }
        #expect(questions(first) == 1)
        let alone = try await api.ask("one/big")
        #expect(alone.status == 429 && alone.headers["Retry-After"] == "20")
        #expect(questions(first) == 1)
        clock.advance(by: .seconds(21))
        _ = try await api.ask("gpt-5.5")
        #expect(questions(first) == 2)
    }

    @Test func withoutAWorkingModelTheFailureNamesAll() async throws {
        let server = try FaultServer(
            UpstreamScript.handler(.openai) { _ in UpstreamScript.json("{}", status: 429).header("Retry-After", "9") })
        let settings = [try UpstreamScript.settings("one", .openai, server)]
        let api = try UpstreamFixture(
            settings, aliases: ["both": ["one/big", "none", "one/other"], "none": ["x/y"]],
            keeping: [server])
        let answer = try await api.ask("both")
        #expect(answer.status == 429 && answer.headers["Retry-After"] == "9")
        let message = try #require(try answer.json.text("error/message"))
        #expect(["one/big", "none", "one/other"].allSatisfy { message.contains($0) })
        #expect(try await api.ask("none").status == 404)
    }

    @Test func aModelOfThisDeviceStandsIn() async throws {
        try await NativeFixture.with { fixture in
            try await fixture.download()
            let closed = try ClosedPort()
            let url = try #require(URL(string: "http://127.0.0.1:\(closed.port)"))
            let aliases = ["talker": ["far/big", "talker"], "home": ["talker"]]
            let api = try UpstreamFixture(
                [UpstreamSettings("far", .openai, url: url)], aliases: aliases, hearth: fixture.hearth)
            let answer = try await api.ask("talker")
            #expect(answer.status == 200)
            #expect(answer.headers["X-Hearth-Answered-By"] == "talker")
            #expect(answer.headers["X-Hearth-Passed-Over"] == "far/big unreachable")
            #expect(try await api.ask("home").status == 200)
        }
    }

    @Test func aPrivateConversationStaysHere() async throws {
        let (first, second, api) = try pair { _ in UpstreamScript.answer(.openai) }
        let models = try #require(api.routes.service.provider as? ServedModels)
        for name in ["one/big", "gpt-5.5"] {
            let engine = try await models.engine(for: try await models.model(name)).forPrivateUse
            await #expect(throws: (any Error).self) {
                _ = try await engine.generate([ChatMessage(.user, "Hi")], options: GenerationOptions()) { _ in }
            }
        }
        #expect(questions(first) + questions(second) == 0)
    }
}
