import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

/// Requests of `/v1/messages` in the forms that coding agents send.
@Suite struct AgentMessagesTests {
    private static let plain: [ScriptedEngine.Step] = [.text("ok"), .finish(.endOfGeneration)]

    private func body(_ rest: String, messages: String = #"[{"role":"user","content":"Hi"}]"#) -> String {
        #"{"model":"tiny","max_tokens":50,"messages":\#(messages),\#(rest)}"#
    }

    @Test func anAgentsFirstRequestIsAnswered() async throws {
        let api = APIFixture([Self.plain])
        let answer = try await api.post(
            "/v1/messages",
            #"""
            {"model":"tiny","max_tokens":32000,"metadata":{"user_id":"x"},"stream":true,
            "thinking":{"type":"adaptive","display":"omitted"},"output_config":{"effort":"low"},
            "context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},
            "system":[{"type":"text","text":"A","cache_control":{"type":"ephemeral"}},{"type":"text","text":"B"}],
            "tools":[{"name":"Read","description":"Reads.","input_schema":{"type":"object"}},
            {"name":"Later","defer_loading":true,"input_schema":{"type":"object"}}],
            "messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]},
            {"role":"system","content":[{"type":"text","text":"E","cache_control":{"type":"ephemeral"}}]}]}
            """#)
        #expect(answer.status == 200)
        #expect(answer.leftOut == nil)
        let end = try answer.events.first { $0.text("type") == "message_delta" }
        #expect(end?[path: "context_management/applied_edits"] == [])
        let options = try #require(await api.engine.options.first)
        #expect(options.tools.map(\.name) == ["Read"])
        #expect(options.thinking.maximumTokens == 512)
        #expect(await api.engine.requests.first?.map(\.role) == [.system, .user])
        #expect(await api.engine.requests.first?.first?.content == "A\nB\n\nE")
    }

    /// Two conversations begin alike, whatever their first questions are: the line about the version goes, and the
    /// surroundings stand before the question.
    @Test func conversationsBeginAlike() async throws {
        let api = APIFixture([Self.plain, Self.plain])
        for (suffix, question) in [("a22", "One?"), ("b07", "Two?")] {
            let system = #"""
                "system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.332.\#(suffix); cc_entrypoint=cli;"},
                {"type":"text","text":"A"}]
                """#
            let messages = #"""
                [{"role":"user","content":"\#(question)"},{"role":"system","content":"E"},{"role":"system","content":"F"},
                {"role":"assistant","content":"Yes."},{"role":"user","content":"More?"},{"role":"system","content":"G"}]
                """#
            #expect(try await api.post("/v1/messages", body(system, messages: messages)).status == 200)
            let read = try #require(await api.engine.requests.last)
            #expect(read.map(\.role) == [.system, .user, .assistant, .user, .system])
            #expect(read.map(\.content) == ["A\n\nE\n\nF", question, "Yes.", "More?", "G"])
        }
    }

    @Test(arguments: [
        ("x-anthropic-billing-header: cc_version=2.1.332.a22;", true),
        ("x-anthropic-billing-header: a\nYou are", false),
        ("You are x-anthropic-billing-header: a", false), ("", false),
    ])
    func onlyTheLineAboutTheVersionGoes(block: String, goes: Bool) { #expect(SteadyPrompt.isBilling(block) == goes) }

    @Test func deferredToolsAreOfferedAfterTheyWereFound() async throws {
        let api = APIFixture([Self.plain, Self.plain])
        let tools = #"""
            "tools":[{"name":"Later","defer_loading":true,"input_schema":{"type":"object"}},
            {"name":"Never","defer_loading":true,"input_schema":{"type":"object"}},
            {"name":"ToolSearch","input_schema":{"type":"object"}}]
            """#
        let found = #"""
            [{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"ToolSearch","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"tool_reference","tool_name":"Later"}]}]}]
            """#
        #expect(try await api.post("/v1/messages", body(tools, messages: found)).status == 200)
        // Found tools come last, so that the beginning of the prompt stays.
        #expect(await api.engine.options.last?.tools.map(\.name) == ["ToolSearch", "Later"])
        #expect(await api.engine.requests.last?.last?.content.contains("Later") == true)
        // Where a server would search, the model reads all tools.
        let server = #"""
            "tools":[{"name":"Later","defer_loading":true,"input_schema":{"type":"object"}},
            {"type":"tool_search_tool_regex_20251119","name":"tool_search_tool_regex"}]
            """#
        let answer = try await api.post("/v1/messages", body(server))
        #expect(answer.leftOut == "tool_search_tool_regex_20251119")
        #expect(await api.engine.options.last?.tools.map(\.name) == ["Later"])
    }

    @Test(
        arguments: [
            ("bash_20250124", "bash", "command"), ("bash_20990101", "bash", "command"),
            ("text_editor_20250728", "str_replace_based_edit_tool", "old_str"),
            ("memory_20250818", "memory", "old_path"), ("computer_20251124", "computer", "coordinate"),
        ])
    func toolsThatTheClientRunsHaveADescription(type: String, name: String, argument: String) async throws {
        let call = ToolCall(id: "a", name: name, arguments: #"{"command":"view","path":"/a","action":"screenshot"}"#)
        let api = APIFixture([[.toolCall(call), .finish(.toolCalls)], Self.plain])
        let answer = try await api.post(
            "/v1/messages", body(#""tools":[{"type":"\#(type)","name":"\#(name)","display_width_px":5}]"#))
        #expect(answer.status == 200)
        #expect(answer.leftOut == nil)
        #expect(try answer.json.text("content/0/name") == name)
        let tool = try #require(await api.engine.options.first?.tools.first)
        #expect(tool.name == name && !tool.description.isEmpty && tool.parameters.contains(argument))
        // Without a name, the kind has its usual one.
        #expect(try await api.post("/v1/messages", body(#""tools":[{"type":"\#(type)"}]"#)).status == 200)
        #expect(await api.engine.options.last?.tools.first?.name == name)
    }

    @Test func unknownKindsAreLeftOutInEveryPlace() async throws {
        let api = APIFixture([Self.plain])
        let answer = try await api.post(
            "/v1/messages",
            body(
                #"""
                "tools":[{"type":"web_search_20250305","name":"web_search"},{"type":"code_execution_20990101","name":"x"},
                {"type":"mcp_toolset","mcp_server_name":"m"},{"name":"look","input_schema":{"type":"object"}}],
                "tool_choice":{"type":"perhaps"},"thinking":{"type":"deep"},"container":"c","mcp_servers":[{"url":"u"}],
                "context_management":{"edits":[{"type":"compact_20260112"},{"type":"fold_20990101"}]},
                "system":[{"type":"text","text":"A"},{"type":"banner"}],"speed":"fast","betas":["a"]
                """#,
                messages: #"""
                    [{"role":"user","content":[{"type":"text","text":"Hi"},{"type":"hologram","data":"x"}]},
                    {"role":"assistant","content":[{"type":"redacted_thinking","data":"x"},{"type":"dream"}]},
                    {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"smell"}]},
                    {"type":"text","text":"So?"}]}]
                    """#))
        #expect(answer.status == 200)
        let kinds = Set(answer.leftOut?.split(separator: ", ").map(String.init) ?? [])
        #expect(
            kinds == [
                "banner", "hologram", "dream", "smell", "web_search_20250305", "code_execution_20990101", "mcp_toolset",
                "tool_choice.perhaps", "thinking.deep", "compact_20260112", "fold_20990101", "container", "mcp_servers",
                "speed", "betas",
            ])
        #expect(await api.engine.options.first?.tools.map(\.name) == ["look"])
        #expect(await api.engine.requests.first?.map(\.role) == [.system, .user, .tool, .user])
    }

    @Test(
        arguments: [
            (#""tools":[],"tool_choice":{"type":"any"}"#, "tool_choice.type"),
            (
                #""tools":[{"type":"web_search_20250305","name":"w"}],"tool_choice":{"type":"tool","name":"w"}"#,
                "tool_choice.name"
            ),
            (#""tools":[{"name":"a"},{"name":"a","description":"other"}]"#, "tools[1].name"),
            (#""tools":[{"name":"a","input_schema":5}]"#, "tools[0].input_schema"), (#""tools":[5]"#, "tools[0]"),
            (#""context_management":5"#, "context_management"), (#""thinking":{"type":5}"#, "thinking.type"),
            (#""output_config":{"format":{"type":"sound"}}"#, "output_config.format.type"),
        ])
    func onlyWhatTheAnswerNeedsIsRefused(rest: String, field: String) async throws {
        let answer = try await APIFixture([Self.plain]).post("/v1/messages", body(rest))
        #expect(answer.status == 400)
        #expect(try answer.json.text("error/message")?.contains("`\(field)`") == true)
    }

    @Test func longAndOddNamesComeBackAsTheyWere() async throws {
        let long = String(repeating: "a", count: 128)
        let calls = ["srv_look_at", "srv_look_at_2", long].map { ToolCall(id: $0, name: $0, arguments: "{}") }
        let api = APIFixture([calls.map { .toolCall($0) } + [.finish(.toolCalls)]])
        let tools = ["srv.look/at", "srv look at", long].map { #"{"name":"\#($0)","input_schema":{"type":"object"}}"# }
        let json = try await api.post("/v1/messages", body(#""tools":[\#(tools.joined(separator: ","))]"#)).json
        #expect(json.text("content/0/name") == "srv.look/at")
        #expect(json.text("content/1/name") == "srv look at")
        #expect(json.text("content/2/name") == long)
        #expect(await api.engine.options.first?.tools.map(\.name) == ["srv_look_at", "srv_look_at_2", long])
    }

    @Test func documentsAndFoundPagesAreTheirText() async throws {
        let api = APIFixture([Self.plain])
        let messages = #"""
            [{"role":"user","content":[
            {"type":"document","title":"T","source":{"type":"text","media_type":"text/plain","data":"one"}},
            {"type":"document","source":{"type":"content","content":[{"type":"text","text":"two"}]}},
            {"type":"document","source":{"type":"base64","media_type":"text/plain","data":"dGhyZWU="}},
            {"type":"search_result","title":"S","source":"https://a.example","content":[{"type":"text","text":"four"}]}]}]
            """#
        #expect(try await api.post("/v1/messages", body(#""speed":null"#, messages: messages)).status == 200)
        let text = try #require(await api.engine.requests.first?.first?.content)
        for part in ["T\none", "two", "three", "S\nhttps://a.example\nfour"] { #expect(text.contains(part)) }
        let refused =
            #"[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}]}]"#
        let answer = try await api.post("/v1/messages", body(#""speed":null"#, messages: refused))
        #expect(answer.status == 400)
        #expect(try answer.json.text("error/message")?.contains("application/pdf") == true)
    }

    @Test func thinkingThatIsNotShownComesBackToTheModel() async throws {
        let api = APIFixture([[.thinking("deep"), .text("ok"), .finish(.endOfGeneration)], Self.plain])
        let hidden = #""thinking":{"type":"adaptive","display":"omitted"}"#
        let json = try await api.post("/v1/messages", body(hidden)).json
        #expect(json.text("content/0/thinking") == "")
        let signature = try #require(json.text("content/0/signature"))
        #expect(!signature.contains("deep"))
        let messages = #"""
            [{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"\#(signature)"},
            {"type":"text","text":"ok"}]},{"role":"user","content":"On"}]
            """#
        _ = try await api.post("/v1/messages", body(hidden, messages: messages))
        #expect(await api.engine.requests.last?[1].thinking == "deep")
    }
}
