import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

@Suite struct AnthropicTests {
    private static let call = ToolCall(id: "tool_1", name: "look", arguments: #"{"at":"sky"}"#)

    @Test func anAnswerHasBlocksReasonAndCounts() async throws {
        var steps: [ScriptedEngine.Step] = [.thinking("hm"), .text("Hello"), .toolCall(Self.call)]
        steps.append(.finish(.toolCalls))
        let api = APIFixture([steps])
        let body = #"""
            {"model":"tiny","max_tokens":50,"system":[{"type":"text","text":"A"}],"thinking":{"type":"enabled","budget_tokens":30},
            "messages":[{"role":"user","content":"Hi"}],"stop_sequences":["X"],
            "tools":[{"name":"look","input_schema":{"type":"object"}}]}
            """#
        let json = try await api.post("/v1/messages", body).json
        #expect(json.text("type") == "message")
        #expect(json.text("content/0/thinking") == "hm")
        #expect(json.text("content/1/text") == "Hello")
        #expect(json.text("content/2/type") == "tool_use")
        #expect(json.text("content/2/input/at") == "sky")
        #expect(json.text("stop_reason") == "tool_use")
        for field in [
            "stop_sequence", "stop_details", "container", "usage/cache_creation", "usage/server_tool_use",
        ] {
            #expect(json[path: field] == .null)
        }
        #expect(json.number("usage/output_tokens") == 2)
        let options = try #require(await api.engine.options.first)
        #expect(options.maximumNewTokens == 50)
        #expect(options.thinking.maximumTokens == 30)
        #expect(options.stopStrings == ["X"])
        #expect(await api.engine.requests.first?.first == ChatMessage(.system, "A"))
    }

    @Test func aStreamOpensAndClosesBlocksInOrder() async throws {
        var steps: [ScriptedEngine.Step] = [.event(.phase(.prefill(done: 2, total: 9)))]
        steps += [.thinking("hm"), .text("a"), .text("b"), .toolCall(Self.call), .finish(.toolCalls)]
        let api = APIFixture([steps])
        let body = #"{"model":"tiny","max_tokens":50,"stream":true,"messages":[{"role":"user","content":"Hi"}]}"#
        let events = try await api.post("/v1/messages", body).events
        #expect(
            events.compactMap { $0.text("type") } == [
                "message_start", "ping", "content_block_start", "content_block_delta", "content_block_delta",
                "content_block_stop", "content_block_start", "content_block_delta", "content_block_delta",
                "content_block_stop", "content_block_start", "content_block_delta", "content_block_stop",
                "message_delta", "message_stop",
            ])
        #expect(events[0].number("message/usage/input_tokens") == 7)
        #expect(events[0].number("message/usage/cache_read_input_tokens") == 2)
        let starts = events.filter { $0.text("type") == "content_block_start" }
        #expect(starts.map { $0.number("index") } == [0, 1, 2])
        #expect(events.compactMap { $0.text("delta/text") }.joined() == "ab")
        #expect(events.compactMap { $0.text("delta/partial_json") }.joined() == #"{"at":"sky"}"#)
        #expect(events[13].text("delta/stop_reason") == "tool_use")
    }

    @Test func resultsOfToolsBecomeMessagesOfTheirOwn() async throws {
        let api = APIFixture([[.finish(.endOfGeneration)]])
        let body = #"""
            {"model":"tiny","max_tokens":5,"messages":[{"role":"user","content":"Look"},
            {"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":""},
            {"type":"tool_use","id":"t1","name":"look","input":{"at":"sky"}}]},
            {"role":"user","content":[{"type":"text","text":"Here:"},
            {"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"dark"}]}]}]}
            """#
        #expect(try await api.post("/v1/messages", body).status == 200)
        let messages = try #require(await api.engine.requests.first)
        #expect(messages.map(\.role) == [.user, .assistant, .tool, .user])
        #expect(messages[1].thinking == "hm")
        #expect(messages[2].content == "Error: dark")
        #expect(messages[2].toolName == "look")
        #expect(messages[3].content == "Here:")
    }

    @Test(
        arguments: [
            (#"{"model":"tiny","messages":[]}"#, 400, "invalid_request_error"),
            (#"{"max_tokens":5,"messages":[]}"#, 400, "invalid_request_error"),
            (#"{"model":"tiny","max_tokens":5}"#, 400, "invalid_request_error"),
            (#"{"model":"nope","max_tokens":5,"messages":[]}"#, 404, "not_found_error"),
            (
                #"{"model":"tiny","max_tokens":5,"messages":[],"tools":[{"name":"w"}],"tool_choice":{"type":"tool","name":"v"}}"#,
                400, "invalid_request_error"
            ),
            (
                #"{"model":"tiny","max_tokens":5,"messages":[{"role":"user","content":[{"type":"document"}]}]}"#,
                400,
                "invalid_request_error"
            ),
        ])
    func refusalsHaveAnthropicsForm(body: String, status: Int, type: String) async throws {
        let answer = try await APIFixture().post("/v1/messages", body)
        #expect(answer.status == status)
        #expect(try answer.json.text("type") == "error")
        #expect(try answer.json.text("error/type") == type)
    }

    @Test func aPictureForAModelWithoutEyesIsRefusedOnce() async throws {
        let picture =
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
        let body = #"""
            {"model":"tiny","max_tokens":5,"messages":[{"role":"user","content":[{"type":"image","source":
            {"type":"base64","media_type":"image/png","data":"\#(picture)"}}]}]}
            """#
        let answer = try await APIFixture().post("/v1/messages", body)
        #expect(answer.status == 400)
        #expect(try answer.json.text("error/type") == "invalid_request_error")
        #expect(try answer.json.text("error/message")?.contains("image input is not supported") == true)
        let api = APIFixture([[.finish(.endOfGeneration)]], abilities: APIFixture.abilities.union(.vision))
        #expect(try await api.post("/v1/messages", body).status == 200)
        #expect(await api.engine.requests.first?.first?.images.count == 1)
        // A server that answers for any name says what llama.cpp's server says.
        let other = body.replacing(#""tiny""#, with: #""any""#)
        #expect(try await APIFixture(answersAnyName: true).post("/v1/messages", other).status == 500)
    }
}
