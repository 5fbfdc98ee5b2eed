import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

/// Requests of `/v1/chat/completions` and `/api/chat` that other servers serve differently or not at all.
@Suite struct AgentChatTests {
    private static let message = #""messages":[{"role":"user","content":"Hi"}]"#
    private static let plain: [ScriptedEngine.Step] = [.text("ok"), .finish(.endOfGeneration)]

    private static func call(_ name: String, _ arguments: String) -> [ScriptedEngine.Step] {
        [.toolCall(ToolCall(id: "a", name: name, arguments: arguments)), .finish(.toolCalls)]
    }

    @Test func customToolsAreCalledWithText() async throws {
        let steps = Self.call("code", #"{"input":"1 + 1"}"#)
        let api = APIFixture([steps, steps, Self.plain])
        let tools = #"""
            "tools":[{"type":"custom","custom":{"name":"code","format":{"type":"grammar","grammar":{"syntax":"regex","definition":"[0-9+ ]*"}}}},
            {"type":"web"},{"type":"function","name":"flat","parameters":{"type":"object"}}]
            """#
        let body = #"{"model":"tiny",\#(Self.message),\#(tools),"stream":false}"#
        let answer = try await api.post("/v1/chat/completions", body)
        #expect(answer.leftOut == "web")
        #expect(try answer.json.text("choices/0/message/tool_calls/0/type") == "custom")
        #expect(try answer.json.text("choices/0/message/tool_calls/0/custom/input") == "1 + 1")
        let offered = try #require(await api.engine.options.first?.tools)
        #expect(offered.map(\.name) == ["code", "flat"])
        #expect(offered[0].parameters.contains(#""pattern":"^(?:[0-9+ ]*)$""#))
        let events = try await api.post("/v1/chat/completions", body.replacing("false}", with: "true}")).events
        #expect(events.compactMap { $0.text("choices/0/delta/tool_calls/0/custom/input") } == ["1 + 1"])
        let history = #"""
            {"model":"tiny",\#(tools),"messages":[{"role":"user","content":"Hi"},
            {"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"code","input":"1 + 1"}}]},
            {"role":"tool","tool_call_id":"a","content":"2"}]}
            """#
        #expect(try await api.post("/v1/chat/completions", history).status == 200)
        #expect(await api.engine.requests.last?[1].toolCalls.first?.arguments == #"{"input":"1 + 1"}"#)
        #expect(await api.engine.requests.last?[2].toolName == "code")
    }

    @Test func theOlderFormOfFunctionsIsServed() async throws {
        let steps = Self.call("look", "{}")
        let api = APIFixture([steps, steps, Self.plain])
        let body = #"""
            {"model":"tiny",\#(Self.message),"functions":[{"name":"look","parameters":{"type":"object"}}],
            "function_call":{"name":"look"},"stream":false}
            """#
        let json = try await api.post("/v1/chat/completions", body).json
        #expect(json.text("choices/0/message/function_call/name") == "look")
        #expect(json.text("choices/0/finish_reason") == "function_call")
        #expect(json[path: "choices/0/message/tool_calls"] == nil)
        #expect(await api.engine.options.first?.toolChoice == .named("look"))
        let events = try await api.post("/v1/chat/completions", body.replacing("false}", with: "true}")).events
        #expect(events.compactMap { $0.text("choices/0/delta/function_call/name") } == ["look"])
        let history = #"""
            {"model":"tiny","messages":[{"role":"user","content":"Hi"},
            {"role":"assistant","content":null,"function_call":{"name":"look","arguments":"{}"}},
            {"role":"function","name":"look","content":"dark"}]}
            """#
        #expect(try await api.post("/v1/chat/completions", history).status == 200)
        let said = try #require(await api.engine.requests.last)
        #expect(said[2].toolCallID == said[1].toolCalls.first?.id)
        #expect(said[2].toolName == "look")
    }

    @Test func unknownFieldsAndKindsNeverRefuse() async throws {
        let api = APIFixture([Self.plain])
        let answer = try await api.post(
            "/v1/chat/completions",
            #"""
            {"model":"tiny","messages":[{"role":"user","content":[{"type":"text","text":"Hi"},{"type":"hologram"}],"mood":1},
            {"role":"assistant","content":[{"type":"dream"}]},{"role":"user","content":"So?"}],"verbosity":"low","prediction":{"a":1},
            "web_search_options":{"a":1},"reasoning_effort":"boundless","tool_choice":"perhaps","new field\n":[1],"user":"me","metadata":{"a":"b"}}
            """#)
        #expect(answer.status == 200)
        #expect(
            Set(answer.leftOut?.components(separatedBy: ", ") ?? []) == [
                "hologram", "dream", "verbosity", "prediction", "web_search_options", "effort", "tool_choice",
                "new_field_",
            ])
    }

    @Test func theHeaderHasALimit() async throws {
        let api = APIFixture([Self.plain])
        let fields = (0..<5000).map { #""field\#($0)é\#(String(repeating: "x", count: 200))":1"# }
        let answer = try await api.post(
            "/v1/chat/completions", #"{"model":"tiny",\#(Self.message),\#(fields.joined(separator: ","))}"#)
        #expect(answer.status == 200)
        let text = try #require(answer.leftOut)
        #expect(text.utf8.count < 2048 && text.hasSuffix(", others"))
        #expect(text.utf8.allSatisfy { $0 > 0x1F && $0 < 0x7F })
    }

    @Test func onlySomeToolsAreAllowed() async throws {
        let api = APIFixture([Self.plain])
        let body = #"""
            {"model":"tiny",\#(Self.message),"tools":[{"type":"function","function":{"name":"a"}},
            {"type":"function","function":{"name":"b"}}],"tool_choice":{"type":"allowed_tools","allowed_tools":
            {"mode":"required","tools":[{"type":"function","function":{"name":"b"}}]}}}
            """#
        #expect(try await api.post("/v1/chat/completions", body).status == 200)
        let options = try #require(await api.engine.options.first)
        #expect(options.tools.map(\.name) == ["b"] && options.toolChoice == .required)
    }

    @Test func argumentsOfOllamasCallsMayBeText() async throws {
        let api = APIFixture([Self.plain])
        func body(_ arguments: String) -> String {
            #"""
            {"model":"tiny","stream":false,"messages":[{"role":"user","content":"w?"},{"role":"assistant","content":"",
            "tool_calls":[{"function":{"name":"get","arguments":\#(arguments)}}]},{"role":"tool","content":"rain"}],
            "tools":[{"type":"hologram"}]}
            """#
        }
        let answer = try await api.post("/api/chat", body(#""{\"city\":\"Oslo\"}""#))
        #expect(answer.status == 200)
        #expect(answer.leftOut == "hologram")
        #expect(await api.engine.requests.first?[1].toolCalls.first?.arguments == #"{"city":"Oslo"}"#)
        let refused = try await api.post("/api/chat", body(#""Oslo""#))
        #expect(try refused.json.text("error") == "`messages[1].tool_calls[0].function.arguments` must be an object")
    }

    @Test func aFileOfTextIsItsText() async throws {
        let api = APIFixture([Self.plain])
        func body(_ data: String) -> String {
            #"{"model":"tiny","messages":[{"role":"user","content":[{"type":"file","file":{"filename":"a.txt","file_data":"\#(data)"}}]}]}"#
        }
        #expect(try await api.post("/v1/chat/completions", body("data:text/plain;base64,b25l")).status == 200)
        #expect(await api.engine.requests.first?.first?.content == "a.txt:\none")
        for data in ["data:application/pdf;base64,AAAA", "https://a.example/x", "data:text/plain;base64,%%", "x"] {
            let answer = try await api.post("/v1/chat/completions", body(data))
            #expect(answer.status == 400)
            #expect(try answer.json.text("error/param") == "messages[0].content[0].file.file_data")
        }
    }
}
