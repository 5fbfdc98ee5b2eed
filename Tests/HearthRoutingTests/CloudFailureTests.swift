import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthRouting

struct CloudFailureTests {
    @Test(arguments: [CloudKind.gemini, .openai, .anthropic]) func nothingIsSentToAVendorWithoutAKey(
        kind: CloudKind
    ) async throws {
        let client = UnreachableClient()
        let engine = CloudEngine(try CloudSettings(kind), client: client)
        let checked = await #expect(throws: LLMError.self) { try await engine.checkHealth() }
        let asked = await #expect(throws: LLMError.self) {
            _ = try await engine.generate([ChatMessage(.user, "Why?")], options: GenerationOptions()) { _ in }
        }
        #expect(checked?.code == .unauthorised && asked?.code == .unauthorised)
        #expect(client.asked.isEmpty)
        var other = engine.settings
        other.url = try #require(URL(string: "https://models.example"))
        let elsewhere = CloudEngine(other, client: client)
        await #expect(throws: LLMError.self) { try await elsewhere.checkHealth() }
        #expect(client.asked.count == 1)
    }

    @Test func aWebPageIsNoHealth() async throws {
        let server = try FaultServer { _ in .htmlPage }
        let engine = CloudEngine(try CloudScript.settings(.openai, url: server.url("")))
        let error = await #expect(throws: LLMError.self) { try await engine.checkHealth() }
        #expect(error?.code == .unusableAnswer && error?.context.remedy != nil)
    }

    @Test(arguments: [
        (
            CloudKind.gemini, 400,
            #"{"error":{"code":400,"message":"API key not valid.","details":[{"reason":"API_KEY_INVALID"}]}}"#,
            "unauthorised"
        ),
        (.gemini, 403, #"{"error":{"status":"PERMISSION_DENIED","message":"no"}}"#, "unauthorised"),
        (.geminiRelay, 401, #"{"error":"sign in"}"#, "unauthorised"),
        (.geminiRelay, 402, #"{"error":"no credits"}"#, "no-credits"),
        (.geminiRelay, 403, #"{"error":{"message":"not in your plan"}}"#, "not-entitled"),
        (
            .gemini, 404, #"[{"error":{"code":404,"message":"no such model","status":"NOT_FOUND"}}]"#,
            "remote-model-missing"
        ),
        (
            .gemini, 400,
            #"{"error":{"message":"The input token count (9) exceeds the maximum number of tokens allowed (8)."}}"#,
            "context-window-exceeded"
        ),
        (.openai, 401, #"{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}"#, "unauthorised"),
        (.openai, 429, #"{"error":{"message":"quota","type":"insufficient_quota"}}"#, "no-credits"),
        (.openai, 429, #"{"error":{"message":"slow down"}}"#, "rate-limited"),
        (
            .openai, 400, #"{"error":{"message":"too long","code":"context_length_exceeded"}}"#,
            "context-window-exceeded"
        ),
        (
            .openai, 400, #"{"error":{"code":400,"message":"…","type":"exceed_context_size_error"}}"#,
            "context-window-exceeded"
        ),
        (.openai, 500, "<html>", "unreachable"),
        (.openai, 504, "", "timed-out"),
        (.openai, 422, #"{"detail":"wrong"}"#, "generation-failed"),
        (
            .anthropic, 400,
            #"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#,
            "no-credits"
        ),
        (
            .anthropic, 400,
            #"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}"#,
            "context-window-exceeded"
        ),
        (
            .anthropic, 529, #"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            "rate-limited"
        ),
    ]) func statusesAreTold(_ kind: CloudKind, _ status: Int, _ body: String, _ code: String) throws {
        let failure = CloudFailure(settings: try CloudScript.settings(kind))
        let error = failure.status(status, headers: [:], body: Data(body.utf8))
        #expect(error.codeText == code)
        #expect(error.message.contains("cloud.example"))
        #expect(error.context.found == "status \(status)")
        #expect(!error.message.contains("<"))
    }

    @Test func theServersWordsAreShownWithoutTheKey() throws {
        let failure = CloudFailure(settings: try CloudScript.settings(.openai))
        let body = #"{"error":{"message":"Incorrect API key: k3y-of-the-cloud\u001b[2J\nsecond"}}"#
        let error = failure.status(401, headers: [:], body: Data(body.utf8))
        #expect(
            error.message == #"cloud.example refused the key: "Incorrect API key: (secret)\u{1b}[2J\u{a}second""#)
        #expect(error.errorDescription?.hasSuffix("Check the key of the cloud model.") == true)
        #expect(!"\(error) \(error.context)".contains("k3y"))
    }

    @Test func theTimeToWaitIsRead() throws {
        let now = Date(timeIntervalSince1970: 1_445_412_480)  // 07:28:00
        #expect(CloudFailure.seconds("17", now: now) == 17)
        #expect(CloudFailure.seconds("17.5s", now: now) == 17.5)
        #expect(CloudFailure.seconds("-1", now: now) == 0)
        #expect(CloudFailure.seconds("Wed, 21 Oct 2015 07:28:30 GMT", now: now) == 30)
        #expect(CloudFailure.seconds("soon", now: now) == nil)
        let failure = CloudFailure(settings: try CloudScript.settings(.gemini))
        let body = #"{"error":{"code":429,"message":"x","details":[{"retryDelay":"21s"}]}}"#
        #expect(failure.status(429, headers: [:], body: Data(body.utf8)).context.retryAfterSeconds == 21)
        #expect(
            failure.status(429, headers: ["Retry-After": "3"], body: Data(body.utf8)).context.retryAfterSeconds == 3)
        #expect(failure.status(429, headers: [:], body: Data()).disposition == .tryLater)
    }
}
