import HearthBase
import HearthInference
import Testing

@testable import HearthServer

@Suite struct ContextEditsTests {
    private func edits(_ json: String) throws -> ContextEdits {
        try ContextEdits(Fields(parsing: Array(#"{"edits":[\#(json)]}"#.utf8)))
    }

    /// Questions that each get thinking, a call, its result and an answer.
    private func conversation(_ count: Int) -> [ChatMessage] {
        (0..<count).flatMap { number -> [ChatMessage] in
            let call = ToolCall(id: "c\(number)", name: number == 0 ? "keep" : "look", arguments: #"{"at":"sky"}"#)
            return [
                ChatMessage(.user, "Question \(number)"),
                ChatMessage(.assistant, "", thinking: "first", toolCalls: [call]),
                ChatMessage(result: String(repeating: "r", count: 400), of: call),
                ChatMessage(.assistant, "Answer", thinking: "second"),
            ]
        }
    }

    @Test(arguments: [("2", 2, 1), ("1", 1, 2), ("0", 0, 3), ("9", 3, 0)])
    func thinkingOfOldTurnsGoes(keep: String, kept: Int, cleared: Int) throws {
        let edits = try edits(
            #"{"type":"clear_thinking_20251015","keep":{"type":"thinking_turns","value":\#(keep)}}"#)
        let (messages, report) = edits.applied(to: conversation(3), promptTokens: nil)
        #expect(messages.count { !$0.thinking.isEmpty } == 2 * kept)
        #expect(messages.last?.thinking.isEmpty == (kept == 0))
        #expect(
            report.number("applied_edits/0/cleared_thinking_turns").map { Int($0) } == (cleared == 0 ? nil : cleared))
    }

    @Test func oldResultsGoAboveTheTrigger() throws {
        let rule = #"""
            {"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":1000},
            "keep":{"type":"tool_uses","value":1},"exclude_tools":["keep"],"clear_tool_inputs":true}
            """#
        let edits = try edits(rule)
        #expect(edits.needsLength(conversation(4)))
        #expect(!edits.needsLength([ChatMessage(.user, "Hi")]))
        let below = edits.applied(to: conversation(4), promptTokens: 1000)
        #expect(below.messages == conversation(4))
        #expect(below.report == ["applied_edits": []])
        let (messages, report) = edits.applied(to: conversation(4), promptTokens: 1001)
        let results = messages.filter { $0.role == .tool }.map(\.content)
        #expect(results.map { $0 == ContextEdits.cleared } == [false, true, true, false])
        #expect(messages.flatMap(\.toolCalls).map(\.arguments).count { $0 == "{}" } == 2)
        #expect(report.number("applied_edits/0/cleared_tool_uses") == 2)
        #expect(report.number("applied_edits/0/cleared_input_tokens") == 206)
        // The edit is not made again.
        #expect(edits.applied(to: messages, promptTokens: 1001).report == ["applied_edits": []])
    }

    @Test func anEditThatSavesTooLittleIsNotMade() throws {
        let rule = #"""
            {"type":"clear_tool_uses_20250919","trigger":{"type":"tool_uses","value":2},
            "keep":{"type":"tool_uses","value":0},"clear_at_least":{"type":"input_tokens","value":\#(301)}}
            """#
        #expect(try edits(rule).applied(to: conversation(3), promptTokens: nil).report == ["applied_edits": []])
        let less = rule.replacing("301", with: "300")
        #expect(try edits(less).applied(to: conversation(3), promptTokens: nil).report.count("applied_edits") == 1)
        #expect(try edits(less).applied(to: conversation(2), promptTokens: nil).report.count("applied_edits") == 0)
    }

    @Test(arguments: [
        #"{"type":5}"#, "5", #"{"type":"clear_thinking_1","keep":{"value":-1}}"#,
        #"{"type":"clear_tool_uses_1","keep":{"value":1.5}}"#,
    ])
    func wrongTypesAreRefused(edit: String) {
        #expect(throws: APIFailure.self) { try edits(edit) }
    }
}
