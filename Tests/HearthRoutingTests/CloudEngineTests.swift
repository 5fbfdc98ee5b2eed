import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthRouting

/// The engine against a server of the test process.
@Suite(.timeLimit(.minutes(10)))
struct CloudEngineTests {
    private func engine(
        _ kind: CloudKind, _ server: FaultServer, _ change: (inout CloudSettings) -> Void = { _ in },
        onCredits: (@Sendable (Int) -> Void)? = nil
    ) throws -> CloudEngine {
        var settings = try CloudScript.settings(kind, url: server.url(""))
        change(&settings)
        return CloudEngine(settings, onCredits: onCredits)
    }

    private func stream(_ kind: CloudKind) -> Reply {
        Reply(headers: ["Content-Type": "text/event-stream"], body: .data(Data(CloudScript.stream(kind).utf8)))
            .framed(.chunked)
    }

    private func failure(
        _ engine: CloudEngine, _ events: CloudEvents = CloudEvents(), options: GenerationOptions = GenerationOptions()
    ) async -> LLMError? {
        do {
            _ = try await engine.generate([ChatMessage(.user, "Hi")], options: options) { events.append($0) }
            return nil
        } catch {
            return error as? LLMError
        }
    }

    // MARK: Answers

    @Test(arguments: CloudKind.allCases) func anAnswerArrives(_ kind: CloudKind) async throws {
        let server = try FaultServer { _ in stream(kind).header("X-Hearth-Credits", "41") }
        let credits = Locked<[Int]>([])
        let engine = try engine(kind, server, onCredits: { left in credits.withLock { $0.append(left) } })
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

    @Test(arguments: CloudKind.allCases) func aCallIsReportedAtTheEnd(_ kind: CloudKind) async throws {
        let server = try FaultServer { _ in Reply(body: .data(Data(CloudScript.call(kind).utf8))) }
        let events = CloudEvents()
        let summary = try await engine(kind, server).generate(
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
        let summary = try await engine(.gemini, server).generate(
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
        let server = try FaultServer { $0.index == 0 ? Reply(400, body: .data(error)) : stream(.openai) }
        let events = CloudEvents()
        _ = try await engine(.openai, server).generate(messages, options: GenerationOptions()) { events.append($0) }
        #expect(events.text == CloudScript.text)
        #expect(events.all.dropped == [10])
        #expect(server.requests.count == 2)
        #expect(server.requests.last.map { !$0.body.contains(Data("q4".utf8)) } == true)

        let stubborn = try FaultServer { _ in Reply(400, body: .data(error)) }
        do {
            _ = try await engine(.openai, stubborn).generate(messages, options: GenerationOptions()) { _ in }
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
        let server = try FaultServer { _ in stream(.openai) }
        let events = CloudEvents()
        let sections = try #require(CloudShares(shares))
        let engine = try engine(.openai, server) { $0.shares = sections }
        _ = try await engine.generate(messages, options: GenerationOptions()) { events.append($0) }
        let body = String(decoding: try #require(server.requests.first).body, as: UTF8.self)
        #expect(body.contains("the newest question"))
        #expect(body.contains("the instructions") == hasInstructions)
        #expect(body.contains("an earlier question") == hasHistory && body.contains("an earlier answer") == hasHistory)
        #expect(body.contains("image_url") == hasPictures)
        #expect(engine.capabilities.contains(.vision) == hasPictures)
        #expect(sections.text == shares)
    }

    @Test func preparingSendsNothing() async throws {
        let server = try FaultServer { _ in stream(.gemini) }
        try await engine(.gemini, server).prepare([ChatMessage(.user, "Hi")], options: GenerationOptions())
        #expect(server.record.connectionsAccepted == 0)
    }

    @Test func cancellingClosesTheConnection() async throws {
        let gate = Gate()
        let server = try FaultServer { _ in
            Reply(body: .data(Data(CloudScript.stream(.openai).utf8))).stalled(after: 300, at: gate)
        }
        let engine = try engine(.openai, server)
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
        try await engine(kind, server).checkHealth()
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
            let engine = try engine(.geminiRelay, server)
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
        let server = try FaultServer { _ in stream(kind) }
        let engine = try engine(kind, server) {
            $0.url = $0.url.appending(path: path)
            $0.model = "models/a/b"
        }
        _ = await failure(engine)
        #expect(server.requests.first?.target == target)
    }

    // MARK: Bad input

    @Test func aWrongKeyIsRefused() async throws {
        let body =
            #"{"error":{"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}"#
        let server = try FaultServer { _ in Reply(400, body: .data(Data(body.utf8))) }
        let error = await failure(try engine(.gemini, server))
        #expect(error?.code == .unauthorised)
        #expect(
            error?.message
                == "127.0.0.1:\(server.port) refused the key: \"API key not valid. Please pass a valid API key.\"")
        #expect(server.requests.count == 1)
    }

    @Test(.enabled(if: TLSServer.program != nil)) func anExpiredCertificateIsRefused() async throws {
        let server = try TLSServer(.expired, answers: ["v1": Data()])
        let settings = try CloudScript.settings(.openai, url: server.url(""))
        let error = await failure(
            CloudEngine(settings, client: CurlHTTPClient(certificateAuthorities: server.authority)))
        #expect(error?.code == .unreachable)
        #expect(error?.message == "no secure connection to 127.0.0.1:\(server.port) could be made")
        #expect((error?.underlying as? HTTPError)?.code == .tlsFailure)
    }

    @Test func aWebPageIsNoAnswer() async throws {
        let server = try FaultServer { _ in .htmlPage }
        let error = await failure(try engine(.geminiRelay, server))
        #expect(error?.code == .unusableAnswer)
        #expect(error?.message == "127.0.0.1:\(server.port) sent a web page instead of an answer")
    }

    @Test(arguments: CloudKind.allCases) func aRedirectIsNotFollowed(_ kind: CloudKind) async throws {
        let other = try FaultServer { _ in stream(kind) }
        let target = try other.url("/stolen", host: "localhost").absoluteString
        let server = try FaultServer { _ in .redirect(target, status: 307) }
        let error = await failure(try engine(kind, server))
        #expect(error?.code == .unusableAnswer)
        #expect(error?.message == "127.0.0.1:\(server.port) redirects to localhost, which is not followed")
        #expect(other.record.connectionsAccepted == 0)
    }

    @Test(arguments: [false, true]) func anAnswerThatNeverBeginsTimesOut(_ hasHead: Bool) async throws {
        let gate = Gate()
        let server = try FaultServer { _ in
            hasHead ? stream(.gemini).stalled(after: 0, at: gate) : stream(.gemini).stalledBeforeHead(at: gate)
        }
        let error = await failure(try engine(.gemini, server) { $0.firstByteTimeout = .milliseconds(200) })
        #expect(error?.code == .timedOut)
        #expect(error?.message == "127.0.0.1:\(server.port) did not begin to answer within 0.2 s")
        #expect(error?.disposition == .tryLater)
        await server.wait { $0.connectionsOpen == 0 }
    }

    @Test func silenceInTheMiddleInterrupts() async throws {
        let gate = Gate()
        let text = CloudScript.stream(.anthropic)
        let half = try #require(text.range(of: "🌍")).lowerBound
        let server = try FaultServer { _ in
            Reply(body: .data(Data(text.utf8))).stalled(after: UInt64(text[..<half].utf8.count), at: gate)
        }
        let events = CloudEvents()
        let error = await failure(
            try engine(.anthropic, server) {
                $0.firstByteTimeout = .milliseconds(300)
                $0.idleTimeout = .milliseconds(300)
            }, events)
        #expect(error?.code == .answerInterrupted)
        #expect(error?.message.hasPrefix("the answer of 127.0.0.1:\(server.port) broke off: ") == true)
        #expect(events.text == "Grüße ")
    }

    @Test func aLostConnectionInterrupts() async throws {
        let text = CloudScript.stream(.openai)
        let half = try #require(text.range(of: "🌍")).lowerBound
        let server = try FaultServer { _ in
            Reply(body: .data(Data(text.utf8))).dropped(after: UInt64(text[..<half].utf8.count + 2))
        }
        let events = CloudEvents()
        let error = await failure(try engine(.openai, server), events)
        #expect(error?.code == .answerInterrupted)
        #expect(events.text == "Grüße ")
        #expect(server.requests.count == 1)
    }

    @Test func theTimeOfAPassEndsTheAnswerWithItsText() async throws {
        let gate = Gate()
        let text = CloudScript.stream(.openai)
        let half = try #require(text.range(of: "🌍")).lowerBound
        let server = try FaultServer { _ in
            Reply(body: .data(Data(text.utf8))).stalled(after: UInt64(text[..<half].utf8.count), at: gate)
        }
        let events = CloudEvents()
        let summary = try await engine(.openai, server).generate(
            [ChatMessage(.user, "Hi")], options: GenerationOptions(timeout: .seconds(1))
        ) { events.append($0) }
        #expect(summary.reason == .timedOut)
        #expect(events.text == "Grüße ")
        #expect(events.all.calls.isEmpty)
    }

    @Test func grammarsAndRawPromptsAreRefusedUnsent() async throws {
        let server = try FaultServer { _ in stream(.gemini) }
        let engine = try engine(.gemini, server)
        for options in [
            GenerationOptions(constraint: .gbnf(#"root ::= "x""#)), GenerationOptions(usesChatTemplate: false),
        ] {
            #expect(await failure(engine, options: options)?.code == .engineMissing)
        }
        let picture = try ChatImage(TestPictures.bmp)
        await #expect {
            _ = try await engine.generate(
                [ChatMessage(.user, "?", images: [picture])], options: GenerationOptions()
            ) { _ in }
        } throws: {
            ($0 as? LLMError)?.message == "Gemini reads no BMP pictures"
        }
        #expect(server.record.connectionsAccepted == 0)
    }

    @Test func theKeyIsInNoErrorOrDescription() async throws {
        let body = #"{"error":{"message":"bad key k3y-of-the-cloud"}}"#
        let server = try FaultServer { _ in Reply(401, body: .data(Data(body.utf8))) }
        let engine = try engine(.openai, server)
        let error = try #require(await failure(engine))
        for text in ["\(error)", "\(error.context)", error.localizedDescription, "\(engine.settings)", "\(engine)"] {
            #expect(!text.contains("k3y"))
        }
    }
}
