import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ToolTests {
    private struct Weather: Tool {
        struct Arguments: Codable {
            var city: String
            var days: Int?
        }
        let name = "weather"
        let description = "Tells the weather \"now\"."
        let asked = Locked<[String]>([])

        func call(_ arguments: Arguments) async throws -> String {
            asked.withLock { $0.append(arguments.city) }
            if arguments.city == "Atlantis" { throw LLMError(.generateFailed, "no such city") }
            if arguments.city == "Limbo" { throw CancellationError() }
            return "sunny"
        }
    }

    private struct Named: Tool {
        struct Arguments: Codable {}
        let name: String
        let description = ""
        func call(_ arguments: Arguments) -> String { "done" }
    }

    private struct Strange: Tool {
        struct Arguments: Codable { var next: [Arguments] }
        let name = "strange"
        let description = ""
        func call(_ arguments: Arguments) -> String { "" }
    }

    private func call(_ city: String) -> [ScriptedEngine.Step] {
        // The output of an engine: cut anywhere, without the stop string at its end.
        [
            .text("Let me see. <tool"), .text("_call>\n{\"name\": \"weather\", \"argum"),
            .text("ents\": {\"city\": \"\(city)\"}}"), .finish(.stopString),
        ]
    }

    @Test func aCallIsRunAndItsResultSentToTheModel() async throws {
        let weather = Weather()
        let engine = ScriptedEngine(
            [call("Paris"), [.text("It is "), .text("sunny."), .finish(.endOfGeneration)]], capabilities: .schema)
        let session = LanguageModelSession(model: engine, tools: [weather], instructions: "Be kind.")
        let response = try await session.respond(to: "Paris?")
        #expect(response.content == "Let me see. It is sunny.")
        #expect(weather.asked.withLock { $0 } == ["Paris"])
        let spelling = "<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>"
        let id = try #require(session.transcript.flatMap(\.toolCalls).first?.id)
        let made = ToolCall(
            id: id, name: "weather", arguments: #"{"city":"Paris"}"#, spelling: spelling)
        #expect(
            session.transcript == [
                ChatMessage(.system, "Be kind."), ChatMessage(.user, "Paris?"),
                ChatMessage(.assistant, "Let me see. ", toolCalls: [made]),
                ChatMessage(result: "sunny", of: made), ChatMessage(.assistant, "It is sunny."),
            ])
        let requests = await engine.requests
        #expect(requests.map(\.count) == [2, 4])
        // The call is sent back unchanged.
        #expect(
            requests.last?.suffix(2) == [
                ChatMessage(.assistant, "Let me see. " + spelling),
                ChatMessage(.user, "<tool_response>\nsunny\n</tool_response>"),
            ])
        let system = try #require(requests.first?.first?.content)
        #expect(system.hasPrefix("Be kind.\n\n# Tools"))
        #expect(
            system.contains(
                #""name":"weather","description":"Tells the weather \"now\".","parameters":{"type":"object""#))
        let options = try #require(await engine.options.first)
        let block = try #require(options.constraint?.blocks.first)
        #expect(block.opening == "<tool_call>" && block.closing == "</tool_call>" && block.endsAnswer)
        #expect(options.tools.isEmpty && options.stopStrings.isEmpty)
        guard case .calls(let tools) = block.shape else {
            Issue.record("calls are not held to their shape")
            return
        }
        #expect(tools.map(\.name) == ["weather"])
        for tool in tools { try OutputConstraint.check(schema: tool.parameters) }
    }

    /// An engine without schemas cannot constrain a call, so a stop string ends the answer.
    @Test func anEngineWithoutSchemasStopsAfterTheCall() async throws {
        let engine = ScriptedEngine([call("Paris"), [.text("Sunny."), .finish(.endOfGeneration)]])
        let session = LanguageModelSession(model: engine, tools: [Weather()])
        #expect(try await session.respond(to: "Paris?").summary.usage.generatedTokens == 4)
        let options = try #require(await engine.options.first)
        #expect(options.stopStrings == ["</tool_call>"] && options.constraint == nil)
    }

    /// The blocks of the options stay active beside the tools.
    @Test func blocksLeaveRoomForCalls() async throws {
        let note = OutputConstraint.Block("[NOTE:", .gbnf("root ::= [a-z]+"), closing: "]")
        let engine = ScriptedEngine([[.text("ok"), .finish(.endOfGeneration)]], capabilities: .schema)
        let session = LanguageModelSession(model: engine, tools: [Weather()])
        _ = try await session.respond(
            to: "?", options: GenerationOptions(constraint: OutputConstraint(blocks: [note])))
        let blocks = try #require(await engine.options.first?.constraint?.blocks)
        #expect(blocks.first == note && blocks.map(\.opening) == ["[NOTE:", "<tool_call>"])
    }

    @Test func aCallInACodeFenceIsText() async throws {
        let text = "Write this:\n```\n<tool_call>{}</tool_call>\n```\nThat is all."
        let pieces = text.map { ScriptedEngine.Step.text(String($0)) }
        let engine = ScriptedEngine([pieces + [.finish(.endOfGeneration)]], capabilities: .schema)
        let session = LanguageModelSession(model: engine, tools: [Weather()])
        let response = try await session.respond(to: "?")
        #expect(response.content == text && response.summary.reason == .endOfGeneration)
    }

    @Test(arguments: [
        (#"{"name": "weather", "arguments": {"city": "Atlantis"}}"#, "no such city"),
        (#"{"name": "weather", "arguments": {"town": "Paris"}}"#, "arguments do not fit"),
        (#"{"name": "rain", "arguments": {}}"#, "there is no function rain"), ("{\"name\"", "no JSON object"),
        ("", "no JSON object"), (String(repeating: "[", count: 100_000), "no JSON object"),
    ])
    func aFailureIsSentToTheModel(call: String, reason: String) async throws {
        let engine = ScriptedEngine([
            [.text("<tool_call>" + call), .finish(.endOfGeneration)], [.text("Sorry."), .finish(.endOfGeneration)],
        ])
        let session = LanguageModelSession(model: engine, tools: [Weather()])
        #expect(try await session.respond(to: "?").content == "Sorry.")
        let told = try #require(await engine.requests.last?.last?.content)
        #expect(told.hasPrefix("<tool_response>\n{\"error\":\"") && told.contains(reason), "\(told)")
    }

    @Test func aModelThatOnlyCallsIsStopped() async throws {
        let weather = Weather()
        let engine = ScriptedEngine(Array(repeating: call("Paris"), count: 20))
        let session = LanguageModelSession(model: engine, tools: [weather])
        await #expect {
            try await session.respond(to: "?")
        } throws: {
            ($0 as? LLMError)?.code == .tooManyToolCalls
        }
        let most = LanguageModelSession.maximumToolCalls
        #expect(await engine.requests.count == most + 1)
        // The ninth call is not run, and only the text before it stays.
        #expect(weather.asked.withLock { $0.count } == most)
        #expect(session.transcript.count == 1 + 2 * most + 1)
        #expect(session.transcript.last == ChatMessage(.assistant, "Let me see. "))
        #expect(!session.isResponding)
    }

    @Test func aToolCanEndTheAnswer() async throws {
        let engine = ScriptedEngine([call("Limbo"), [.text("ok"), .finish(.endOfGeneration)]])
        let session = LanguageModelSession(model: engine, tools: [Weather()])
        await #expect(throws: CancellationError.self) { try await session.respond(to: "?") }
        // The conversation keeps no call without a result.
        let said = [ChatMessage(.user, "?"), ChatMessage(.assistant, "Let me see. ")]
        #expect(session.transcript == said)
        try await session.respond(to: "!")
        #expect(await engine.requests.last?.dropFirst() == (said + [ChatMessage(.user, "!")])[...])
    }

    /// An error or a limit ends the answer in the middle of a call.
    @Test func aPartOfACallIsNotStored() async throws {
        let begun = ScriptedEngine.Step.text("Hm. <tool_call>{\"name\"")
        for rest in [ScriptedEngine.Step.fail(LLMError(.generateFailed, "no")), .finish(.maximumNewTokens)] {
            let session = LanguageModelSession(model: ScriptedEngine([[begun, rest]]), tools: [Weather()])
            _ = try? await session.respond(to: "?")
            #expect(session.transcript == [ChatMessage(.user, "?"), ChatMessage(.assistant, "Hm. ")])
        }
    }

    /// A result only has the form of a user's message: the question before it stays.
    @Test func aPromptNeverBeginsWithAResult() throws {
        let talk = [
            ChatMessage(.user, "a"), ChatMessage(.assistant, "b"), ChatMessage(.user, "c"),
            ChatMessage(.assistant, "<tool_call>{}</tool_call>"),
            ChatMessage(.user, "<tool_response>\nsunny\n</tool_response>"),
            ChatMessage(.assistant, "<tool_call>{}</tool_call>"),
            ChatMessage(.user, "<tool_response>\nrain\n</tool_response>"),
        ]
        for count in [5, 7] {
            let messages = Array(talk.prefix(count))
            for window in 2...40 {
                let outcome = try? ContextFit(window: window, reserve: 1)
                    .apply(to: messages, render: { $0 }, count: { $0.count * 4 })
                guard let kept = outcome?.prompt else { continue }
                #expect(kept == messages || kept == Array(messages.dropFirst(2)), "\(window)")
            }
        }
    }

    @Test func aCallCutShortIsNone() async throws {
        let weather = Weather()
        let engine = ScriptedEngine([[.text("Hm <tool_call>{\"name\""), .finish(.maximumNewTokens)]])
        let session = LanguageModelSession(model: engine, tools: [weather])
        let response = try await session.respond(to: "?")
        #expect(response.content == "Hm " && response.summary.reason == .maximumNewTokens)
        #expect(weather.asked.withLock { $0.isEmpty })
    }

    @Test func textThatOnlyBeginsLikeACallIsText() async throws {
        let engine = ScriptedEngine([[.text("a <tool"), .text("box> <tool_cal"), .finish(.endOfGeneration)]])
        let session = LanguageModelSession(model: engine, tools: [Weather()])
        #expect(try await session.respond(to: "?").content == "a <toolbox> <tool_cal")
    }

    @Test func aShapeForTheWholeAnswerLeavesNoRoomForCalls() async throws {
        let engine = ScriptedEngine([[.text("<tool_call>"), .finish(.endOfGeneration)]])
        let session = LanguageModelSession(model: engine, tools: [Weather()], time: ManualClock().time)
        let options = GenerationOptions(constraint: .gbnf("root ::= \"<tool_call>\""))
        #expect(try await session.respond(to: "?", options: options).content == "<tool_call>")
        #expect(await engine.options == [options])
    }

    @Test func toolsThatCannotBeDescribedAreRefused() async throws {
        let boxes: [[any Tool]] = [
            [Strange()], [Named(name: "")], [Named(name: "a b")], [Named(name: "a\"")], [Named(name: "é")],
            [Named(name: "a"), Named(name: "a")], [Named(name: String(repeating: "a", count: 129))],
        ]
        for tools in boxes {
            let engine = ScriptedEngine([[.text("x"), .finish(.endOfGeneration)]])
            let session = LanguageModelSession(model: engine, tools: tools)
            await #expect {
                try await session.respond(to: "?")
            } throws: {
                ($0 as? LLMError)?.code == .unusableGrammar
            }
            #expect(await engine.requests.isEmpty && session.transcript.isEmpty)
        }
    }

    /// Descriptions that cannot fit reach no engine.
    @Test func hugeDescriptionsAreRefusedUnwritten() async throws {
        let engine = ScriptedEngine([])
        var options = GenerationOptions()
        options.tools = [
            ToolDefinition(name: "f", description: String(repeating: "a", count: 300 << 10), parameters: "{}")
        ]
        let error = await #expect(throws: LLMError.self) {
            _ = try await TextToolEngine(engine).generate([ChatMessage(.user, "hi")], options: options) { _ in }
        }
        #expect(error?.code == .exceededContextWindowSize)
        #expect(await engine.requests.isEmpty)
    }
}
