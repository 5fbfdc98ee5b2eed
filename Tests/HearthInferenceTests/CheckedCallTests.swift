import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@Suite struct CheckedCallTests {
    private static let tool = ToolDefinition(
        name: "look", description: "",
        parameters:
            #"{"type":"object","properties":{"at":{"type":"string","pattern":"^(['\"])[a-z]+\\1$"}},"required":["at"]}"#
    )

    private static func call(_ at: String, id: String = "call00000") -> ToolCall {
        ToolCall(id: id, name: "look", arguments: #"{"at":"\#(at)"}"#)
    }

    private func calls(_ answers: [[ScriptedEngine.Step]]) async throws -> (
        calls: [ToolCall], engine: ScriptedEngine, summary: GenerationSummary
    ) {
        let engine = ScriptedEngine(answers, capabilities: .tools)
        var options = GenerationOptions(sampling: SamplingOptions(seed: 1))
        options.tools = [Self.tool]
        let calls = Locked<[ToolCall]>([])
        let summary = try await CheckedCallEngine(engine).generate([ChatMessage(.user, "?")], options: options) {
            if case .toolCall(let call) = $0 { calls.withLock { $0.append(call) } }
        }
        return (calls.withLock { $0 }, engine, summary)
    }

    @Test func aCallThatMeetsItsSchemaIsNotAskedAgain() async throws {
        let made = try await calls([[.toolCall(Self.call("'sky'")), .finish(.toolCalls)]])
        #expect(made.calls == [Self.call("'sky'")] && made.summary.reason == .toolCalls)
        #expect(await made.engine.requests.count == 1)
    }

    @Test func aCallIsAskedAgainOnce() async throws {
        let made = try await calls([
            [.text("Well. "), .toolCall(Self.call("'sky")), .finish(.toolCalls)],
            [.text("Sorry."), .toolCall(Self.call("'sea'", id: "x")), .finish(.toolCalls)],
        ])
        #expect(made.calls == [Self.call("'sea'")] && made.calls[0].invalid == nil)
        let requests = await made.engine.requests, options = await made.engine.options
        #expect(requests.count == 2 && requests[1].map(\.role) == [.user, .assistant, .tool])
        #expect(requests[1][2].content.contains("`pattern`") && requests[1][2].content.contains("/at"))
        #expect(options[1].toolChoice == .named("look") && options[1].sampling.seed != 1)
    }

    @Test(arguments: [
        [ScriptedEngine.Step.toolCall(call("sky")), .finish(.toolCalls)], [.text("No."), .finish(.endOfGeneration)],
        [.fail(LLMError(.generateFailed, "broken"))],
    ])
    func aCallThatStaysWrongIsMarked(second: [ScriptedEngine.Step]) async throws {
        let made = try await calls([[.toolCall(Self.call("'sky")), .finish(.toolCalls)], second])
        #expect(made.calls.map(\.arguments) == [#"{"at":"'sky"}"#])
        #expect(made.calls[0].invalid == "the value at /at does not meet `pattern` of the tool's schema")
        #expect(made.summary.reason == .toolCalls)
        #expect(await made.engine.requests.count == 2)
    }

    @Test func cancellationEndsTheSecondQuestion() async throws {
        await #expect(throws: CancellationError.self) {
            _ = try await calls([[.toolCall(Self.call("'sky")), .finish(.toolCalls)], [.fail(CancellationError())]])
        }
    }

    /// One of two calls is asked again; the other one stays.
    @Test func goodCallsStay() async throws {
        let made = try await calls([
            [.toolCall(Self.call("'a'", id: "1")), .toolCall(Self.call("b", id: "2")), .finish(.toolCalls)],
            [.toolCall(Self.call("'c'")), .finish(.toolCalls)],
        ])
        #expect(made.calls == [Self.call("'a'", id: "1"), Self.call("'c'", id: "2")])
        #expect(await made.engine.requests[1][1].toolCalls.map(\.id) == ["2"])
    }
}
