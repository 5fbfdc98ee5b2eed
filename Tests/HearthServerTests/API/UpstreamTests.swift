import Foundation
import HearthBase
import HearthHTTP
import HearthInference
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthServer

/// Models of other servers in all dialects.
@Suite(.timeLimit(.minutes(5))) struct UpstreamTests {
    private static let tools =
        #"[{"type":"function","function":{"name":"look","parameters":{"type":"object","properties":{"at":{"type":"string"}}}}}]"#

    private func fixture(_ kind: UpstreamKind, calls: Bool = false) throws -> (FaultServer, UpstreamFixture) {
        let server = try FaultServer(UpstreamScript.handler(kind) { _ in UpstreamScript.answer(kind, calls: calls) })
        return (server, try UpstreamFixture(server, kind))
    }

    /// The body of the one question.
    private func question(_ server: FaultServer) throws -> JSONValue {
        let posts = server.requests.filter { $0.method == "POST" }
        #expect(posts.count == 1)
        return try JSONValue(parsing: try #require(posts.first).body)
    }

    // MARK: Lists

    @Test(arguments: UpstreamKind.allCases) func itsModelsAreInEveryList(_ kind: UpstreamKind) async throws {
        let (server, api) = try fixture(kind)
        #expect(try await api.send("GET", "/v1/models").json.text("data/0/id") == "far/big")
        #expect(try await api.send("GET", "/models").json.text("models/0/name") == "far/big")
        #expect(try await api.send("GET", "/api/tags").json.text("models/0/name") == "far/big")
        let messages = try await api.send("GET", "/v1/models", headers: ["anthropic-version": "2023-06-01"]).json
        #expect(messages.text("data/0/id") == "far/big")
        for path in ["/v1/models/far/big", "/v1/models/far%2Fbig"] {
            #expect(try await api.send("GET", path).json.text("id") == "far/big")
        }
        let shown = try await api.post("/api/show", #"{"model":"far/big"}"#).json
        #expect(shown.count("capabilities") == 4)
        // One question for all lists.
        #expect(server.requests.count == 1)
        let headers = try #require(server.requests.first).headers
        #expect(
            [headers["Authorization"], headers["x-api-key"], headers["x-goog-api-key"]].contains { value in
                value?.hasSuffix(UpstreamScript.key) == true
            })
        #expect(await api.upstreams.rows().first?.models == ["far/big"])
    }

    @Test func namesOfTheSettingsChooseTheModels() async throws {
        let server = try FaultServer { _ in UpstreamScript.list(.openai, ["qwen-8b", "qwen-30b", "llama", "qwen-8b"]) }
        let api = try UpstreamFixture(server) { $0.models = ["qwen-*", "other"] }
        #expect(await api.upstreams.models().map(\.model.id) == ["qwen-8b", "qwen-30b"])
        let plain = try UpstreamFixture(server) { $0.models = ["other", "llama"] }
        #expect(await plain.upstreams.models().map(\.model.id) == ["other", "llama"])
        #expect(try await plain.ask("far/qwen-8b").status == 404)
    }

    @Test(arguments: [
        "<!doctype html><title>Sign in</title>", "[1,2]", #"{"data": 7}"#, "not JSON", "",
        #"{"data":[{"id":7},{"id":""},{"id":"a b"},{"id":"x\u0000"},null]}"#,
    ])
    func aServerWithoutAListHasNoModels(_ text: String) async throws {
        let server = try FaultServer { _ in UpstreamScript.json(text) }
        let api = try UpstreamFixture(server)
        let list = try await api.send("GET", "/v1/models")
        #expect(list.status == 200)
        #expect(try list.json.count("data") == 0)
        #expect(try await api.ask("near/big").status == 404)
    }

    @Test func aServerThatDoesNotListItsModelsIsAskedAllTheSame() async throws {
        let server = try FaultServer { $0.method == "GET" ? .htmlPage : UpstreamScript.answer(.openai) }
        let api = try UpstreamFixture(server)
        #expect(try await api.ask("far/big").json.text("choices/0/message/content") == "Grüße")
        #expect(await api.upstreams.rows().first?.problem?.contains("web page") == true)
    }

    // MARK: Answers

    @Test(arguments: UpstreamKind.allCases) func allDialectsAnswer(_ kind: UpstreamKind) async throws {
        let (_, api) = try fixture(kind)
        let chat = try await api.ask("far/big").json
        #expect(chat.text("choices/0/message/content") == "Grüße")
        #expect(chat.text("choices/0/message/reasoning_content") == "Hm")
        #expect(chat.text("choices/0/finish_reason") == "stop")
        #expect(chat.text("model") == "far/big")
        #expect(chat.number("usage/prompt_tokens") == 7)
        #expect(chat.number("usage/completion_tokens") == 5)
        #expect(chat.number("usage/prompt_tokens_details/cached_tokens") == 3)
        let responses = try await api.post("/v1/responses", #"{"model":"far/big","input":"Hi"}"#).json
        #expect(responses.text("status") == "completed")
        let messages = try await api.post(
            "/v1/messages", #"{"model":"far/big","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}"#
        ).json
        #expect(messages.text("content/1/text") == "Grüße")
        #expect(messages.number("usage/input_tokens") == 4)
        let ollama = try await api.post(
            "/api/chat", #"{"model":"far/big","stream":false,"messages":[{"role":"user","content":"Hi"}]}"#
        ).json
        #expect(ollama.text("message/content") == "Grüße")
        // llama.cpp's paths have no version.
        let llama = try await api.post(
            "/chat/completions", #"{"model":"far/big","messages":[{"role":"user","content":"Hi"}]}"#
        ).json
        #expect(llama.text("choices/0/message/content") == "Grüße")
    }

    @Test(arguments: UpstreamKind.allCases) func streamsFlowInAllDialects(_ kind: UpstreamKind) async throws {
        let (_, api) = try fixture(kind)
        let chat = try await api.ask("far/big", #","stream":true,"stream_options":{"include_usage":true}"#)
        #expect(chat.status == 200 && chat.text.hasSuffix("data: [DONE]\n\n"))
        #expect(try chat.events.compactMap { $0.text("choices/0/delta/content") }.joined() == "Grüße")
        #expect(try chat.events.last?.number("usage/completion_tokens") == 5)
        let messages = try await api.post(
            "/v1/messages",
            #"{"model":"far/big","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"Hi"}]}"#)
        #expect(try messages.events.compactMap { $0.text("delta/text") }.joined() == "Grüße")
        #expect(try messages.events.last?.text("type") == "message_stop")
        let ollama = try await api.post(
            "/api/chat", #"{"model":"far/big:latest","messages":[{"role":"user","content":"Hi"}]}"#)
        #expect(try ollama.lines.compactMap { $0.text("message/content") }.joined() == "Grüße")
        let responses = try await api.post("/v1/responses", #"{"model":"far/big","input":"Hi","stream":true}"#)
        #expect(try responses.events.last?.text("type") == "response.completed")
    }

    @Test(arguments: UpstreamKind.allCases) func callsOfToolsComeBack(_ kind: UpstreamKind) async throws {
        let (server, api) = try fixture(kind, calls: true)
        let chat = try await api.ask("far/big", #","tools":\#(Self.tools),"tool_choice":"required""#).json
        #expect(chat.text("choices/0/message/tool_calls/0/function/name") == "look")
        #expect(chat.text("choices/0/message/tool_calls/0/function/arguments") == #"{"at":"sky"}"#)
        #expect(chat.text("choices/0/finish_reason") == "tool_calls")
        let sent = try question(server)
        switch kind {
        case .openai:
            #expect(sent.text("tools/0/function/name") == "look" && sent.text("tool_choice") == "required")
        case .anthropic: #expect(sent.text("tools/0/name") == "look" && sent.text("tool_choice/type") == "any")
        case .gemini:
            #expect(sent.text("tools/0/functionDeclarations/0/name") == "look")
            #expect(sent.text("toolConfig/functionCallingConfig/mode") == "ANY")
        }
    }

    @Test func aRequestKeepsItsOwnValuesAndSetsNoOthers() async throws {
        let (server, api) = try fixture(.openai)
        _ = try await api.ask("far/big")
        let plain = try question(server)
        for field in ["temperature", "max_tokens", "top_p", "seed"] { #expect(plain[field] == nil, "\(field)") }
        #expect(plain.text("model") == "big")
        let (other, set) = try fixture(.openai)
        let schema = #"{"type":"json_schema","json_schema":{"name":"a","schema":{"type":"object"}}}"#
        _ = try await set.ask(
            "far/big", #","temperature":1.5,"max_tokens":44,"seed":3,"stop":["X"],"response_format":\#(schema)"#)
        let sent = try question(other)
        #expect(sent.number("temperature") == 1.5 && sent.number("max_tokens") == 44 && sent.number("seed") == 3)
        #expect(sent.text("stop/0") == "X")
        #expect(sent.text("response_format/json_schema/schema/type") == "object")
    }

    @Test func aPictureIsSentOn() async throws {
        let (server, api) = try fixture(.openai)
        let url = "data:image/jpeg;base64," + Data(TestPictures.jpeg).base64EncodedString()
        let answer = try await api.post(
            "/v1/chat/completions",
            #"{"model":"far/big","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"\#(url)"}}]}]}"#
        )
        #expect(answer.status == 200)
        #expect(try question(server).text("messages/0/content/0/image_url/url") == url)
    }

    @Test func aRawPromptIsContinued() async throws {
        let server = try FaultServer(
            UpstreamScript.handler(.openai) { _ in
                UpstreamScript.stream([
                    #"{"choices":[{"text":" upon"}]}"#, #"{"choices":[{"text":" a","finish_reason":"length"}]}"#,
                    "[DONE]",
                ])
            })
        let api = try UpstreamFixture(server)
        let answer = try await api.post("/v1/completions", #"{"model":"far/big","prompt":"Once","max_tokens":2}"#).json
        #expect(answer.text("choices/0/text") == " upon a")
        #expect(server.requests.last?.path == "/v1/completions")
        #expect(try question(server).text("prompt") == "Once")
        // Several texts are several questions there.
        let both = try await api.post(
            "/v1/completions", #"{"model":"far/big","prompt":["Once","Then"],"max_tokens":2}"#)
        #expect(both.status == 200)
        #expect(try both.json.count("choices") == 2)
        let prompts = try server.requests.filter { $0.method == "POST" }
            .map { try JSONValue(parsing: $0.body).text("prompt") }
        #expect(Set(prompts.suffix(2)) == ["Once", "Then"])
    }

    @Test func aServerThatDoesNotStreamAnswersToo() async throws {
        let server = try FaultServer(
            UpstreamScript.handler(.openai) { _ in
                UpstreamScript.json(#"{"choices":[{"message":{"content":"whole"},"finish_reason":"stop"}]}"#)
            })
        let api = try UpstreamFixture(server)
        #expect(try await api.ask("far/big").json.text("choices/0/message/content") == "whole")
    }
}
