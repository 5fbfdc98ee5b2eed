import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthRouting

/// Refusals, silence and lost connections of a cloud.
@Suite(.timeLimit(.minutes(10)))
struct CloudEngineFaultTests {
    @Test func aWrongKeyIsRefused() async throws {
        let body =
            #"{"error":{"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}"#
        let server = try FaultServer { _ in Reply(400, body: .data(Data(body.utf8))) }
        let error = await CloudScript.failure(try CloudScript.engine(.gemini, server))
        #expect(error?.code == .unauthorised)
        #expect(
            error?.message
                == "127.0.0.1:\(server.port) refused the key: \"API key not valid. Please pass a valid API key.\"")
        #expect(server.requests.count == 1)
    }

    @Test(.enabled(if: TLSServer.program != nil)) func anExpiredCertificateIsRefused() async throws {
        let server = try TLSServer(.expired, answers: ["v1": Data()])
        let settings = try CloudScript.settings(.openai, url: server.url(""))
        let error = await CloudScript.failure(
            CloudEngine(settings, client: CurlHTTPClient(certificateAuthorities: server.authority)))
        #expect(error?.code == .unreachable)
        #expect(error?.message == "no secure connection to 127.0.0.1:\(server.port) could be made")
        #expect((error?.underlying as? HTTPError)?.code == .tlsFailure)
    }

    @Test func aWebPageIsNoAnswer() async throws {
        let server = try FaultServer { _ in .htmlPage }
        let error = await CloudScript.failure(try CloudScript.engine(.geminiRelay, server))
        #expect(error?.code == .unusableAnswer)
        #expect(error?.message == "127.0.0.1:\(server.port) sent a web page instead of an answer")
    }

    @Test(arguments: CloudKind.allCases) func aRedirectIsNotFollowed(_ kind: CloudKind) async throws {
        let other = try FaultServer { _ in CloudScript.reply(kind) }
        let target = try other.url("/stolen", host: "localhost").absoluteString
        let server = try FaultServer { _ in .redirect(target, status: 307) }
        let error = await CloudScript.failure(try CloudScript.engine(kind, server))
        #expect(error?.code == .unusableAnswer)
        #expect(error?.message == "127.0.0.1:\(server.port) redirects to localhost, which is not followed")
        #expect(other.record.connectionsAccepted == 0)
    }

    @Test(arguments: [false, true]) func anAnswerThatNeverBeginsTimesOut(_ hasHead: Bool) async throws {
        let gate = Gate()
        let server = try FaultServer { _ in
            hasHead
                ? CloudScript.reply(.gemini).stalled(after: 0, at: gate)
                : CloudScript.reply(.gemini).stalledBeforeHead(at: gate)
        }
        let error = await CloudScript.failure(
            try CloudScript.engine(.gemini, server) { $0.firstByteTimeout = .milliseconds(200) })
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
        let error = await CloudScript.failure(
            try CloudScript.engine(.anthropic, server) {
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
        let error = await CloudScript.failure(try CloudScript.engine(.openai, server), events)
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
        let summary = try await CloudScript.engine(.openai, server).generate(
            [ChatMessage(.user, "Hi")], options: GenerationOptions(timeout: .seconds(1))
        ) { events.append($0) }
        #expect(summary.reason == .timedOut)
        #expect(events.text == "Grüße ")
        #expect(events.all.calls.isEmpty)
    }

    @Test func grammarsAndRawPromptsAreRefusedUnsent() async throws {
        let server = try FaultServer { _ in CloudScript.reply(.gemini) }
        let engine = try CloudScript.engine(.gemini, server)
        var raw = GenerationOptions()
        raw.usesChatTemplate = false
        for options in [GenerationOptions(constraint: .gbnf(#"root ::= "x""#)), raw] {
            #expect(await CloudScript.failure(engine, options: options)?.code == .engineMissing)
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
        let engine = try CloudScript.engine(.openai, server)
        let error = try #require(await CloudScript.failure(engine))
        for text in ["\(error)", "\(error.context)", error.localizedDescription, "\(engine.settings)", "\(engine)"] {
            #expect(!text.contains("k3y"))
        }
    }
}
