import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

/// Searches of the web that this server runs for an answer.
@Suite struct WebSearchTests {
    private static let call = ToolCall(id: "s1", name: "web_search", arguments: #"{"query":"tides"}"#)
    private static let searching: [ScriptedEngine.Step] = [.text("I look. "), .toolCall(call), .finish(.toolCalls)]
    private static let answering: [ScriptedEngine.Step] = [.text("High at two."), .finish(.endOfGeneration)]
    private static let pages = [
        WebPage(title: "Tides", address: "https://tides.example/today", excerpt: "14:20"),
        WebPage(title: "Other", address: "https://other.example/", excerpt: "no"),
    ]

    private func fixture(_ answers: [[ScriptedEngine.Step]], asked: Locked<[String]> = Locked([])) -> APIFixture {
        APIFixture(answers) { query, _ in
            asked.withLock { $0.append(query) }
            return Self.pages
        }
    }

    private static let messages = #"""
        {"model":"tiny","max_tokens":90,"messages":[{"role":"user","content":"Tides?"}],"stream":false,
        "tools":[{"type":"web_search_20250305","name":"web_search","max_uses":3,"blocked_domains":["other.example"]}]}
        """#

    @Test func messagesShowTheSearchAndItsPages() async throws {
        let asked = Locked<[String]>([])
        let api = fixture(
            [Self.searching, Self.answering, Self.searching, Self.answering, Self.answering], asked: asked)
        let answer = try await api.post("/v1/messages", Self.messages)
        #expect(answer.leftOut == nil)
        let json = try answer.json
        #expect(
            (0..<3).map { json.text("content/\($0)/type") } == ["server_tool_use", "web_search_tool_result", "text"])
        #expect(json.text("content/0/input/query") == "tides")
        #expect(json.text("content/0/id") == json.text("content/1/tool_use_id"))
        #expect(json.count("content/1/content") == 1)
        #expect(json.text("content/1/content/0/url") == "https://tides.example/today")
        #expect(json.text("stop_reason") == "end_turn")
        #expect(json.number("usage/server_tool_use/web_search_requests") == 1)
        #expect(asked.withLock { $0 } == ["tides"])
        // The model reads the pages after its call.
        let second = try #require(await api.engine.requests.last)
        #expect(second.map(\.role) == [.user, .assistant, .tool])
        #expect(second[2].content.contains("14:20") && !second[2].content.contains("other.example"))

        let events = try await api.post(
            "/v1/messages", Self.messages.replacing(#""stream":false"#, with: #""stream":true"#)
        ).events
        let starts = events.filter { $0.text("type") == "content_block_start" }
        #expect(
            starts.map { $0.text("content_block/type") } == [
                "text", "server_tool_use", "web_search_tool_result", "text",
            ])
        #expect(starts.map { $0.number("index") } == [0, 1, 2, 3])
        // The blocks come back in the next request.
        let history = #"""
            {"model":"tiny","max_tokens":9,"messages":[{"role":"user","content":"Tides?"},
            {"role":"assistant","content":\#(try #require(json[path: "content"]).line)},{"role":"user","content":"Sure?"}]}
            """#
        #expect(try await api.post("/v1/messages", history).status == 200)
        let said = try #require(await api.engine.requests.last)
        #expect(said.map(\.role) == [.user, .assistant, .tool, .assistant, .user])
        #expect(said[2].content.contains("14:20"))
    }

    @Test func responsesShowTheSearchAsAnItem() async throws {
        let api = fixture([Self.searching, Self.answering, Self.searching, Self.answering])
        let body = #"{"model":"tiny","input":"Tides?","tools":[{"type":"web_search"}],"stream":false}"#
        let json = try await api.post("/v1/responses", body).json
        #expect(json.text("output/0/type") == "web_search_call")
        #expect(json.text("output/0/action/query") == "tides")
        #expect(json.count("output/0/action/sources") == 2)
        #expect(json.text("output/1/content/0/text") == "I look. High at two.")
        let events = try await api.post(
            "/v1/responses", body.replacing(#""stream":false"#, with: #""stream":true"#)
        ).events
        let kinds = events.compactMap { $0.text("type") }
        #expect(kinds.contains("response.web_search_call.completed"))
        let done = events.filter { $0.text("type") == "response.output_item.done" }
        #expect(done.map { $0.text("item/type") } == ["message", "web_search_call", "message"])
        #expect(done[2].text("item/content/0/text") == "High at two.")
        #expect(done[0].text("item/id") != done[2].text("item/id"))
    }

    @Test func chatAnswersWithWhatItFound() async throws {
        let api = fixture([Self.searching, Self.answering])
        let json = try await api.post(
            "/v1/chat/completions",
            #"{"model":"tiny","messages":[{"role":"user","content":"Tides?"}],"web_search_options":{"search_context_size":"low"}}"#
        ).json
        #expect(json.text("choices/0/message/content") == "I look. High at two.")
        #expect(json[path: "choices/0/message/tool_calls"] == nil)
        #expect(json.text("choices/0/finish_reason") == "stop")
    }

    @Test func searchesEndAtTheirLimit() async throws {
        let api = fixture([Self.searching, Self.searching, Self.searching, Self.answering])
        let json = try await api.post("/v1/messages", Self.messages).json
        #expect(json.text("stop_reason") == "end_turn")
        #expect(await api.engine.options.map { $0.tools.count } == [1, 1, 1, 0])
    }

    @Test func aCallOfTheClientWaitsForIt() async throws {
        let look = ToolCall(id: "l1", name: "look", arguments: "{}")
        let api = fixture([[.toolCall(Self.call), .toolCall(look), .finish(.toolCalls)]])
        let body = Self.messages.replacing(#""tools":["#, with: #""tools":[{"name":"look"},"#)
        let json = try await api.post("/v1/messages", body).json
        #expect(
            (0..<3).map { json.text("content/\($0)/type") } == [
                "server_tool_use", "web_search_tool_result", "tool_use",
            ])
        #expect(json.text("stop_reason") == "tool_use")
    }

    @Test func aSearchThatFailsIsToldToTheModelAndTheClient() async throws {
        let api = APIFixture([Self.searching, Self.answering]) { _, _ in throw LLMError(.generateFailed, "no network") }
        let json = try await api.post("/v1/messages", Self.messages).json
        #expect(json.text("content/1/content/error_code") == "unavailable")
        #expect(await api.engine.requests.last?.last?.content == "the search failed: no network")
    }

    @Test func pagesOfAnArchiveAreNotSearchedLive() async throws {
        let api = fixture([Self.answering])
        let answer = try await api.post(
            "/v1/responses",
            #"{"model":"tiny","input":"x","tools":[{"type":"web_search","external_web_access":false}]}"#)
        #expect(answer.leftOut == "web_search")
        #expect(await api.engine.options.first?.tools.isEmpty == true)
    }

    @Test(
        arguments: [
            (["a.example"], [String](), "https://a.example/x", true), (["a.example"], [], "https://b.a.example/", true),
            (["a.example"], [], "https://ba.example/", false), ([], ["a.example/news"], "https://a.example/", false),
            ([], [], "no address", false), ([], [], "https://a.example/", true),
        ])
    func domainsLimitThePages(allowed: [String], blocked: [String], address: String, isPermitted: Bool) throws {
        let json: JSONValue = [
            "allowed_domains": .array(allowed.map { .string($0) }),
            "blocked_domains": .array(blocked.map { .string($0) }),
        ]
        var offered = OfferedTools()
        var rules = SearchRules()
        try rules.offer("web_search", in: &offered, Fields(parsing: json.bytes))
        #expect(rules.permits(WebPage(title: "", address: address, excerpt: "")) == isPermitted)
    }
}
