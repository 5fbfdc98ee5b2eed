import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

/// Texts that are refused for their size, before the engine reads them.
@Suite(.timeLimit(.minutes(2)))
struct TextSizeTests {
    private static let huge = String(repeating: "a", count: 300_000)

    @Test(
        arguments: [
            ("/v1/completions", #"{"model":"tiny","prompt":["\#(huge)","a"]}"#),
            ("/v1/completions", #"{"model":"tiny","prompt":[1,"\#(huge)"]}"#),
            ("/completion", #"{"prompt":["\#(huge.prefix(150_000))","\#(huge.prefix(150_000))"]}"#),
            ("/completion", #"{"prompt":"\#(huge)"}"#), ("/tokenize", #"{"content":"\#(huge)"}"#),
            // Each text costs some work of its own.
            ("/tokenize", #"{"content":[1\#(String(repeating: #","a""#, count: 5000))]}"#),
        ])
    func textsOfAPromptAreCountedTogether(path: String, body: String) async throws {
        let api = APIFixture([])
        let reply = try await api.post(path, body)
        #expect(reply.status == 400)
        let json = try reply.json
        #expect(json.text("error/code") == "context_length_exceeded")
        #expect(json.text("error/type") == "exceed_context_size_error")
        // The text has no known number of tokens.
        #expect(json[path: "error/n_prompt_tokens"] == nil)
        #expect(await api.engine.options.isEmpty)
    }

    @Test(
        arguments: [
            #"{"\#(huge)":1}"#, #"[["\#(huge)",false]]"#,
            "{\((0..<1000).map { #""word \#($0)":1"# }.joined(separator: ","))}",
        ])
    func textsOfALogitBiasAreShort(bias: String) async throws {
        let body = #"{"model":"tiny","messages":[{"role":"user","content":"a"}],"logit_bias":\#(bias)}"#
        let reply = try await APIFixture([]).post("/v1/chat/completions", body)
        #expect(reply.status == 400)
        #expect(try reply.json.text("error/param") == "logit_bias")
    }

    /// Ten thousand tokens by number need no text to be cut.
    @Test func tokensOfALogitBiasMayBeMany() async throws {
        let bias = (0..<10_000).map { #""\#($0)":1"# }.joined(separator: ",")
        let body = #"{"model":"tiny","messages":[{"role":"user","content":"a"}],"logit_bias":{\#(bias)}}"#
        let api = APIFixture([[.text("a"), .finish(.endOfGeneration)]])
        #expect(try await api.post("/v1/chat/completions", body).status == 200)
        #expect(await api.engine.options.first?.sampling.logitBias.count == 10_000)
    }

    @Test func tooManyAnswersAreRefusedBeforeTheirPromptsAreRead() async throws {
        let prompts = (0..<64).map { #""\#($0)""# }.joined(separator: ",")
        let reply = try await APIFixture([]).post("/v1/completions", #"{"model":"tiny","prompt":[\#(prompts)],"n":64}"#)
        #expect(reply.status == 400)
        #expect(try reply.json.text("error/param") == "n")
    }
}
