import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

/// What programs ask of raw prompts.
@Suite struct ScoringTests {
    private static func report(_ text: String, _ value: Float, isPrompt: Bool) -> ScriptedEngine.Step {
        let chance = TokenReport.Chance(token: 7, bytes: Array(text.utf8), logProbability: value)
        return .event(.token(TokenReport(chosen: chance, alternatives: value == 0 ? [] : [chance], isPrompt: isPrompt)))
    }

    private static let steps: [ScriptedEngine.Step] = [
        report("The", 0, isPrompt: true), report(" sky", -1, isPrompt: true), .event(.phase(.decode)),
        report(" is", -0.5, isPrompt: false), .text(" is"), .finish(.maximumNewTokens),
    ]

    private static let body = #"{"model":"tiny","prompt":"The sky","max_tokens":1,"echo":true,"logprobs":1"#

    @Test func thePromptIsReportedBeforeItsAnswer() async throws {
        let api = APIFixture([Self.steps])
        let json = try await api.post("/v1/completions", Self.body + "}").json
        #expect(json.text("choices/0/text") == " is")
        let logs = try #require(json[path: "choices/0/logprobs"])
        #expect(logs["tokens"] == ["The", " sky", " is"])
        #expect(logs["token_logprobs"] == [.null, .number("-1.0"), .number("-0.5")])
        #expect(logs["text_offset"] == [0, 3, 7])
        #expect(logs["top_logprobs"]?.items.first == .null)
        #expect(await api.engine.options.first?.tokenReports?.includesPrompt == true)
    }

    @Test func aStreamReportsThePromptToo() async throws {
        let api = APIFixture([Self.steps])
        let events = try await api.post("/v1/completions", Self.body + #","stream":true}"#).events
        let offsets = events.compactMap { $0[path: "choices/0/logprobs/text_offset"]?.items }.joined()
        #expect(Array(offsets) == [0, 3, 7])
    }

    @Test func withoutEchoThePromptIsNotReported() async throws {
        let api = APIFixture([[.text("x"), .finish(.endOfGeneration)]])
        _ = try await api.post("/v1/completions", #"{"model":"tiny","prompt":"The sky","logprobs":1}"#)
        #expect(await api.engine.options.first?.tokenReports?.includesPrompt == false)
    }

    @Test(arguments: [
        ("/v1/completions", #"{"model":"tiny","prompt":"x","max_tokens":0}"#),
        ("/completion", #"{"prompt":"x","n_predict":0}"#),
        ("/v1/chat/completions", #"{"model":"tiny","messages":[{"role":"user","content":"x"}],"max_tokens":0}"#),
    ])
    func noTokenIsWanted(path: String, body: String) async throws {
        let api = APIFixture([[.finish(.maximumNewTokens)]])
        #expect(try await api.post(path, body).status == 200)
        #expect(await api.engine.options.first?.maximumNewTokens == 0)
    }

    @Test(arguments: [
        ("", true), (#","seed":1"#, false), (#","seed":1,"cache_prompt":true"#, true),
        (#","cache_prompt":false"#, false),
    ])
    func anAnswerWithASeedReusesNothing(fields: String, reuses: Bool) async throws {
        let api = APIFixture([[.text("x"), .finish(.endOfGeneration)]])
        #expect(try await api.post("/completion", #"{"prompt":"x","temperature":0\#(fields)}"#).status == 200)
        #expect(await api.engine.options.first?.reusesPrompt == reuses)
    }

    @Test func ollamaIsNewEnough() async throws {
        let json = try await APIFixture().send("GET", "/api/version").json
        let parts = try #require(json.text("version")).split(separator: ".").compactMap { Int($0) }
        #expect(parts.lexicographicallyPrecedes([0, 6, 4]) == false)
        #expect(json.text("hearth") != nil)
    }

    @Test func modelsSayWhatTheyCan() async throws {
        let api = APIFixture()
        let tags = try await api.send("GET", "/api/tags").json
        #expect(tags[path: "models/0/capabilities"] == ["completion", "tools", "thinking"])
        #expect(tags.text("models/0/details/family") == "llama")
        #expect(tags.text("models/0/details/parameter_size") == "135M")
        let models = try await api.send("GET", "/v1/models").json
        #expect(models.number("data/0/context_length") == 2048)
    }
}
