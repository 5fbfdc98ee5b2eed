#if Llama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

/// Templates without a model.
@Suite(.timeLimit(.minutes(5))) struct CallFormatTests {
    private static let tools = [
        ToolDefinition(
            name: "weather", description: "Tells the weather \"now\".",
            parameters: JSONSchema.object([
                .init("city", .string), .init("days", .integer, isRequired: false),
            ]).json),
        ToolDefinition(
            name: "rain", description: "Tells the rain.",
            parameters: JSONSchema.object([.init("mm", .integer)]).json),
        ToolDefinition(name: "note", description: "Notes anything.", parameters: #"{"type":"object"}"#),
    ]

    private static let conversation = [
        ChatMessage(.system, "Be kind."), ChatMessage(.user, "Paris?"),
        ChatMessage(
            .assistant, "",
            toolCalls: [ToolCall(id: "call00000", name: "weather", arguments: #"{"city":"Paris"}"#)]),
        ChatMessage(
            result: "sunny", of: ToolCall(id: "call00000", name: "weather", arguments: #"{"city":"Paris"}"#)),
    ]

    private func rendered(
        _ template: String, _ messages: [ChatMessage] = conversation, tools: [ToolDefinition] = tools
    ) throws -> ChatTemplate.Rendered {
        try ChatTemplate(model: nil, source: template).render(messages, tools: tools)
    }

    /// The constraint of an answer that may call tools.
    private final class Gate {
        var gate: ConstraintGate

        init(_ format: CallFormat) {
            gate = ConstraintGate([
                ConstraintGate.Arm(format.grammar, openings: format.words, includesOpening: true, isLast: true)
            ])
        }

        func takes(_ text: String) -> Bool { gate.take(Array(text.utf8)) }
    }

    /// The call format of each template, made once.
    private static let formats = Dictionary(
        uniqueKeysWithValues: [ToolTemplates.hermes, ToolTemplates.bare, ToolTemplates.mistral].map { template in
            let format = Result {
                try ChatTemplate(model: nil, source: template).render([ChatMessage(.user, "Hi")], tools: tools)
                    .calls
            }
            return (template, format)
        })

    private func format(_ template: String) throws -> CallFormat {
        try #require(try Self.formats[template]?.get())
    }

    @Test(arguments: [ToolTemplates.hermes, ToolTemplates.bare, ToolTemplates.mistral])
    func aTemplateThatKnowsToolsDescribesThemAndTheirResults(template: String) throws {
        let made = try ChatTemplate(model: nil, source: template)
        let callsTools = made.callsTools()
        #expect(callsTools)
        let text = try rendered(template).text
        #expect(text.contains(#""name": "weather""#) && text.contains(#"Tells the weather \"now\"."#), "\(text)")
        #expect(text.contains(#"{"city": "Paris"}"#) && text.contains("sunny"), "\(text)")
    }

    /// The template decides whether the model reads its earlier thinking again.
    @Test func thinkingIsTheTemplatesReasoning() throws {
        let source = """
            {% for m in messages %}{{ m.role }}:{% if m.reasoning_content %}({{ m.reasoning_content }}){% endif %}\
            {{ m.content }};{% endfor %}
            """
        let text = try ChatTemplate(model: nil, source: source).render([
            ChatMessage(.user, "a"), ChatMessage(.assistant, "b", thinking: "why"), ChatMessage(.user, "c"),
        ]).text
        #expect(text == "user:a;assistant:(why)b;user:c;")
    }

    @Test func aTemplateWithoutToolsIsRecognised() throws {
        let plain = "{% for message in messages %}{{ message.role + ': ' + message.content + '\\n' }}{% endfor %}"
        let callsTools = try ChatTemplate(model: nil, source: plain).callsTools()
        #expect(!callsTools)
    }

    /// The text of a model, and the calls in it.
    @Test(arguments: [
        (
            ToolTemplates.hermes,
            "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>",
            ["weather {\"city\": \"Paris\"}"]
        ),
        (
            ToolTemplates.hermes,
            "<tool_call>\n{\"name\": \"rain\", \"arguments\": {\"mm\": 1}}\n</tool_call>\n"
                + "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"a }]\\\"\", \"days\": 2}}\n</tool_call>",
            ["rain {\"mm\": 1}", "weather {\"city\": \"a }]\\\"\", \"days\": 2}"]
        ),
        (
            ToolTemplates.bare, "{\"name\": \"weather\", \"parameters\": {\"city\": \"Paris\"}}",
            ["weather {\"city\": \"Paris\"}"]
        ),
        (
            ToolTemplates.mistral,
            "[TOOL_CALLS] [{\"name\": \"rain\", \"arguments\": {\"mm\": 3}, \"id\": \"abcdefghi\"}]",
            ["rain {\"mm\": 3}"]
        ),
    ])
    func callsAreReadAsTheTemplateWritesThem(template: String, said: String, calls: [String]) throws {
        let format = try format(template)
        #expect(try format.calls(in: said, after: said).map { "\($0.name) \($0.arguments)" } == calls)
        #expect(format.words.contains { said.hasPrefix($0) }, "\(format.words)")
        // The active grammar allows exactly this text and the end after it.
        let gate = Gate(format)
        #expect(gate.takes("Let me see {that}: ") && !gate.gate.isInside)
        for character in said.unicodeScalars { #expect(gate.takes("\(character)")) }
        #expect(gate.gate.isInside && gate.gate.allowsEnd)
        #expect(!gate.takes("and"))
    }

    /// Texts that the active grammar refuses.
    @Test(arguments: [
        (ToolTemplates.hermes, "<tool_call>\n{\"name\": \"", "snow"),
        (ToolTemplates.hermes, "<tool_call>\n{\"name\": \"rain\", \"arguments\": {\"mm\": ", "\"much\""),
        (ToolTemplates.hermes, "<tool_call>\n{\"name\": \"rain\", \"arguments\": {\"mm\": 1}}\n</tool_call>", "So"),
        (ToolTemplates.bare, "{\"name\": \"rain\", \"parameters\": {\"mm\": ", "[1]"),
        (ToolTemplates.mistral, "[TOOL_CALLS] [{\"name\": \"weather\", \"arguments\": {", "\"town\""),
    ])
    func aCallThatBeganHasToFit(template: String, beginning: String, wrong: String) throws {
        let format = try format(template)
        let gate = Gate(format)
        #expect(gate.takes(beginning) && gate.gate.isInside)
        #expect(!gate.takes(wrong))
        // A refused text changes no state.
        #expect(gate.gate.isInside && !gate.takes(wrong))
    }

    @Test func aCallWithoutAMarkIsToldFromOtherJSONByItsName() throws {
        let format = try format(ToolTemplates.bare)
        let gate = Gate(format)
        #expect(gate.takes(#"{"name": "Bob", "age": 3} and {"a": [1]}"#))
        #expect(!gate.gate.isInside && gate.gate.allowsEnd)
    }

    /// Text that no constrained model writes, but a hostile or broken one may.
    @Test(arguments: [
        "", "<tool_call>", "<tool_call>\n{\"name\": \"weather\"",
        "<tool_call>\n{\"name\": \"snow\", \"arguments\": {}}\n</tool_call>",
        "<tool_call>\n{\"name\": \"note\", \"arguments\": {\"a\": \(String(repeating: "[", count: 900))}}\n</tool_call>",
        "<tool_call>\n{\"name\": \"note\", \"arguments\": {\"a\": \(String(repeating: "[", count: 100_000))",
        "<tool_call>\n{\"name\": \"note\", \"arguments\": \(String(repeating: "{\"a\":", count: 100_000))",
        "<tool_call>\n{\"name\": \"rain\", \"arguments\": {\"mm\": 1}}\n</tool_call> and so on",
        "[TOOL_CALLS] [[[", "{\"name\": \"weather\", \"parameters\": 7}", "\u{0}\u{0}<tool_call>\u{0}",
        "</tool_call>",
        String(repeating: "<tool_call>", count: 10_000), String(repeating: "\"", count: 50_001),
    ])
    func unreadableTextIsAnErrorOrNoCall(said: String) throws {
        for template in [ToolTemplates.hermes, ToolTemplates.bare, ToolTemplates.mistral] {
            let format = try format(template)
            do {
                let calls = try format.calls(in: said, after: said)
                #expect(calls.allSatisfy { call in Self.tools.contains { $0.name == call.name } })
            } catch let error as LLMError {
                #expect(error.code == .generateFailed)
            }
        }
    }

    /// Exceptions of the C++ library become errors.
    @Test(arguments: [
        "{{ raise_exception('no') }}", "{% if %}", "{{ messages[99].content }}",
        "{{ tools[0].function.name.x.y() }}",
    ])
    func aTemplateThatFailsIsAnErrorAndNoWayToCall(template: String) {
        do {
            let made = try ChatTemplate(model: nil, source: template)
            let callsTools = made.callsTools()
            #expect(!callsTools)
            _ = try made.render(Self.conversation, tools: Self.tools).text
            Issue.record("the template knows tools")
        } catch {
            #expect((error as? LLMError)?.code == .templateFailed, "\(error)")
        }
    }

    @Test(arguments: ["{", "[1", "nothing", String(repeating: "[", count: 1_001), "\u{0}"])
    func earlierCallsWithBrokenArgumentsAreRefused(arguments: String) {
        var messages = Self.conversation
        messages[2].toolCalls[0].arguments = arguments
        for template in [ToolTemplates.hermes, ToolTemplates.bare, ToolTemplates.mistral] {
            #expect {
                try rendered(template, messages)
            } throws: {
                ($0 as? LLMError)?.code == .templateFailed
            }
        }
    }

    @Test func unusableToolsAreRefusedFirst() {
        let deep = String(repeating: #"{"items":"#, count: 10_000) + "{}" + String(repeating: "}", count: 10_000)
        for tool in [
            ToolDefinition(name: "a b", description: "", parameters: "{}"),
            ToolDefinition(name: "a", description: "", parameters: "{"),
            ToolDefinition(name: "a", description: "", parameters: deep),
        ] {
            #expect {
                try rendered(ToolTemplates.hermes, tools: [tool])
            } throws: {
                ($0 as? LLMError)?.code == .unusableGrammar
            }
        }
    }
}
#endif
