import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthServer

/// Tools and conversations of a size or shape that no client needs.
@Suite(.timeLimit(.minutes(2)))
struct HostileToolTests {
    private static let plain: [ScriptedEngine.Step] = [.text("ok"), .finish(.endOfGeneration)]

    /// The requests of the dialects with tools of these definitions.
    private static func requests(_ tools: [(name: String, schema: String)]) -> [(path: String, body: String)] {
        func list(_ make: ((name: String, schema: String)) -> String) -> String {
            "[" + tools.map(make).joined(separator: ",") + "]"
        }
        let message = #""messages":[{"role":"user","content":"Hi"}]"#
        let functions = list { #"{"type":"function","function":{"name":"\#($0.name)","parameters":\#($0.schema)}}"# }
        return [
            ("/v1/chat/completions", #"{"model":"tiny",\#(message),"tools":\#(functions)}"#),
            ("/api/chat", #"{"model":"tiny",\#(message),"stream":false,"tools":\#(functions)}"#),
            (
                "/v1/messages",
                #"{"model":"tiny","max_tokens":9,\#(message),"tools":\#(list { #"{"name":"\#($0.name)","input_schema":\#($0.schema)}"# })}"#
            ),
            (
                "/v1/responses",
                #"{"model":"tiny","input":"Hi","tools":\#(list { #"{"type":"function","name":"\#($0.name)","parameters":\#($0.schema)}"# })}"#
            ),
        ]
    }

    @Test func twoThousandToolsAreOffered() async throws {
        let tools = (0..<2000).map { (name: "tool\($0)", schema: #"{"type":"object"}"#) }
        for (path, body) in Self.requests(tools) {
            let api = APIFixture([Self.plain])
            #expect(try await api.post(path, body).status == 200)
            #expect(await api.engine.options.first?.tools.count == 2000)
        }
    }

    @Test func tooManyToolsAreRefused() async throws {
        let tools = (0...OfferedTools.maximumCount).map { (name: "t\($0)", schema: "{}") }
        for (path, body) in Self.requests(tools) {
            let answer = try await APIFixture([Self.plain]).post(path, body)
            #expect(answer.status == 400)
            #expect(answer.text.contains("tools"))
        }
    }

    @Test(
        arguments: [
            String(repeating: #"{"type":"object","properties":{"a":"#, count: 40) + "{}"
                + String(repeating: "}}", count: 40),
            #"{"type":"object","description":"\#(String(repeating: "a", count: 1 << 20))"}"#, "5", "[]", #""x""#,
            "true",
        ])
    func badSchemasHaveAClearRefusal(schema: String) async throws {
        for (path, body) in Self.requests([("look", schema)]) {
            let answer = try await APIFixture([Self.plain]).post(path, body)
            #expect([200, 400].contains(answer.status))
            if answer.status == 400 { #expect(answer.text.contains("tools") || answer.text.contains("levels")) }
        }
    }

    @Test(
        arguments: [
            #""tools":5"#, #""tools":[[]]"#, #""tools":[{"type":5}]"#, #""tools":[null]"#, #""tools":{"a":1}"#,
            #""tools":[{"name":{"a":1},"input_schema":{}}]"#, #""tools":"x""#,
        ])
    func wrongTypesAreRefused(tools: String) async throws {
        for (path, rest) in [
            ("/v1/chat/completions", #""messages":[{"role":"user","content":"Hi"}]"#),
            ("/v1/messages", #""max_tokens":9,"messages":[{"role":"user","content":"Hi"}]"#),
            ("/v1/responses", #""input":"Hi""#), ("/api/chat", #""messages":[{"role":"user","content":"Hi"}]"#),
        ] {
            let answer = try await APIFixture([Self.plain]).post(path, #"{"model":"tiny",\#(rest),\#(tools)}"#)
            #expect(answer.status == 400)
            #expect(answer.text.contains("tools"))
        }
    }

    /// Namespaces within namespaces are as deep as JSON may be.
    @Test func deepNamespacesEnd() async throws {
        let deep =
            String(repeating: #"{"type":"namespace","name":"n","tools":["#, count: 25)
            + #"{"type":"function","name":"f"}"# + String(repeating: "]}", count: 25)
        let api = APIFixture([Self.plain])
        #expect(try await api.post("/v1/responses", #"{"model":"tiny","input":"x","tools":[\#(deep)]}"#).status == 200)
        #expect(await api.engine.options.first?.tools.map(\.name) == ["f"])
        let deeper = String(repeating: #"{"type":"namespace","name":"n","tools":["#, count: 500)
        #expect(
            try await APIFixture().post("/v1/responses", #"{"model":"tiny","input":"x","tools":[\#(deeper)"#).status
                == 400)
    }

    @Test func manyCallsOfUnknownToolsAreReadInTime() async throws {
        let calls = (0..<9000).map {
            #"{"type":"function_call","call_id":"c\#($0)","name":"gone\#($0)","arguments":"{}"},{"type":"function_call_output","call_id":"c\#($0)","output":"r"}"#
        }
        let api = APIFixture([Self.plain])
        let body = #"{"model":"tiny","input":[{"role":"user","content":"x"},\#(calls.joined(separator: ","))]}"#
        #expect(try await api.post("/v1/responses", body).status == 200)
        #expect(await api.engine.requests.first?.count == 18_001)
    }
}
