import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthFoundationModels

/// The system's model as an engine, with a scripted one in its place.
@Suite(.timeLimit(.minutes(1))) struct SystemModelEngineTests {
    private static let question = [ChatMessage(.user, "?")]
    private static let schema = #"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#

    private static func answer(
        _ model: ScriptedSystemModel, _ messages: [ChatMessage] = question,
        _ options: GenerationOptions = GenerationOptions(), time: TimeSource = .system
    ) async -> (events: [GenerationEvent], summary: GenerationSummary?, code: String?) {
        let events = Locked<[GenerationEvent]>([])
        do {
            let summary = try await SystemModelEngine(model: model, time: time)
                .generate(messages, options: options) { event in events.withLock { $0.append(event) } }
            return (events.withLock { $0 }, summary, nil)
        } catch {
            let code = error is CancellationError ? "cancelled" : (error as? LLMError)?.code.rawValue
            return (events.withLock { $0 }, nil, code)
        }
    }

    private static func text(_ events: [GenerationEvent]) -> String {
        events.map { if case .text(let piece) = $0 { piece } else { "" } }.joined()
    }

    @Test func growingReadingsBecomePieces() async {
        let usage = TokenUsage(promptTokens: 7, cachedTokens: 2, generatedTokens: 3)
        let model = ScriptedSystemModel(readings: ["He", "Hello", "Hello", "Hello you"], end: .usage(usage))
        let (events, summary, code) = await Self.answer(model)
        #expect(events == [.text("He"), .text("llo"), .text(" you")] && code == nil)
        #expect(summary?.reason == .endOfGeneration && summary?.usage == usage)
    }

    @Test func aMarkThatJoinsTheLastCharacterIsNew() {
        var answer = GrowingAnswer()
        #expect(answer.append("e") == "e")
        #expect(answer.append("e\u{301}").unicodeScalars.elementsEqual("\u{301}".unicodeScalars))
        #expect(answer.append("x") == "" && answer.isRewritten)
        #expect(answer.append("e\u{301}!") == "!" && !answer.isRewritten)
    }

    @Test func textThatTheModelTookBackIsNoAnswer() async {
        let (events, _, code) = await Self.answer(ScriptedSystemModel(readings: ["Hello", "Bye"]))
        #expect(Self.text(events) == "Hello" && code == "unusable-answer")
    }

    @Test func theConversationIsATranscriptBeforeAQuestion() async throws {
        let model = ScriptedSystemModel(readings: ["ok"])
        let picture = try ChatImage(Array(TestPictures.jpeg))
        let (events, _, _) = await Self.answer(
            model,
            [
                ChatMessage(.system, "A"), ChatMessage(.user, "q1", images: [picture]),
                ChatMessage(.assistant, "a1", thinking: "hidden"), ChatMessage(.system, "B"), ChatMessage(.user, "q2"),
            ])
        let request = try #require(model.requests.withLock { $0.first })
        #expect(request.instructions == "A\n\nB" && request.prompt == "q2")
        #expect(request.turns == [.prompt("q1"), .response("a1")])
        #expect(events.first == .picturesLeftOut(count: 1))
    }

    @Test func resultsOfToolsAreQuestions() async throws {
        let model = ScriptedSystemModel(readings: ["ok"])
        let call = ToolCall(id: "1", name: "weather", arguments: "{}")
        _ = await Self.answer(
            model,
            Self.question + [ChatMessage(.assistant, "", toolCalls: [call]), ChatMessage(result: "sunny", of: call)])
        let request = try #require(model.requests.withLock { $0.first })
        #expect(request.prompt.contains("sunny") && request.turns.count == 2)
    }

    @Test func anInterruptedAnswerIsContinued() async throws {
        let model = ScriptedSystemModel(readings: ["blue because of the light that is scattered"])
        var options = GenerationOptions()
        options.continuesLastMessage = true
        let (events, _, _) = await Self.answer(
            model, Self.question + [ChatMessage(.assistant, "The sky is blue")], options)
        #expect(Self.text(events) == " because of the light that is scattered")
        let request = try #require(model.requests.withLock { $0.first })
        #expect(request.turns == [.prompt("?"), .response("The sky is blue")])
    }

    @Test(
        arguments: [
            (SamplingOptions(temperature: 0), .greedy, nil),
            (SamplingOptions(temperature: 0.5, seed: 3, topK: 9), .top(9, seed: 3), 0.5),
            (SamplingOptions(temperature: 2, topP: 0.5), .probability(0.5, seed: nil), 1),
            (SamplingOptions(temperature: 0.5, seed: 3), .probability(1, seed: 3), 0.5),
            (SamplingOptions(temperature: 0.5), nil, 0.5),
        ] as [(SamplingOptions, SessionRequest.Sampling?, Double?)])
    func samplingIsThatOfTheOptions(
        sampling: SamplingOptions, expected: SessionRequest.Sampling?, temperature: Double?
    ) throws {
        let request = try SystemRequest(Self.question, options: GenerationOptions(sampling: sampling))
        #expect(request.sampling == expected && request.temperature == temperature)
        #expect(request.maximumTokens == 768)
    }

    // MARK: Ends

    @Test func aStopStringEndsTheAnswer() async {
        let model = ScriptedSystemModel(readings: ["one", "one EN", "one END two", "never"])
        let (events, summary, _) = await Self.answer(model, Self.question, GenerationOptions(stopStrings: ["END"]))
        #expect(Self.text(events) == "one " && summary?.reason == .stopString && summary?.stopString == "END")
        #expect(model.taken.withLock { $0 } == 3)
    }

    @Test func theTimeoutEndsTheAnswerWithItsText() async {
        let clock = HurriedClock()
        let model = ScriptedSystemModel(readings: ["Hel"], end: .waitForCancellation)
        let (events, summary, _) = await Self.answer(model, time: clock.time)
        #expect(summary?.reason == .timedOut)
        #expect(Self.text(events).isEmpty || Self.text(events) == "Hel")
    }

    @Test func cancellationEndsTheAnswer() async {
        let model = ScriptedSystemModel(readings: ["Hel"], end: .waitForCancellation)
        let task = Task { await Self.answer(model).code }
        task.cancel()
        #expect(await task.value == "cancelled")
    }

    @Test func aRefusalEndsTheAnswer() async {
        let (events, summary, code) = await Self.answer(
            ScriptedSystemModel(readings: ["Well"], end: .fail(SystemFailure.refused)))
        #expect(Self.text(events) == "Well" && summary?.reason == .contentFilter && code == nil)
    }

    @Test(
        arguments: [
            (.contextSizeExceeded(tokens: 9000), "context-window-exceeded"),
            (.assetsUnavailable, "system-model-not-ready"),
            (.unsupportedGuide, "grammar-unusable"), (.unsupportedLanguage, "unsupported-language"),
            (.undecodable, "answer-not-decodable"), (.rateLimited(seconds: 3), "rate-limited"), (.busy, "busy"),
            (.timedOut, "timed-out"),
        ] as [(SystemFailure, String)])
    func eachFailureHasACode(failure: SystemFailure, code: String) async {
        #expect(await Self.answer(ScriptedSystemModel(end: .fail(failure))).code == code)
    }

    @Test(
        arguments: [
            (.deviceNotEligible, "system-model-missing"), (.appleIntelligenceNotEnabled, "system-model-off"),
            (.modelNotReady, "system-model-not-ready"), (.unknown, "system-model-missing"),
        ] as [(SystemUnavailability, String)])
    func anUnavailableModelIsNotAsked(reason: SystemUnavailability, code: String) async {
        let model = ScriptedSystemModel(unavailability: reason, readings: ["never"])
        #expect(await Self.answer(model).code == code)
        #expect(model.requests.withLock { $0.isEmpty })
        #expect(SystemModelEngine(model: model).unavailability?.code.rawValue == code)
    }

    @Test func anUnknownWindowIsTheSmallest() {
        #expect(SystemModelEngine(model: ScriptedSystemModel()).modelInformation.contextLength == 8192)
        #expect(SystemModelEngine(model: ScriptedSystemModel(contextSize: 0)).modelInformation.contextLength == 4096)
    }

    // MARK: Shapes

    @Test func aValueIsOnePiece() async throws {
        let model = ScriptedSystemModel(readings: [#"{"a""#, #"{"b":1}"#, #"{"a":"x END"}"#])
        let options = GenerationOptions(stopStrings: ["END"], constraint: .jsonSchema(Self.schema))
        let (events, summary, _) = await Self.answer(model, Self.question, options)
        #expect(events == [.text(#"{"a":"x END"}"#)] || Self.text(events) == #"{"a":"x END"}"#)
        #expect(summary?.reason == .endOfGeneration)
        let schema = try #require(model.requests.withLock { $0.first?.schema })
        #expect(schema == (try SystemSchema.shaped(Self.schema)))
    }

    @Test func aKeywordThatAppleLacksIsChecked() async {
        let schema = #"{"type":"object","properties":{"a":{"type":"string","minLength":3}},"required":["a"]}"#
        let options = GenerationOptions(constraint: .jsonSchema(schema))
        #expect(await Self.answer(ScriptedSystemModel(readings: [#"{"a":"abc"}"#]), Self.question, options).code == nil)
        let short = await Self.answer(ScriptedSystemModel(readings: [#"{"a":"ab"}"#]), Self.question, options)
        #expect(short.code == "schema-not-met" && short.events.isEmpty)
    }

    @Test(arguments: [OutputConstraint.gbnf(#"root ::= "a""#), .jsonSchema(#"{"not":{}}"#), .jsonSchema("{")])
    func otherShapesAreRefused(constraint: OutputConstraint) async {
        let model = ScriptedSystemModel(readings: ["never"])
        let code = await Self.answer(model, Self.question, GenerationOptions(constraint: constraint)).code
        #expect(["engine-missing", "grammar-unusable"].contains(code) && model.requests.withLock { $0.isEmpty })
    }

    @Test func toolsOfASessionAreCalledInText() async throws {
        struct Weather: Tool {
            struct Arguments: Codable { var city: String }
            let name = "weather"
            let description = "Tells the weather."
            func call(_ arguments: Arguments) async throws -> String { "sunny in \(arguments.city)" }
        }
        let call = #"<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call> and more"#
        let model = ScriptedSystemModel(readings: [call])
        let session = LanguageModelSession(model: SystemModelEngine(model: model), tools: [Weather()])
        // The scripted model calls again and again.
        await #expect(throws: LLMError.self) { try await session.respond(to: "?") }
        let requests = model.requests.withLock { $0 }
        #expect(requests.count == LanguageModelSession.maximumToolCalls + 1)
        #expect(requests[0].instructions.contains("weather") && requests[0].stopStrings == ["</tool_call>"])
        #expect(requests[1].prompt.contains("sunny in Paris"))
    }
}
