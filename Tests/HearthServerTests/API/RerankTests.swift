import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

/// Rankings, vectors and what else programs ask for beside answers.
@Suite struct RerankTests {
    /// Counts letters: the vector of a text says which letters it has. Texts of more than ten words are too long.
    private struct LetterEngine: InferenceEngine, TokenReader {
        var ranks = false
        var modelInformation: ModelInformation {
            var information = ModelInformation(description: "letters", contextLength: 64)
            information.embeddingLength = 26
            return information
        }
        var capabilities: EngineCapabilities { ranks ? [.ranking] : [.embeddings, .tokenCounts] }

        func generate(
            _ messages: [ChatMessage], options: GenerationOptions,
            onEvent: @escaping @Sendable (GenerationEvent) -> Void
        ) async throws -> GenerationSummary { .none }

        func embed(_ texts: [String]) async throws -> [[Float]] {
            try texts.map { text in
                guard text.split(separator: " ").count <= 10 else {
                    throw LLMError(.exceededContextWindowSize, "too long")
                }
                var counts = [Float](repeating: 0, count: 26)
                for byte in text.lowercased().utf8 where (97...122).contains(byte) { counts[Int(byte) - 97] += 1 }
                let length = counts.reduce(0) { $0 + $1 * $1 }.squareRoot()
                return counts.map { $0 / max(length, 1) }
            }
        }

        func rank(_ query: String, _ documents: [String]) async throws -> [Float] {
            documents.map { $0.contains(query) ? 4 : -4 }
        }

        func tokenize(
            _ text: String, controlTokens: Bool, wholePrompt: Bool, limit: Int?
        ) async throws -> [TokenID] { text.utf8.map { TokenID($0) } }

        func pieces(of tokens: [TokenID]) async throws -> [[UInt8]] {
            try tokens.map { token in
                guard let byte = UInt8(exactly: token) else { throw LLMError(.generateFailed, "no such token") }
                return [byte]
            }
        }
    }

    private final class LetterModels: ModelProvider {
        let engine: LetterEngine
        init(_ engine: LetterEngine) { self.engine = engine }
        func models() async throws -> [ServedModel] { [ServedModel(name: "letters")] }
        func model(_ name: String?) async throws -> ServedModel { ServedModel(name: "letters") }
        func engine(for model: ServedModel) async throws -> any InferenceEngine { engine }
        func details(of model: ServedModel) async throws -> ModelDetails { ModelDetails() }
        func loaded() async -> [LoadedModel] { [] }
        func isAnswering(_ model: ServedModel) async -> Bool { false }
        func used(_ model: ServedModel, keepAlive: Duration?) async {}
        func unload(_ model: ServedModel) async {}
        func pull(_ name: String, progress: @escaping @Sendable (PullStep) -> Void) async throws {}
        func delete(_ name: String) async throws {}
    }

    private func post(_ path: String, _ body: String, ranks: Bool = false) async throws -> (
        status: Int, json: JSONValue
    ) {
        let routes = APIRoutes(APIService(LetterModels(LetterEngine(ranks: ranks)), time: ManualClock().time))
        let request = ServerRequest(method: "POST", target: path, body: RequestBody(Array(body.utf8)))
        let reply = try #require(await routes.reply(to: request))
        return (reply.status, try JSONValue(parsing: try await reply.collectedBody()))
    }

    private static let documents = #"["zzz yyy","apple pie",{"text":"apple","id":7},""]"#

    @Test(arguments: ["/v1/rerank", "/v2/rerank", "/rerank", "/v1/reranking", "/reranking"])
    func documentsAreOrderedByTheirRelevance(path: String) async throws {
        let body =
            #"{"model":"letters","query":"apple","documents":\#(Self.documents),"top_n":3,"return_documents":true}"#
        let (status, json) = try await post(path, body)
        #expect(status == 200)
        let results = try #require(json["results"]?.items)
        #expect(results.compactMap { $0["index"].flatMap(Fields.integer) } == [2, 1, 0])
        #expect(results[0]["document"] == ["text": "apple", "id": 7])
        #expect(results[1]["document"] == ["text": "apple pie"])
        #expect(json.number("results/0/relevance_score").map { abs($0 - 1) < 0.001 } == true)
        #expect(json.number("usage/total_tokens") ?? 0 > 0)
    }

