import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

@Suite struct ChatTests {
    private static let hello = #"{"model":"tiny","messages":[{"role":"user","content":"Hi"}]}"#

    @Test func anAnswerHasEveryRequiredFieldAlsoThoseThatAreNull() async throws {
        let api = APIFixture([[.thinking("hm"), .text("Hel"), .text("lo"), .finish(.endOfGeneration)]])
        let answer = try await api.post("/v1/chat/completions", Self.hello)
        #expect(answer.status == 200)
        let json = try answer.json
        #expect(json.text("object") == "chat.completion")
        #expect(json.text("id")?.hasPrefix("chatcmpl-") == true)
        #expect(json.text("model") == "tiny")
        #expect(json.text("choices/0/message/content") == "Hello")
        #expect(json.text("choices/0/message/reasoning_content") == "hm")
        #expect(json.text("choices/0/message/reasoning") == "hm")
        #expect(json[path: "choices/0/message/refusal"] == .null)
        #expect(json[path: "choices/0/logprobs"] == .null)
        #expect(json.text("choices/0/finish_reason") == "stop")
        #expect(json.number("usage/completion_tokens") == 3)
        #expect(json.number("usage/prompt_tokens_details/cached_tokens") == 0)
        #expect(json.number("usage/completion_tokens_details/reasoning_tokens") == 0)
    }

    @Test func aStreamBeginsWithTheRoleAndEndsWithCountsAndDone() async throws {
        let api = APIFixture([[.text("a"), .text("b"), .finish(.maximumNewTokens)]])
        let answer = try await api.post(
            "/v1/chat/completions",
            #"{"model":"tiny","messages":[{"role":"user","content":"Hi"}],"stream":true,"stream_options":{"include_usage":true}}"#
        )
        #expect(answer.headers.joined("Content-Type") == "text/event-stream")
        #expect(answer.text.hasSuffix("data: [DONE]\n\n"))
        let events = try answer.events
        #expect(events.first?.text("choices/0/delta/role") == "assistant")
        #expect(events.first?[path: "choices/0/delta/content"] == .null)
        #expect(events.compactMap { $0.text("choices/0/delta/content") }.joined() == "ab")
        let finish = events.first { $0.text("choices/0/finish_reason") != nil }
        #expect(finish?.text("choices/0/finish_reason") == "length")
        #expect(finish?[path: "choices/0/delta"] == .object([:]))
        #expect(events.last?.count("choices") == 0)
        #expect(events.last?.number("usage/total_tokens") == 3)
        #expect(Set(events.map { $0.text("id") }).count == 1)
        #expect(Set(events.compactMap { $0.text("object") }) == ["chat.completion.chunk"])
    }

