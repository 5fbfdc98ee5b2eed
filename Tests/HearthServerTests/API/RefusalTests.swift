import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

/// Requests that are refused, with their status and the field that the error names.
@Suite struct RefusalTests {
    private static let message = #""messages":[{"role":"user","content":"Hi"}]"#

    @Test(
        arguments: [
            (#"{"messages":[{"role":"user","content":"Hi"}]}"#, 400, "model"),
            (#"{"model":"other",\#(message)}"#, 404, "model"),
            (#"{"model":"/etc/passwd",\#(message)}"#, 404, "model"),
            (#"{"model":"../../x.gguf",\#(message)}"#, 404, "model"),
            (#"{"model":5,\#(message)}"#, 400, "model"),
            (#"{"model":"tiny"}"#, 400, "messages"), (#"{"model":"tiny","messages":null}"#, 400, "messages"),
            (#"{"model":"tiny","messages":"string"}"#, 400, "messages"),
            (#"{"model":"tiny","messages":[]}"#, 400, "messages"),
            (#"{"model":"tiny","messages":[123]}"#, 400, "messages[0]"),
            (#"{"model":"tiny","messages":[{}]}"#, 400, "messages[0].role"),
            (#"{"model":"tiny","messages":[{"role":123}]}"#, 400, "messages[0].role"),
            (#"{"model":"tiny","messages":[{"role":"robot","content":"x"}]}"#, 400, "messages[0].role"),
            (#"{"model":"tiny","messages":[{"role":"system","content":123}]}"#, 400, "messages[0].content"),
            (#"{"model":"tiny","messages":[{"role":"assistant"}]}"#, 400, "messages[0].content"),
            (#"{"model":"tiny",\#(message),"temperature":"hot"}"#, 400, "temperature"),
            (#"{"model":"tiny",\#(message),"temperature":-1}"#, 400, "temperature"),
            (#"{"model":"tiny",\#(message),"top_p":2}"#, 400, "top_p"),
            (#"{"model":"tiny",\#(message),"n":0}"#, 400, "n"), (#"{"model":"tiny",\#(message),"n":65}"#, 400, "n"),
            (#"{"model":"tiny",\#(message),"max_tokens":1.5}"#, 400, "max_tokens"),
            (#"{"model":"tiny",\#(message),"stream":"yes"}"#, 400, "stream"),
            (#"{"model":"tiny",\#(message),"stop":[1]}"#, 400, "stop"),
            (#"{"model":"tiny",\#(message),"logit_bias":{"5":"x"}}"#, 400, "logit_bias"),
            (#"{"model":"tiny",\#(message),"functions":"f"}"#, 400, "functions"),
            (#"{"model":"tiny",\#(message),"functions":[{}]}"#, 400, "functions[0].name"),
            (#"{"model":"tiny",\#(message),"modalities":["text","audio"]}"#, 400, "modalities"),
            (#"{"model":"tiny",\#(message),"tools":[{"type":"function"}]}"#, 400, "tools[0].function"),
            (
                #"{"model":"tiny","messages":[{"role":"user","content":[{"type":"input_audio"}]}]}"#, 400,
                "messages[0].content[0].type"
            ),
            (
                #"{"model":"tiny","messages":[{"role":"user","content":[{"type":"hologram"}]}]}"#, 400,
                "messages[0].content[0].type"
            ),
            (#"{"model":"tiny",\#(message),"tool_choice":"required"}"#, 400, "tool_choice"),
            (#"{"model":"tiny",\#(message),"response_format":{"type":"sound"}}"#, 400, "response_format.type"),
            (
                #"{"model":"tiny",\#(message),"response_format":{"type":"json_object","schema":123}}"#, 400,
                "response_format.schema"
            ),
            (
                #"{"model":"tiny",\#(message),"continue_final_message":true,"add_generation_prompt":true}"#, 400,
                "continue_final_message"
            ),
            (
                #"{"model":"tiny","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a.b/c.png"}}]}]}"#,
                400, "messages[0].content[0].image_url.url"
            ),
            (
                #"{"model":"tiny","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}"#,
                400, "messages[0].content[0].image_url.url"
            ),
            (
                #"{"model":"tiny","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}]}]}"#,
                400, "messages[0].content[0].image_url.url"
            ),
        ])
    func aRequestNamesTheFieldThatIsWrong(body: String, status: Int, field: String) async throws {
        let answer = try await APIFixture().post("/v1/chat/completions", body)
        #expect(answer.status == status)
        let json = try answer.json
        #expect(json.text("error/param") == field)
        #expect(json.text("error/type") == "invalid_request_error")
        #expect(json.text("error/message")?.isEmpty == false)
    }

    @Test func knownFieldsWithTheirNeutralValuesAreAccepted() async throws {
        let api = APIFixture([[.finish(.endOfGeneration)]])
        let body = #"""
            {"model":"tiny",\#(Self.message),"n":1,"function_call":"none","functions":[],"audio":null,"modalities":["text"],
            "user":"me","metadata":{"a":"b"},"store":true,"service_tier":"auto","something_new":[1,2,{}]}
            """#
        #expect(try await api.post("/v1/chat/completions", body).status == 200)
    }

    @Test(
        arguments: [
            "", "{", #"{"model":"tiny","messages":[{"role":"us"#, "[]", "5", "null", "\"x\"", "{}x",
            #"{"a":1,"a":2}"#,
            #"{"a":\#(String(repeating: "[", count: 5000))"#, String(repeating: "{\"a\":", count: 2000), "\u{0}",
            "{'a':1}",
        ])
    func aBrokenBodyIsRefused(body: String) async throws {
        for path in ["/v1/chat/completions", "/v1/responses", "/v1/messages", "/api/chat", "/completion"] {
            let answer = try await APIFixture().post(path, body)
            #expect(answer.status == 400)
            #expect(try answer.json[path: "error"] != nil)
        }
    }

    @Test func aBodyThatIsNoUTF8OrTooLargeIsRefused() async throws {
        let api = APIFixture()
        #expect(
            try await api.send("POST", "/v1/chat/completions", Array("{\"a\":\"".utf8) + [0xFF, 0xFE]).status == 400
        )
        let large = [UInt8](repeating: UInt8(ascii: " "), count: Fields.maximumBytes + 1)
        #expect(try await api.send("POST", "/v1/chat/completions", large).status == 413)
    }

    @Test func tenThousandMessagesAreRead() async throws {
        let api = APIFixture([[.finish(.endOfGeneration)]])
        let pairs = (0..<5000).map { #"{"role":"user","content":"\#($0)"},{"role":"assistant","content":"x"}"# }
        let body =
            #"{"model":"tiny","messages":[\#(pairs.joined(separator: ",")),{"role":"user","content":"end"}]}"#
        #expect(try await api.post("/v1/chat/completions", body).status == 200)
        #expect(await api.engine.requests.first?.count == 10_001)
    }

    @Test func whatAnEngineCannotDoIsRefusedByName() async throws {
        let cases: [(String, String)] = [
            (#""logprobs":true"#, "logprobs"), (#""logit_bias":{"1":2}"#, "logit_bias"),
            (#""response_format":{"type":"json_object"}"#, "response_format"),
            (#""grammar":"root ::= \"a\"""#, "grammar"),
        ]
        for (extra, field) in cases {
            let api = APIFixture(abilities: [])
            let answer = try await api.post("/v1/chat/completions", #"{"model":"tiny",\#(Self.message),\#(extra)}"#)
            #expect(answer.status == 400)
            #expect(try answer.json.text("error/param") == field)
            #expect(try answer.json.text("error/code") == "unsupported_parameter")
        }
    }

    @Test(
        arguments: [
            (LLMError(.busy, "full", disposition: .tryLater), 429, "rate_limit_exceeded"),
            (LLMError(.templateFailed, "no"), 400, "chat-template-failed"),
            (LLMError(.generateFailed, "broken"), 500, "generation-failed"),
        ])
    func errorsOfTheEngineHaveTheirStatus(error: LLMError, status: Int, code: String) async throws {
        for streams in [false, true] {
            let api = APIFixture([[.fail(error)]])
            let body = #"{"model":"tiny",\#(Self.message),"stream":\#(streams)}"#
            let answer = try await api.post("/v1/chat/completions", body)
            #expect(answer.status == status)
            #expect(try answer.json.text("error/code") == code)
            #expect((answer.headers.joined("Retry-After") == "1") == (status == 429))
        }
    }

    @Test func aPromptThatIsTooLongTellsBothCounts() async throws {
        let api = APIFixture([[.fail(ContextFit.exceeded(tokens: "at least 900", window: 256))]])
        let answer = try await api.post("/v1/chat/completions", #"{"model":"tiny",\#(Self.message),"stream":true}"#)
        #expect(answer.status == 400)
        let json = try answer.json
        #expect(json.text("error/type") == "exceed_context_size_error")
        #expect(json.number("error/n_prompt_tokens") == 900)
        #expect(json.number("error/n_ctx") == 256)
    }

    @Test func aFailureInMidStreamIsItsLastEvent() async throws {
        let steps: [ScriptedEngine.Step] = [.text("a"), .fail(LLMError(.generateFailed, "broken"))]
        let api = APIFixture([steps, steps, steps])
        let chat = try await api.post("/v1/chat/completions", #"{"model":"tiny",\#(Self.message),"stream":true}"#)
        #expect(chat.status == 200)
        #expect(try chat.events.last?.text("error/type") == "server_error")
        #expect(!chat.text.contains("[DONE]"))
        let messages = try await api.post(
            "/v1/messages", #"{"model":"tiny","max_tokens":9,\#(Self.message),"stream":true}"#)
        #expect(try messages.events.last?.text("type") == "error")
        let ollama = try await api.post("/api/chat", #"{"model":"tiny",\#(Self.message)}"#)
        #expect(try ollama.lines.last?.text("error") == "broken")
    }

    @Test func theWrongMethodIsToldTheRightOne() async throws {
        let answer = try await APIFixture().send("GET", "/v1/chat/completions")
        #expect(answer.status == 405)
        #expect(answer.headers.joined("Allow") == "POST")
        #expect(try await APIFixture().send("GET", "/v1/nothing").text == "no route\n")
    }
}
