import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

/// Requests of `/v1/responses` in the forms that coding agents send.
@Suite struct AgentResponsesTests {
    private static let plain: [ScriptedEngine.Step] = [.text("ok"), .finish(.endOfGeneration)]

    private static func calls(_ calls: (String, String)...) -> [ScriptedEngine.Step] {
        calls.enumerated().map { .toolCall(ToolCall(id: "id\($0)", name: $1.0, arguments: $1.1)) } + [
            .finish(.toolCalls)
        ]
    }

    private static let tools = #"""
        [{"type":"function","name":"look","strict":false,"parameters":{"type":"object"}},
        {"type":"namespace","name":"agents","description":"Agents.","tools":[
        {"type":"function","name":"spawn","parameters":{"type":"object"}},
        {"type":"function","name":"look","parameters":{"type":"object"}},
        {"type":"custom","name":"exec","format":{"type":"grammar","syntax":"lark","definition":"start: /.+/"}}]},
        {"type":"custom","name":"apply","description":"Edits."},
        {"type":"tool_search","execution":"client","description":"Finds tools.","parameters":{"type":"object"}},
        {"type":"local_shell"},{"type":"web_search","external_web_access":true},{"type":"image_generation"},
        {"type":"mcp","server_label":"m"},{"type":"file_search"},{"type":"hologram","name":"h"}]
        """#

    @Test func callsOfEachKindComeBackInItsForm() async throws {
        let steps = Self.calls(
            ("look", "{}"), ("spawn", "{}"), ("agents__look", #"{"a":1}"#), ("exec", #"{"input":"text(1)\n"}"#),
            ("apply", #"{"input":"*** Begin"}"#), ("tool_search", #"{"query":"q"}"#),
            ("local_shell", #"{"command":["ls","-l"],"timeout_ms":5}"#))
        let api = APIFixture([steps, steps])
        let body = #"{"model":"tiny","input":"x","tools":\#(Self.tools),"stream":false}"#
        let answer = try await api.post("/v1/responses", body)
        #expect(answer.status == 200)
        #expect(answer.leftOut == "grammar, web_search, image_generation, mcp, file_search, hologram")
        let json = try answer.json
        let kinds = (0..<7).map { json.text("output/\($0)/type") }
        #expect(
            kinds == [
                "function_call", "function_call", "function_call", "custom_tool_call", "custom_tool_call",
                "tool_search_call", "local_shell_call",
            ])
        #expect(json.text("output/0/name") == "look" && json[path: "output/0/namespace"] == nil)
        #expect(json.text("output/1/name") == "spawn" && json.text("output/1/namespace") == "agents")
        #expect(json.text("output/2/name") == "look" && json.text("output/2/namespace") == "agents")
        #expect(json.text("output/3/input") == "text(1)\n" && json.text("output/3/namespace") == "agents")
        #expect(json.text("output/4/input") == "*** Begin" && json[path: "output/4/arguments"] == nil)
        #expect(json.text("output/5/execution") == "client" && json.text("output/5/arguments/query") == "q")
        #expect(json.text("output/6/action/command/1") == "-l" && json.number("output/6/action/timeout_ms") == 5)
        #expect(json.count("tools") == 10)
        let offered = try #require(await api.engine.options.first?.tools)
        #expect(
            offered.map(\.name) == ["look", "spawn", "agents__look", "exec", "apply", "tool_search", "local_shell"])
        #expect(offered[3].description.contains("start: /.+/"))
        // The stream has the same items, and the events of each kind.
        let events = try await api.post(
            "/v1/responses", body.replacing(#""stream":false"#, with: #""stream":true"#)
        ).events
        let done = events.filter { $0.text("type") == "response.output_item.done" }.compactMap { $0[path: "item"] }
        #expect(done.map(\.line) == (0..<7).compactMap { json[path: "output/\($0)"]?.line })
        let custom = events.filter { $0.text("type")?.hasPrefix("response.custom_tool_call_input") ?? false }
        #expect(
            custom.compactMap { $0.text("delta") ?? $0.text("input") } == [
                "text(1)\n", "text(1)\n", "*** Begin", "*** Begin",
            ])
        #expect(events.count { $0.text("type") == "response.function_call_arguments.done" } == 3)
        #expect(events.map { $0.number("sequence_number") } == events.indices.map { Double($0) })
    }

    @Test func toolsInsideTheInputAreOffered() async throws {
        let api = APIFixture([Self.calls(("exec", #"{"input":"1"}"#)), Self.plain])
        let input = #"""
            [{"type":"additional_tools","role":"developer","tools":[{"type":"namespace","name":"functions","tools":[
            {"type":"custom","name":"exec"},{"type":"function","name":"wait","parameters":{"type":"object"}}]}]},
            {"type":"message","role":"developer","content":[{"type":"input_text","text":"Be brief"}]},
            {"type":"message","role":"user","content":[{"type":"input_text","text":"Do"}]}]
            """#
        let json = try await api.post("/v1/responses", #"{"model":"tiny","input":\#(input),"tool_choice":"auto"}"#).json
        #expect(json.text("output/0/type") == "custom_tool_call")
        #expect(json.text("output/0/namespace") == "functions")
        #expect(await api.engine.options.first?.tools.map(\.name) == ["exec", "wait"])
        #expect(await api.engine.requests.first?.map(\.role) == [.system, .user])
        // Found tools are offered as well.
        let found =
            input.dropLast() + #"""
                ,{"type":"tool_search_call","call_id":"s","execution":"client","arguments":{"query":"q"}},
                {"type":"tool_search_output","call_id":"s","execution":"client","tools":[
                {"type":"function","name":"draw","defer_loading":true,"parameters":{"type":"object"}}]}]
                """#
        #expect(try await api.post("/v1/responses", #"{"model":"tiny","input":\#(found)}"#).status == 200)
        #expect(await api.engine.options.last?.tools.map(\.name) == ["exec", "wait", "draw"])
        let said = try #require(await api.engine.requests.last)
        #expect(said[2].toolCalls.map(\.name) == ["tool_search"])
        #expect(said[3].content.contains("draw") && said[3].toolCallID == "s")
    }

    @Test func historyOfEveryKindIsRead() async throws {
        let api = APIFixture([Self.plain])
        let input = #"""
            [{"role":"user","content":"Hi"},{"type":"reasoning","id":"rs_x","summary":[],"encrypted_content":"opaque"},
            {"type":"custom_tool_call","call_id":"a","name":"exec","namespace":"agents","input":"code"},
            {"type":"custom_tool_call_output","call_id":"a","output":[{"type":"input_text","text":"one"},{"type":"input_text","text":"two"}]},
            {"type":"function_call","call_id":"b","name":"look","namespace":"agents","arguments":"{}"},
            {"type":"function_call_output","call_id":"b","output":{"any":1}},
            {"type":"local_shell_call","call_id":"c","status":"completed","action":{"type":"exec","command":["ls"],"env":{}}},
            {"type":"local_shell_call_output","id":"c","output":"files"},
            {"type":"shell_call","call_id":"d","action":{"commands":["ls"]}},
            {"type":"shell_call_output","call_id":"d","output":[{"stdout":"s","stderr":"","outcome":{"type":"exit","exit_code":0}}]},
            {"type":"mcp_call","id":"e","name":"far","server_label":"m","arguments":"{\"x\":1}","output":"done"},
            {"type":"future_call","call_id":"f","action":{"go":true}},{"type":"future_call_output","call_id":"f"},
            {"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}},
            {"type":"item_reference","id":"msg_gone"},{"type":"compaction","encrypted_content":"x"},{"id":"rs_9"},
            {"type":"mcp_list_tools","tools":[]},{"type":"dream","text":"x"},{"role":"user","content":"Go on"}]
            """#
        let answer = try await api.post("/v1/responses", #"{"model":"tiny","input":\#(input),"tools":\#(Self.tools)}"#)
        #expect(answer.status == 200)
        let kinds = answer.leftOut?.components(separatedBy: ", ").suffix(5)
        #expect(kinds == ["web_search_call", "item_reference", "compaction", "mcp_list_tools", "dream"])
        let said = try #require(await api.engine.requests.first)
        #expect(
            said.flatMap(\.toolCalls).map(\.name) == ["exec", "agents__look", "local_shell", "shell", "far", "future"])
        #expect(said.flatMap(\.toolCalls)[0].arguments == #"{"input":"code"}"#)
        #expect(said.flatMap(\.toolCalls)[2].arguments == #"{"command":["ls"],"env":{}}"#)
        #expect(said.flatMap(\.toolCalls)[4].arguments == #"{"x":1}"#)
        let results = said.filter { $0.role == .tool }
        #expect(results.map(\.toolCallID) == ["a", "b", "c", "d", "e", "f"])
        #expect(results.map(\.toolName) == ["exec", "agents__look", "local_shell", "shell", "far", "future"])
        #expect(results.prefix(3).map(\.content) == ["one\ntwo", #"{"any":1}"#, "files"])
    }

    @Test func itemsOfStoredResponsesAreFound() async throws {
        let api = APIFixture([[.thinking("hm"), .text("Hello"), .finish(.endOfGeneration)], Self.plain])
        let first = try await api.post(
            "/v1/responses",
            #"{"model":"tiny","input":"x","include":["reasoning.encrypted_content","something.new"]}"#
        ).json
        let ids = try (0..<2).map { try #require(first.text("output/\($0)/id")) }
        let sealed = try #require(first.text("output/0/encrypted_content"))
        let items = ids.map { #"{"type":"item_reference","id":"\#($0)"}"# }.joined(separator: ",")
        let answer = try await api.post(
            "/v1/responses", #"{"model":"tiny","input":[\#(items),{"role":"user","content":"On"}]}"#)
        #expect(answer.leftOut == nil)
        let said = try #require(await api.engine.requests.last)
        #expect(said.map(\.content) == ["Hello", "On"])
        #expect(said.first?.thinking == "hm")
        #expect(KeptThinking.text(sealed) == "hm")
        #expect(KeptThinking.text("opaque") == nil)
    }

    @Test func choicesNameToolsOfEveryKind() async throws {
        let choices: [(String, ToolChoice, Int)] = [
            (#"{"type":"function","name":"spawn","namespace":"agents"}"#, .named("spawn"), 7),
            (#"{"type":"custom","name":"apply"}"#, .named("apply"), 7),
            (#"{"type":"local_shell"}"#, .named("local_shell"), 7),
            (#"{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"look"}]}"#, .required, 1),
            (#"{"type":"perhaps"}"#, .automatic, 7), (#""required""#, .required, 7), (#""perhaps""#, .automatic, 7),
            (#""none""#, .automatic, 0),
        ]
        for (choice, wanted, count) in choices {
            let api = APIFixture([Self.plain])
            let body = #"{"model":"tiny","input":"x","tools":\#(Self.tools),"tool_choice":\#(choice)}"#
            #expect(try await api.post("/v1/responses", body).status == 200)
            let options = try #require(await api.engine.options.first)
            #expect(options.toolChoice == wanted && options.tools.count == count)
        }
        for choice in [#"{"type":"web_search_preview"}"#, #"{"type":"function","name":"nothing"}"#] {
            let body = #"{"model":"tiny","input":"x","tools":\#(Self.tools),"tool_choice":\#(choice)}"#
            let answer = try await APIFixture([Self.plain]).post("/v1/responses", body)
            #expect(answer.status == 400)
            #expect(try answer.json.text("error/param")?.hasPrefix("tool_choice") == true)
        }
    }

    @Test(
        arguments: [
            (#""input":[{"type":"dream"}]"#, "input[0].type"), (#""input":[5]"#, "input[0]"),
            (
                #""input":[{"role":"user","content":[{"type":"input_file","file_id":"f"}]}]"#,
                "input[0].content[0].file_id"
            ),
            (#""input":[{"role":"user","content":[{"type":"hologram"}]}]"#, "input[0].content[0].type"),
            (#""input":[{"type":"function_call","call_id":"a"}]"#, "input[0].name"),
            (#""input":[{}]"#, "input[0].id"), (#""input":"x","background":true"#, "background"),
            (#""input":"x","conversation":"c""#, "conversation"),
            (#""input":"x","tools":[{"type":"custom"}]"#, "tools[0].name"),
            (#""input":"x","tools":{"a":1}"#, "tools"),
            (#""input":"x","tools":[{"type":"namespace","name":"n","tools":5}]"#, "tools[0].tools"),
        ])
    func onlyWhatTheAnswerNeedsIsRefused(rest: String, field: String) async throws {
        let answer = try await APIFixture([Self.plain]).post("/v1/responses", #"{"model":"tiny",\#(rest)}"#)
        #expect(answer.status == 400)
        #expect(try answer.json.text("error/param") == field)
    }

    @Test func aFailureInTheStreamHasItsCode() async throws {
        let full = ContextFit.exceeded(tokens: "900", window: 256)
        let steps: [ScriptedEngine.Step] = [.text("a"), .fail(full)]
        let events = try await APIFixture([steps]).post(
            "/v1/responses", #"{"model":"tiny","input":"x","stream":true}"#
        ).events
        #expect(events.last?.text("type") == "response.failed")
        #expect(events.last?.text("response/error/code") == "context_length_exceeded")
    }
}