    @Test func theRequestsValuesReachTheEngine() async throws {
        let api = APIFixture([[.finish(.endOfGeneration)]])
        let body = #"""
            {"model":"tiny","messages":[{"role":"system","content":"A"},{"role":"developer","content":"B"},
            {"role":"user","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}],
            "max_completion_tokens":7,"max_tokens":9,"temperature":1.5,"top_p":0.5,"top_k":3,"min_p":0.1,"seed":42,
            "frequency_penalty":0.5,"presence_penalty":-0.5,"stop":["END"],"reasoning_effort":"none",
            "logprobs":true,"top_logprobs":4,"logit_bias":{"5":-100,"6":1.5}}
            """#
        #expect(try await api.post("/v1/chat/completions", body).status == 200)
        let options = try #require(await api.engine.options.first)
        let messages = try #require(await api.engine.requests.first)
        #expect(messages == [ChatMessage(.system, "A\n\nB"), ChatMessage(.user, "x\ny")])
        #expect(options.maximumNewTokens == 7)
        #expect(options.sampling.temperature == 1.5)
        #expect(options.sampling.topP == 0.5)
        #expect(options.sampling.topK == 3)
        #expect(options.sampling.minP == 0.1)
        #expect(options.sampling.seed == 42)
        #expect(options.sampling.frequencyPenalty == 0.5)
        #expect(options.sampling.presencePenalty == -0.5)
        #expect(options.sampling.logitBias == [5: -.infinity, 6: 1.5])
        #expect(options.stopStrings == ["END"])
        #expect(!options.thinking.isEnabled)
        #expect(options.tokenReports == TokenReports(alternatives: 4))
        #expect(options.keepsAllMessages)
    }

    @Test func copiesBeginWhenTheFirstHasComputedThePromptAndHaveSeedsOfTheirOwn() async throws {
        let answer: [ScriptedEngine.Step] = [.event(.phase(.decode)), .text("x"), .finish(.endOfGeneration)]
        let api = APIFixture([answer, answer, answer])
        let body = #"{"model":"tiny","messages":[{"role":"user","content":"Hi"}],"n":3,"seed":5}"#
        let json = try await api.post("/v1/chat/completions", body).json
        #expect(json.count("choices") == 3)
        #expect((0..<3).map { json.number("choices/\($0)/index") } == [0, 1, 2])
        #expect(json.number("usage/prompt_tokens") == 1)
        #expect(json.number("usage/completion_tokens") == 3)
        let seeds = await api.engine.options.map(\.sampling.seed)
        #expect(seeds.first == 5)
        #expect(Set(seeds) == [5, 6, 7])
    }

    @Test(arguments: [false, true])
    func callsOfToolsAreReported(streams: Bool) async throws {
        let call = ToolCall(id: "call1", name: "look", arguments: #"{"at":"sky"}"#)
        let api = APIFixture([[.toolCall(call), .finish(.toolCalls)]])
        let body = #"""
            {"model":"tiny","stream":\#(streams),"messages":[{"role":"user","content":"Look"}],"tool_choice":"required",
            "tools":[{"type":"function","function":{"name":"look","description":"Looks.","parameters":
            {"type":"object","properties":{"z":{"type":"string"},"at":{"type":"string"}}}}}]}
            """#
        let answer = try await api.post("/v1/chat/completions", body)
        let options = try #require(await api.engine.options.first)
        #expect(options.toolChoice == .required)
        // The order of properties is the order of the answer.
        #expect(
            options.tools.first?.parameters
                == #"{"type":"object","properties":{"z":{"type":"string"},"at":{"type":"string"}}}"#)
        let json = try streams ? answer.events : [answer.json]
        let place = streams ? "choices/0/delta/tool_calls/0" : "choices/0/message/tool_calls/0"
        let found = try #require(json.first { $0[path: place] != nil })
        #expect(found.text("\(place)/id") == "call1")
        #expect(found.text("\(place)/function/name") == "look")
        #expect(found.text("\(place)/function/arguments") == #"{"at":"sky"}"#)
        #expect(json.contains { $0.text("choices/0/finish_reason") == "tool_calls" })
    }

    @Test func resultsOfToolsFollowTheirCalls() async throws {
        let api = APIFixture([[.finish(.endOfGeneration)]])
        let body = #"""
            {"model":"tiny","messages":[{"role":"user","content":"Look"},{"role":"assistant","content":null,
            "tool_calls":[{"id":"c9","type":"function","function":{"name":"look","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"c9","content":"blue"}]}
            """#
        #expect(try await api.post("/v1/chat/completions", body).status == 200)
        let messages = try #require(await api.engine.requests.first)
        #expect(messages[1].toolCalls == [ToolCall(id: "c9", name: "look", arguments: "{}")])
        #expect(messages[2].toolCallID == "c9")
        #expect(messages[2].toolName == "look")
    }

    @Test func probabilitiesAreSentWithTheirText() async throws {
        func report(_ text: String) -> ScriptedEngine.Step {
            let chance = TokenReport.Chance(token: 7, bytes: Array(text.utf8), logProbability: -0.5)
            return .event(.token(TokenReport(chosen: chance, alternatives: [chance])))
        }
        let steps: [ScriptedEngine.Step] = [
            report("a"), .text("a"), report("b"), report("c"), .text("bc"), .finish(.endOfGeneration),
        ]
        let api = APIFixture([steps, steps])
        let fields = #""model":"tiny","messages":[{"role":"user","content":"Hi"}],"logprobs":true,"top_logprobs":1"#
        let whole = try await api.post("/v1/chat/completions", "{\(fields)}").json
        #expect(whole.count("choices/0/logprobs/content") == 3)
        #expect(whole.number("choices/0/logprobs/content/0/logprob") == -0.5)
        #expect(whole.text("choices/0/logprobs/content/2/top_logprobs/0/token") == "c")
        let events = try await api.post("/v1/chat/completions", "{\(fields),\"stream\":true}").events
        let pieces = events.compactMap { event -> (String, Int)? in
            guard let text = event.text("choices/0/delta/content") else { return nil }
            return (text, event.count("choices/0/logprobs/content") ?? 0)
        }
        #expect(pieces.map(\.0) == ["a", "bc"])
        #expect(pieces.map(\.1) == [1, 2])
    }

    @Test func theLastAnswerIsContinuedUnlessTheRequestSaysNo() async throws {
        let api = APIFixture([[.finish(.endOfGeneration)], [.finish(.endOfGeneration)]])
        let messages = #"[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hel"}]"#
        for extra in ["", #","continue_final_message":false"#] {
            let body = #"{"model":"tiny","messages":\#(messages)\#(extra)}"#
            #expect(try await api.post("/v1/chat/completions", body).status == 200)
        }
        #expect(await api.engine.options.map(\.continuesLastMessage) == [true, false])
    }
}
