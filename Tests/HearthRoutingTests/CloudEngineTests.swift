import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthRouting

/// Answers and health of the engine, against a server of the test process.
@Suite(.timeLimit(.minutes(10)))
struct CloudEngineTests {
    // MARK: Answers

    @Test(arguments: CloudKind.allCases) func anAnswerArrives(_ kind: CloudKind) async throws {
        let server = try FaultServer { _ in CloudScript.reply(kind).header("X-Hearth-Credits", "41") }
        let credits = Locked<[Int]>([])
        let engine = try CloudScript.engine(kind, server, onCredits: { left in credits.withLock { $0.append(left) } })
        let events = CloudEvents()
        let summary = try await CloudEngine.$turn.withValue("turn-7") {
            try await engine.generate([ChatMessage(.user, "Hi")], options: GenerationOptions()) { events.append($0) }
        }
        #expect(events.text == CloudScript.text)
        #expect(events.all.thinking == "Hm")
        #expect(events.all.first == .phase(.connecting))
        #expect(events.all.dropFirst().first == .phase(.decode))
        #expect(summary.reason == .endOfGeneration)
        #expect(summary.usage == TokenUsage(promptTokens: 7, cachedTokens: 3, generatedTokens: 5))
        #expect(summary.timings.firstTokenSeconds > 0)
        #expect(credits.withLock { $0 } == [41])
        let request = try #require(server.requests.first)
        #expect(request.method == "POST")
        #expect(request.headers["Content-Type"] == "application/json")
        let (target, header, value) =
            switch kind {
            case .gemini:
                ("/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse", "x-goog-api-key", "k3y-of-the-cloud")
            case .geminiRelay: ("/ai/chat", "Authorization", "Bearer k3y-of-the-cloud")
            case .openai: ("/v1/chat/completions", "Authorization", "Bearer k3y-of-the-cloud")
            case .anthropic: ("/v1/messages", "x-api-key", "k3y-of-the-cloud")
            }
        #expect(request.target == target)
        #expect(request.headers[header] == value)
        #expect(request.headers["X-Hearth-Turn"] == (kind == .geminiRelay ? "turn-7" : nil))
    }

