import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

/// Sessions with an engine that reads its model's calls itself.
@Suite(.timeLimit(.minutes(5))) struct CallingEngineTests {
    private struct Weather: Tool {
        struct Arguments: Codable { var city: String }
        let name = "weather"
        let description = "Tells the weather."
        let asked = Locked<[String]>([])

        func call(_ arguments: Arguments) async throws -> String {
            asked.withLock { $0.append(arguments.city) }
            if arguments.city == "Atlantis" { throw LLMError(.generateFailed, "no such city") }
            if arguments.city == "Limbo" { throw CancellationError() }
            return "sunny"
        }
    }

    private func call(_ city: String, _ id: String = "1") -> ToolCall {
        ToolCall(id: id, name: "weather", arguments: "{\"city\": \"\(city)\"}")
    }

    @Test func theEngineGetsTheToolsAndTheirResults() async throws {
        let weather = Weather()
        let engine = ScriptedEngine(
            [
                [
                    .text("Let me see. "), .toolCall(call("Paris", "1")), .toolCall(call("Rome", "2")),
                    .finish(.endOfGeneration),
                ], [.text("Sunny."), .finish(.endOfGeneration)],
            ], capabilities: .tools)
        let session = LanguageModelSession(model: engine, tools: [weather], instructions: "Be kind.")
        var calls: [ToolCall] = []
        var text = ""
        for try await event in session.streamResponse(to: "Paris and Rome?").events {
            if case .toolCall(let call) = event { calls.append(call) }
            if case .text(let piece) = event { text += piece }
        }
        #expect(text == "Let me see. Sunny.")
        #expect(calls == [call("Paris", "1"), call("Rome", "2")])
        #expect(weather.asked.withLock { $0 } == ["Paris", "Rome"])
        #expect(
            session.transcript == [
                ChatMessage(.system, "Be kind."), ChatMessage(.user, "Paris and Rome?"),
                ChatMessage(.assistant, "Let me see. ", toolCalls: calls),
                ChatMessage(result: "sunny", of: calls[0]), ChatMessage(result: "sunny", of: calls[1]),
                ChatMessage(.assistant, "Sunny."),
            ])
        #expect(await engine.requests == [Array(session.transcript.prefix(2)), Array(session.transcript.prefix(5))])
        let tool = ToolDefinition(
            name: "weather", description: "Tells the weather.",
            parameters: JSONSchema.object([.init("city", .string)]).json)
        #expect(await engine.options.map(\.tools) == [[tool], [tool]])
        #expect(await engine.options.allSatisfy { $0.constraint == nil && $0.stopStrings.isEmpty })
        // The conversation is saved and continued later.
        let saved = try JSONDecoder().decode([ChatMessage].self, from: JSONEncoder().encode(session.transcript))
        #expect(saved == session.transcript)
    }

    @Test(arguments: [
        (ToolCall(id: "1", name: "weather", arguments: #"{"city": "Atlantis"}"#), "no such city"),
        (ToolCall(id: "1", name: "weather", arguments: #"{"city": 3}"#), "arguments do not fit"),
        (ToolCall(id: "1", name: "weather", arguments: #"{"city": "#), "arguments do not fit"),
        (ToolCall(id: "1", name: "weather", arguments: ""), "arguments do not fit"),
        (ToolCall(id: "1", name: "weather", arguments: String(repeating: "[", count: 100_000)), "arguments do not fit"),
        (ToolCall(id: "1", name: "rain", arguments: "{}"), "there is no function rain"),
        (ToolCall(id: "", name: "", arguments: "{}"), "there is no function"),
    ])
    func aFailureIsTheCallsResult(call: ToolCall, reason: String) async throws {
        let engine = ScriptedEngine(
            [[.toolCall(call), .finish(.endOfGeneration)], [.text("Sorry."), .finish(.endOfGeneration)]],
            capabilities: .tools)
        let session = LanguageModelSession(model: engine, tools: [Weather()])
        #expect(try await session.respond(to: "?").content == "Sorry.")
        let told = try #require(await engine.requests.last?.last)
        #expect(told.role == .tool && told.toolCallID == call.id && told.toolName == call.name)
        #expect(told.content.hasPrefix("{\"error\":\"") && told.content.contains(reason), "\(told.content)")
    }

    @Test(arguments: [1, 3, 100])
    func aModelThatOnlyCallsIsStopped(together: Int) async throws {
        let weather = Weather()
        let calls = (0..<together).map { ScriptedEngine.Step.toolCall(call("Paris", "\($0)")) }
        let answer: [ScriptedEngine.Step] = [.text("Hm. ")] + calls + [.finish(.endOfGeneration)]
        let engine = ScriptedEngine(Array(repeating: answer, count: 20), capabilities: .tools)
        let session = LanguageModelSession(model: engine, tools: [weather])
        await #expect {
            try await session.respond(to: "?")
        } throws: {
            ($0 as? LLMError)?.code == .tooManyToolCalls
        }
        let most = LanguageModelSession.maximumToolCalls
        #expect(weather.asked.withLock { $0.count } == most / together * together)
        #expect(await engine.requests.count == most / together + 1)
        // Each remaining call has its result.
        #expect(session.transcript.last == ChatMessage(.assistant, "Hm. "))
        #expect(session.transcript.flatMap(\.toolCalls).count == session.transcript.count { $0.role == .tool })
    }

    @Test func aToolThatEndsTheAnswerLeavesNoCallWithoutItsResult() async throws {
        let engine = ScriptedEngine(
            [[.toolCall(call("Paris")), .toolCall(call("Limbo", "2")), .finish(.endOfGeneration)]], capabilities: .tools
        )
        let session = LanguageModelSession(model: engine, tools: [Weather()])
        await #expect(throws: CancellationError.self) { try await session.respond(to: "?") }
        #expect(session.transcript.isEmpty)
    }

    @Test func aConstraintLeavesNoRoomForCalls() async throws {
        let engine = ScriptedEngine([[.text("yes"), .finish(.endOfGeneration)]], capabilities: .tools)
        let session = LanguageModelSession(model: engine, tools: [Weather()], time: ManualClock().time)
        let options = GenerationOptions(constraint: .gbnf("root ::= \"yes\""))
        #expect(try await session.respond(to: "?", options: options).content == "yes")
        #expect(await engine.options == [options])
    }

    @Test(arguments: [
        (ToolDecision.run, "sunny", ["Paris"]),
        (.deny(reason: "not now"), #"{"error":"the call was denied: not now"}"#, []),
        (.replace(ToolCall(id: "x", name: "weather", arguments: #"{"city": "Rome"}"#)), "sunny", ["Rome"]),
    ])
    func aCallIsApprovedBeforeItRuns(decision: ToolDecision, result: String, asked: [String]) async throws {
        let weather = Weather()
        let engine = ScriptedEngine(
            [[.toolCall(call("Paris")), .finish(.toolCalls)], [.text("Done."), .finish(.endOfGeneration)]],
            capabilities: .tools)
        let calls = Locked<[ToolCall]>([])
        let session = LanguageModelSession(
            model: engine, tools: [weather],
            approval: { call in
                calls.withLock { $0.append(call) }
                return decision
            })
        var results: [String] = []
        for try await snapshot in session.streamResponse(to: "?") { results = snapshot.toolResults }
        #expect(results == [result])
        #expect(calls.withLock { $0 } == [call("Paris")] && weather.asked.withLock { $0 } == asked)
        #expect(session.transcript[2] == ChatMessage(result: result, of: call("Paris")))
    }

    /// The facts of a turn cover all its messages, and its time-out applies to all of them together.
    @Test func usageAndTimeOutAreOfTheTurn() async throws {
        let clock = ManualClock()
        struct Clocked: Tool {
            struct Arguments: Codable {}
            let name = "wait"
            let description = ""
            let clock: ManualClock
            func call(_ arguments: Arguments) -> String {
                clock.advance(by: .seconds(50))
                return "done"
            }
        }
        let step = ScriptedEngine.Step.toolCall(ToolCall(id: "1", name: "wait", arguments: "{}"))
        let engine = ScriptedEngine(
            [
                [.text("a"), step, .finish(.toolCalls)], [.text("b"), .text("c"), step, .finish(.toolCalls)],
                [.text("d"), .finish(.timedOut)],
            ], capabilities: .tools)
        let session = LanguageModelSession(model: engine, tools: [Clocked(clock: clock)], time: clock.time)
        let response = try await session.respond(to: "?", options: GenerationOptions(timeout: .seconds(80)))
        #expect(response.content == "abcd" && response.summary.reason == .timedOut)
        #expect(response.summary.usage.generatedTokens == 4 && response.summary.usage.promptTokens == 3)
        #expect(await engine.options.map(\.timeout) == [.seconds(80), .seconds(30), .zero])
    }

    @Test func ratesOfATurnAreThoseOfAllItsTokens() {
        func summary(_ tokens: Int, _ rate: Double, first: Double) -> GenerationSummary {
            GenerationSummary(
                reason: .toolCalls, usage: TokenUsage(promptTokens: 30, cachedTokens: 10, generatedTokens: tokens),
                timings: GenerationTimings(
                    firstTokenSeconds: first, prefillTokensPerSecond: 20, decodeTokensPerSecond: rate))
        }
        let turn = summary(10, 10, first: 1).followed(by: summary(30, 30, first: 2))
        #expect(turn.timings.decodeTokensPerSecond == 20 && turn.timings.prefillTokensPerSecond == 20)
        #expect(turn.timings.firstTokenSeconds == 1)
        #expect(turn.usage == TokenUsage(promptTokens: 60, cachedTokens: 20, generatedTokens: 40))
        let silent = summary(0, 0, first: 1).followed(by: summary(0, 0, first: 2))
        #expect(silent.timings.decodeTokensPerSecond == 0)
    }

    /// A model reads its own thinking again between the calls of a turn, if its template allows it.
    @Test func thinkingGoesBackToTheEngine() async throws {
        let engine = ScriptedEngine(
            [
                [.thinking("Rain?"), .toolCall(call("Paris")), .finish(.toolCalls)],
                [.text("Sunny."), .finish(.endOfGeneration)],
            ], capabilities: .tools)
        let session = LanguageModelSession(model: engine, tools: [Weather()])
        _ = try await session.respond(to: "?")
        let sent = try #require(await engine.requests.last?[1])
        #expect(sent == ChatMessage(.assistant, "", thinking: "Rain?", toolCalls: [call("Paris")]))
        #expect(Set(session.transcript.map(\.id)).count == 4)
    }

    @Test func aModelWithoutToolsGetsEarlierCallsAsText() async throws {
        let earlier = [
            ChatMessage(.user, "Paris?"),
            ChatMessage(.assistant, "Well.", toolCalls: [call("Paris"), call("Rome", "2")]),
            ChatMessage(result: "sunny", of: call("Paris")), ChatMessage(result: "rain", of: call("Rome", "2")),
            ChatMessage(.assistant, "Sunny, and rain."),
        ]
        let engine = ScriptedEngine([[.text("Yes."), .finish(.endOfGeneration)]])
        _ = try await LanguageModelSession(model: engine, tools: [Weather()], transcript: earlier).respond(to: "Sure?")
        let told = try #require(await engine.requests.first)
        #expect(
            told.dropFirst() == [
                ChatMessage(.user, "Paris?"),
                ChatMessage(
                    .assistant,
                    """
                    Well.
                    <tool_call>
                    {"name": "weather", "arguments": {"city": "Paris"}}
                    </tool_call>
                    <tool_call>
                    {"name": "weather", "arguments": {"city": "Rome"}}
                    </tool_call>
                    """),
                ChatMessage(
                    .user,
                    "<tool_response>\nsunny\n</tool_response>\n<tool_response>\nrain\n</tool_response>"),
                ChatMessage(.assistant, "Sunny, and rain."), ChatMessage(.user, "Sure?"),
            ])
    }

    @Test func aPromptNeverBeginsWithAResultOrLosesTheCallOfItsLast() throws {
        let messages = [
            ChatMessage(.user, "a"), ChatMessage(.assistant, "", toolCalls: [call("Paris")]),
            ChatMessage(result: "sunny", of: call("Paris")), ChatMessage(.assistant, "b"), ChatMessage(.user, "c"),
            ChatMessage(.assistant, "", toolCalls: [call("Rome", "2")]),
            ChatMessage(result: "rain", of: call("Rome", "2")),
        ]
        for window in 4...40 {
            let fit = ContextFit(window: window, reserve: 1)
            let outcome = try? fit.apply(to: messages, render: { $0 }, count: { $0.count * 4 })
            guard let kept = outcome?.prompt else { continue }
            #expect(kept == messages || kept == Array(messages.suffix(3)), "\(window)")
        }
        // The question and its call fit, and no earlier message.
        #expect(
            try ContextFit(window: 13, reserve: 1).apply(to: messages, render: { $0 }, count: { $0.count * 4 }).dropped
                == 4)
    }

    @Test func idsAreNotGivenTwice() {
        let ids = (0..<10_000).map { _ in ToolCall.newID() }
        #expect(Set(ids).count == 10_000)
        #expect(ids.allSatisfy { $0.utf8.count == 9 && $0.allSatisfy { $0.isLetter || $0.isNumber } })
    }

    /// All text from the first mark on is separated, for all cuts.
    @Test func callsAreNoPartOfTheText() {
        let said = "Let me <tool see. <tool_call>\n{\"stop\": 1}\n</tool_call>\nand <tool_call>"
        let bytes = Array(said.utf8)
        for size in 1...bytes.count {
            var reader = AnswerReader(stopStrings: ["stop"], callMarks: ["<tool_call>"])
            var text = ""
            for start in stride(from: 0, to: bytes.count, by: size) {
                bytes[start..<min(start + size, bytes.count)].withUnsafeBytes {
                    reader.append($0) { if case .text(let piece) = $0 { text += piece } }
                }
            }
            reader.finish { if case .text(let piece) = $0 { text += piece } }
            #expect(text == "Let me <tool see. ", "in pieces of \(size)")
            #expect(reader.calls == "<tool_call>\n{\"stop\": 1}\n</tool_call>\nand <tool_call>")
            #expect(reader.matchedStop == nil)
        }
    }

    @Test func aStopStringBeforeACallEndsTheAnswer() {
        var reader = AnswerReader(stopStrings: ["END"], callMarks: ["<tool_call>"])
        var text = ""
        Array("a END <tool_call>{}".utf8).withUnsafeBytes {
            reader.append($0) { if case .text(let piece) = $0 { text += piece } }
        }
        reader.finish { if case .text(let piece) = $0 { text += piece } }
        #expect(text == "a " && reader.calls == nil && reader.matchedStop == "END")
    }
}