    @Test func aRankingModelScoresFromZeroToOne() async throws {
        let body = #"{"model":"letters","query":"apple","documents":\#(Self.documents)}"#
        let json = try await post("/v1/rerank", body, ranks: true).json
        #expect(json.count("results") == 4)
        let first = try #require(json.number("results/0/relevance_score"))
        #expect(first > 0.9 && first < 1)
        #expect(json[path: "results/0/document"] == nil)
    }

    @Test func textsGiveAPlainList() async throws {
        let json = try await post("/rerank", #"{"query":"apple","texts":["zzz","apple"],"return_text":true}"#).json
        #expect(json.items.first?["index"] == 1)
        #expect(json.items.first?["text"] == "apple")
        #expect(json.items.first?["score"] != nil)
    }

    @Test func longDocumentsAreCut() async throws {
        let long = String(repeating: "apple ", count: 50)
        let json = try await post("/rerank", #"{"query":"apple","documents":["\#(long)","zzz"]}"#).json
        #expect(json.number("results/0/index") == 0)
    }

    @Test(arguments: [
        #"{"documents":["a"]}"#, #"{"query":"","documents":["a"]}"#, #"{"query":"q"}"#,
        #"{"query":"q","documents":[]}"#,
        #"{"query":"q","documents":"a"}"#, #"{"query":"q","documents":[1]}"#, #"{"query":"q","documents":[{"x":1}]}"#,
        #"{"query":"q","documents":["a"],"top_n":-1}"#, #"{"query":"q","documents":["a"],"top_n":"1"}"#,
        #"{"query":" ","documents":["a"]}"#, #"{"query":"q","documents":["a"],"return_documents":"yes"}"#,
    ])
    func aWrongRankingIsRefused(body: String) async throws {
        let (status, json) = try await post("/v1/rerank", body)
        #expect(status == 400 && json.text("error/message") != nil)
    }

    @Test func manyDocumentsAreRefused() async throws {
        let many = Array(repeating: "\"a\"", count: 2049).joined(separator: ",")
        #expect(try await post("/v1/rerank", #"{"query":"q","documents":[\#(many)]}"#).status == 400)
    }

    @Test(arguments: [
        (#""apple""#, 1), (#"["apple","pie"]"#, 2), ("[97,98]", 1), ("[[97,98],[99]]", 2), (#"["a",[98]]"#, 2),
    ])
    func textsAndTokensAreEmbedded(input: String, count: Int) async throws {
        let (status, json) = try await post("/v1/embeddings", #"{"model":"letters","input":\#(input)}"#)
        #expect(status == 200 && json.count("data") == count)
    }

    @Test(arguments: ["[]", "[[]]", "[1.5]", "[-1,\"a\"]", "[[97],1]", "[99999]", "{}", "null", "[[[97]]]", "[true]"])
    func otherInputIsRefused(input: String) async throws {
        #expect(try await post("/v1/embeddings", #"{"model":"letters","input":\#(input)}"#).status == 400)
    }

    @Test func ollamaCutsLongTextsUnlessItMayNot() async throws {
        let long = String(repeating: "word ", count: 400)
        let cut = try await post("/api/embed", #"{"model":"letters","input":"\#(long)"}"#)
        #expect(cut.status == 200 && cut.json.count("embeddings") == 1)
        #expect(try await post("/api/embed", #"{"model":"letters","input":"\#(long)","truncate":true}"#).status == 200)
        #expect(try await post("/api/embed", #"{"model":"letters","input":"\#(long)","truncate":false}"#).status == 400)
        #expect(try await post("/v1/embeddings", #"{"model":"letters","input":"\#(long)"}"#).status == 400)
    }
}
