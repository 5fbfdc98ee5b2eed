import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

@Suite struct LlamaServerTests {
    private static func report(_ text: String) -> ScriptedEngine.Step {
        let chance = TokenReport.Chance(token: 7, bytes: Array(text.utf8), logProbability: -0.5)
        return .event(.token(TokenReport(chosen: chance, alternatives: [chance, chance])))
    }

    @Test func aCompletionHasTokensProbabilitiesAndSettings() async throws {
        let api = APIFixture([[Self.report("a"), .text("a"), .finish(.maximumNewTokens)]])
        let json = try await api.post(
            "/completion", #"{"prompt":"x","n_predict":1,"n_probs":2,"return_tokens":true,"seed":9}"#
        ).json
        #expect(json.text("content") == "a")
        #expect(json[path: "tokens"] == .array([.number("7")]))
        #expect(json.text("stop_type") == "limit")
        #expect(json.count("completion_probabilities/0/top_logprobs") == 2)
        #expect(json.number("generation_settings/n_predict") == 1)
        #expect(json.number("generation_settings/seed") == 9)
        #expect(json.number("timings/predicted_n") == 1)
    }

    @Test func theFieldsOfTheReplyCanBeChosen() async throws {
        let api = APIFixture([[.text("a"), .finish(.maximumNewTokens)]])
        let json = try await api.post(
            "/completion",
            #"{"prompt":"x","n_predict":3,"response_fields":["content","generation_settings/n_predict","nothing"]}"#
        ).json
        guard case .object(let members) = json else { throw APIFailure(.failed, "no object") }
        #expect(members == ["content": .string("a"), "generation_settings/n_predict": .number("3")])
    }

    @Test func aStreamWithProbabilitiesSendsOneObjectForEachToken() async throws {
        let steps = [Self.report("a"), Self.report("b"), .text("ab"), .finish(.maximumNewTokens)]
        let api = APIFixture([steps])
        let events = try await api.post("/completion", #"{"prompt":"x","n_probs":2,"stream":true}"#).events
        #expect(events.map { $0[path: "stop"] } == [.boolean(false), .boolean(false), .boolean(true)])
        #expect(events.dropLast().allSatisfy { $0.count("completion_probabilities") == 1 })
        #expect(events.compactMap { $0.text("content") }.joined() == "ab")
    }

    @Test func promptsAreTextsTokensOrLists() async throws {
        let answer: [ScriptedEngine.Step] = [.text("a"), .finish(.endOfGeneration)]
        let api = APIFixture([answer, answer, answer, answer])
        #expect(try await api.post("/completion", #"{"prompt":[1,2,3]}"#).json.text("content") == "a")
        #expect(try await api.post("/completion", #"{"prompt":[[1,2],[4]]}"#).json.count("") == 2)
        #expect(try await api.post("/completion", #"{"prompt":{"prompt_string":"x"}}"#).status == 200)
        let tokens = Set(await api.engine.options.map(\.promptTokens))
        #expect(tokens == [[1, 2, 3], [1, 2], [4], nil])
    }

    @Test(
        arguments: [
            #"{}"#, #"{"prompt":{}}"#, #"{"prompt":[]}"#, #"{"prompt":[[]]}"#, #"{"prompt":[1.5]}"#,
            #"{"prompt":{"prompt_string":"x","multimodal_data":["a"]}}"#, #"{"prompt":"x","mirostat":2}"#,
            #"{"prompt":"x","n_probs":1000}"#, #"{"prompt":"x","logit_bias":[[1]]}"#, #"{"prompt":[99999999999]}"#,
        ])
    func refusals(body: String) async throws {
        #expect(try await APIFixture().post("/completion", body).status == 400)
    }

    @Test func propertiesAndSlotsTellNoPath() async throws {
        let api = APIFixture()
        let json = try await api.send("GET", "/props").json
        #expect(json.text("model_path") == "tiny.gguf")
        #expect(json.number("default_generation_settings/n_ctx") == 4096)
        #expect(json.number("total_slots") == 1)
        let slots = try await api.send("GET", "/slots").json
        #expect(slots[path: "0/is_processing"] == .boolean(false))
    }
}