    /// The rest of an answer is asked for as a message of its own, and joins without a doubled or lost word.
    @Test(arguments: CloudKind.allCases) func anAnswerGoesOn(_ kind: CloudKind) async throws {
        let server = try FaultServer { _ in CloudScript.reply(kind) }
        var options = GenerationOptions(maximumNewTokens: GenerationOptions.windowLength)
        options.continuesLastMessage = true
        let events = CloudEvents()
        let written = "Viele " + CloudScript.text.prefix(5)
        _ = try await CloudScript.engine(kind, server).generate(
            [ChatMessage(.user, "Hi"), ChatMessage(.assistant, written)], options: options
        ) { events.append($0) }
        #expect(written + events.text == "Viele " + CloudScript.text)
        let body = String(decoding: try #require(server.requests.first?.body), as: UTF8.self)
        #expect(body.contains("Continue it exactly where it stopped"))
    }

    @Test(arguments: CloudKind.allCases) func aCallIsReportedAtTheEnd(_ kind: CloudKind) async throws {
        let server = try FaultServer { _ in Reply(body: .data(Data(CloudScript.call(kind).utf8))) }
        let events = CloudEvents()
        let summary = try await CloudScript.engine(kind, server).generate(
            [ChatMessage(.user, "Hi")], options: GenerationOptions(tools: [CloudScript.tool])
        ) { events.append($0) }
        #expect(summary.reason == .toolCalls)
        #expect(events.all.calls.map(\.name) == ["weather"])
        #expect(events.all.calls.map(\.arguments) == [#"{"city":"Köln"}"#])
    }

    @Test func anEndThatNeverComesDoesNotHoldUpACompleteAnswer() async throws {
        let gate = Gate()
        let server = try FaultServer { _ in
            let text = CloudScript.stream(.gemini)
            return Reply(body: .data(Data((text + ":").utf8))).stalled(after: UInt64(text.utf8.count), at: gate)
        }
        let events = CloudEvents()
        let summary = try await CloudScript.engine(.gemini, server).generate(
            [ChatMessage(.user, "Hi")], options: GenerationOptions()
        ) { events.append($0) }
        #expect(summary.reason == .endOfGeneration)
        #expect(events.text == CloudScript.text)
        await server.wait { $0.connectionsOpen == 0 }
    }

    @Test func aConversationThatIsTooLongIsCutOnce() async throws {
        let error = Data(#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#.utf8)
        let turns = (0..<10).flatMap { [ChatMessage(.user, "q\($0)"), ChatMessage(.assistant, "a\($0)")] }
        let messages = turns + [ChatMessage(.user, "last")]
        let server = try FaultServer { $0.index == 0 ? Reply(400, body: .data(error)) : CloudScript.reply(.openai) }
        let events = CloudEvents()
        _ = try await CloudScript.engine(.openai, server).generate(messages, options: GenerationOptions()) {
            events.append($0)
        }
        #expect(events.text == CloudScript.text)
        #expect(events.all.dropped == [10])
        #expect(server.requests.count == 2)
        #expect(server.requests.last.map { !$0.body.contains(Data("q4".utf8)) } == true)

        let stubborn = try FaultServer { _ in Reply(400, body: .data(error)) }
        do {
            _ = try await CloudScript.engine(.openai, stubborn).generate(messages, options: GenerationOptions()) { _ in
            }
            Issue.record("answered")
        } catch let error as LLMError {
            #expect(error.code == .exceededContextWindowSize)
        }
        #expect(stubborn.requests.count == 2)
    }

    @Test(arguments: [
        ("none", false, false, false), ("instructions", true, false, false), ("history", false, true, false),
        ("pictures", false, false, true), ("instructions,history,pictures", true, true, true),
    ])
    func onlyWhatIsSharedIsSent(
        shares: String, hasInstructions: Bool, hasHistory: Bool, hasPictures: Bool
    ) async throws {
        let picture = try ChatImage(TestPictures.png)
        let messages = [
            ChatMessage(.system, "the instructions"), ChatMessage(.user, "an earlier question", images: [picture]),
            ChatMessage(.assistant, "an earlier answer"), ChatMessage(.user, "the newest question", images: [picture]),
        ]
        let server = try FaultServer { _ in CloudScript.reply(.openai) }
        let events = CloudEvents()
        let sections = try #require(CloudShares(shares))
        let engine = try CloudScript.engine(.openai, server) { $0.shares = sections }
        _ = try await engine.generate(messages, options: GenerationOptions()) { events.append($0) }
        let body = String(decoding: try #require(server.requests.first).body, as: UTF8.self)
        #expect(body.contains("the newest question"))
        #expect(body.contains("the instructions") == hasInstructions)
        #expect(body.contains("an earlier question") == hasHistory && body.contains("an earlier answer") == hasHistory)
        #expect(body.contains("image_url") == hasPictures)
        #expect(engine.capabilities.contains(.vision) == hasPictures)
        #expect(sections.text == shares)
    }

    /// So nothing is prepared, counted or embedded on a server.
    @Test func aServerReadsNoTokens() throws {
        #expect(try CloudScript.engine(.gemini, try FaultServer { _ in CloudScript.reply(.gemini) }).tokens == nil)
    }

    @Test(arguments: ["{", "[]", #"{"type": "object", "type": "array"}"#])
    func aSchemaThatIsNoObjectIsNotSent(schema: String) async throws {
        let server = try FaultServer { _ in CloudScript.reply(.gemini) }
        let engine = try CloudScript.engine(.gemini, server)
        let options = GenerationOptions(constraint: .jsonSchema(schema))
        await #expect(throws: LLMError.self) {
            try await engine.generate([ChatMessage(.user, "Hi")], options: options) { _ in }
        }
        #expect(server.record.connectionsAccepted == 0)
    }

    @Test func cancellingClosesTheConnection() async throws {
        let gate = Gate()
        let server = try FaultServer { _ in
            Reply(body: .data(Data(CloudScript.stream(.openai).utf8))).stalled(after: 300, at: gate)
        }
        let engine = try CloudScript.engine(.openai, server)
        let task = Task {
            try await engine.generate([ChatMessage(.user, "Hi")], options: GenerationOptions()) { _ in }
        }
        await gate.reached()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await server.wait { $0.connectionsOpen == 0 }
    }

    // MARK: Health

    @Test(arguments: CloudKind.allCases) func healthCostsNothing(_ kind: CloudKind) async throws {
        let server = try FaultServer { _ in .text("{}") }
        try await CloudScript.engine(kind, server).checkHealth()
        let path =
            switch kind {
            case .gemini: "/v1beta/models/gemini-2.5-flash"
            case .geminiRelay: "/agent/health"
            case .openai, .anthropic: "/v1/models"
            }
        #expect(server.requests.map(\.method) == ["GET"])
        #expect(server.requests.map(\.target) == [path])
    }

    @Test func onlySuccessIsHealthy() async throws {
        for (status, code) in [
            (401, "unauthorised"), (503, "rate-limited"), (500, "unreachable"), (302, "unusable-answer"),
        ] {
            let server = try FaultServer { _ in Reply(status, headers: ["Location": "https://other.example/x"]) }
            let engine = try CloudScript.engine(.geminiRelay, server)
            await #expect { try await engine.checkHealth() } throws: { ($0 as? LLMError)?.codeText == code }
        }
        let closed = try ClosedPort()
        let url = try #require(URL(string: "http://127.0.0.1:\(closed.port)"))
        let engine = CloudEngine(try CloudScript.settings(.openai, url: url))
        await #expect { try await engine.checkHealth() } throws: { ($0 as? LLMError)?.code == .unreachable }
    }

    @Test(arguments: [
        (CloudKind.openai, "/api/v1", "/api/v1/chat/completions"), (.openai, "/v1/", "/v1/chat/completions"),
        (.openai, "/", "/v1/chat/completions"), (.anthropic, "/v1", "/v1/messages"),
        (.gemini, "/v1beta", "/v1beta/models/a%2Fb:streamGenerateContent?alt=sse"),
        (.geminiRelay, "/base/", "/base/ai/chat"),
    ]) func addressesMayHaveAPath(_ kind: CloudKind, _ path: String, _ target: String) async throws {
        let server = try FaultServer { _ in CloudScript.reply(kind) }
        let engine = try CloudScript.engine(kind, server) {
            $0.url = $0.url.appending(path: path)
            $0.model = "models/a/b"
        }
        _ = await CloudScript.failure(engine)
        #expect(server.requests.first?.target == target)
    }
}
