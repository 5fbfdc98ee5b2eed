import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

/// Prompts that are too long, in the words that each dialect's clients look for.
@Suite struct LongPromptTests {
    private static let message = #""messages":[{"role":"user","content":"Hi"}]"#
    private static let body = #"{"model":"tiny","max_tokens":5,\#(message)}"#

    private func reply(_ path: String, _ body: String, tokens: String = "12401", streams: Bool) async throws
        -> APIFixture.Answer
    {
        let api = APIFixture([[.fail(ContextFit.exceeded(tokens: tokens, window: 4096))]])
        return try await api.post(path, body.replacing("}]", with: "}],\"stream\":\(streams)"))
    }

    @Test(arguments: [false, true])
    func messagesSayBothNumbers(streams: Bool) async throws {
        let answer = try await reply("/v1/messages", Self.body, streams: streams)
        #expect(answer.status == 400)
        #expect(try answer.json.text("error/type") == "invalid_request_error")
        #expect(try answer.json.text("error/message") == "prompt is too long: 12401 tokens > 4096 maximum")
    }

    @Test func aPromptOfExactlyTheWindowIsLonger() async throws {
        let answer = try await reply("/v1/messages", Self.body, tokens: "4096", streams: false)
        #expect(try answer.json.text("error/message") == "prompt is too long: 4097 tokens > 4096 maximum")
    }

    @Test func aTextThatWasNeverCutHasAnEstimate() async throws {
        let huge = String(repeating: "a", count: 400_000)
        let error = TextLimit(window: 4096)
        let limit = #expect(throws: LLMError.self) { try error.check(bytes: huge.utf8.count) }
        let api = APIFixture([[.fail(try #require(limit))]])
        let answer = try await api.post("/v1/messages", Self.body)
        #expect(try answer.json.text("error/message") == "prompt is too long: 100000 tokens > 4096 maximum")
    }

    private static let openAI = "This model's maximum context length is 4096 tokens, and the prompt has 12401."

    @Test(arguments: ["/v1/chat/completions", "/v1/responses", "/responses"])
    func openAISaysItsCode(path: String) async throws {
        let isChat = path.contains("chat")
        let body = isChat ? Self.body : #"{"model":"tiny","input":[{"role":"user","content":"Hi"}]}"#
        for streams in [false, true] where !streams || path != "/v1/responses" {
            let answer = try await reply(path, body, streams: streams)
            #expect(answer.status == 400)
            #expect(try answer.json.text("error/code") == "context_length_exceeded")
            #expect(try answer.json.text("error/message")?.hasPrefix(Self.openAI) == true)
        }
    }

    /// Codex knows a prompt that is too long only by this event.
    @Test func aStreamOfResponsesFailsWithTheCode() async throws {
        let answer = try await reply(
            "/v1/responses", #"{"model":"tiny","input":[{"role":"user","content":"Hi"}]}"#, streams: true)
        #expect(answer.status == 200)
        let events = try answer.events
        #expect(
            events.compactMap { $0.text("type") } == ["response.created", "response.in_progress", "response.failed"])
        #expect(events.last?.text("response/error/code") == "context_length_exceeded")
        #expect(events.last?.text("response/error/message")?.hasPrefix(Self.openAI) == true)
    }

    @Test func ollamaSaysTheInputIsTooLong() async throws {
        let text = try await reply("/api/chat", Self.body, streams: false).json.text("error")
        #expect(text?.hasPrefix("the input length exceeds the context length: ") == true)
    }
}
