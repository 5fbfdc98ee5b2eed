import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthFoundationModels

/// Answers of a scripted engine as the actions of a session's channel.
@Suite(.timeLimit(.minutes(1))) struct SessionResponderTests {
    private static let weather = ToolDefinition(
        name: "weather", description: "Tells the weather.",
        parameters: #"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#)
    private static let call = ToolCall(id: "c1", name: "weather", arguments: #"{"city":"Paris"}"#)
    private static let schema = #"{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}"#
    private static let all: EngineCapabilities = [.schema, .thinking, .tools, .vision]

    /// The entries of an answer have the ids `1` for reasoning, `2` for text and `3` for calls.
    private static func answer(
        _ script: [[ScriptedEngine.Step]], _ abilities: EngineCapabilities = all,
        _ change: (inout SessionRequest) -> Void = { _ in }
    ) async throws -> (actions: [ChannelAction], engine: ScriptedEngine, error: (any Error)?) {
        let engine = ScriptedEngine(script, capabilities: abilities)
        var request = SessionRequest([TranscriptEntry(.prompt([.text("?")]))])
        change(&request)
        let actions = Locked<[ChannelAction]>([])
        do {
            try await SessionResponder(engine, timeout: .seconds(9))
                .respond(to: request, writer(for: request)) { action in actions.withLock { $0.append(action) } }
        } catch {
            return (actions.withLock { $0 }, engine, error)
        }
        return (actions.withLock { $0 }, engine, nil)
    }

    private static func writer(for request: SessionRequest) -> AnswerWriter {
        var number = 0
        return AnswerWriter(tools: Set(request.tools.map(\.name))) {
            number += 1
            return "\(number)"
        }
    }

    private static func usage(_ generated: Int) -> TokenUsage {
        TokenUsage(promptTokens: 1, cachedTokens: 0, generatedTokens: generated)
    }

    @Test func textStreamsWithReasoningInAnEntryOfItsOwn() async throws {
        let (actions, _, error) = try await Self.answer([
            [.thinking("Hm"), .thinking("."), .text("Hello"), .text(" you"), .finish(.endOfGeneration)]
        ])
        #expect(error == nil)
        #expect(
            actions == [
                .reasoning("Hm", entry: "1"), .reasoning(".", entry: "1"), .text("Hello", entry: "2"),
                .text(" you", entry: "2"), .usage(Self.usage(4), entry: "2", isOfCalls: false),
            ])
    }

    @Test func anEmptyAnswerIsAnAnswer() async throws {
        let (actions, _, error) = try await Self.answer([[.finish(.endOfGeneration)]])
        #expect(error == nil)
        #expect(actions == [.text("", entry: "2"), .usage(Self.usage(0), entry: "2", isOfCalls: false)])
    }

    // MARK: Tools

    @Test func severalCallsAreInOneEntryWithTheirCounts() async throws {
        let second = ToolCall(id: "c2", name: "weather", arguments: #"{"city":"Rome"}"#)
        let (actions, engine, error) = try await Self.answer([
            [.toolCall(Self.call), .toolCall(second), .finish(.toolCalls)]
        ]) { $0.tools = [Self.weather] }
        #expect(error == nil)
        #expect(
            actions == [
                .toolCall(Self.call, entry: "3"), .toolCall(second, entry: "3"),
                .usage(Self.usage(0), entry: "3", isOfCalls: true),
            ])
        #expect(await engine.options[0].tools == [Self.weather])
    }

    @Test func idsAreDifferentAndArgumentsAnObject() async throws {
        let nameless = ToolDefinition(name: "clock", description: "", parameters: #"{"type":"object"}"#)
        let call = ToolCall(id: "same", name: "clock", arguments: "")
        let (actions, _, _) = try await Self.answer([
            [
                .toolCall(call), .toolCall(call), .toolCall(ToolCall(id: "", name: "clock", arguments: "")),
                .finish(.toolCalls),
            ]
        ]) { $0.tools = [nameless] }
        let calls = actions.compactMap { if case .toolCall(let call, _) = $0 { call } else { nil } }
        #expect(Set(calls.map(\.id)).count == 3 && !calls.contains { $0.id.isEmpty })
        #expect(calls.map(\.arguments) == ["{}", "{}", "{}"])
    }

    @Test func callsInTheTextOfAModelWithoutToolsAreFound() async throws {
        let text = #"I look.<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>"#
        let (actions, _, error) = try await Self.answer([[.text(text), .finish(.endOfGeneration)]], [.schema]) {
            $0.tools = [Self.weather]
        }
        #expect(error == nil)
        guard case .toolCall(let call, entry: "3") = actions.dropFirst().first else {
            Issue.record("\(actions)")
            return
        }
        #expect(actions.first == .text("I look.", entry: "2"))
        #expect(call.name == "weather" && call.arguments == #"{"city":"Paris"}"#)
    }

    @Test(arguments: ["clock", ""]) func aCallOfNoToolFails(name: String) async throws {
        let (actions, _, error) = try await Self.answer([
            [.toolCall(ToolCall(id: "1", name: name, arguments: "{")), .finish(.toolCalls)]
        ]) { $0.tools = [Self.weather] }
        #expect((error as? LLMError)?.code == .unusableAnswer && actions.isEmpty)
    }

    // MARK: Guided generation

    @Test func aValueIsWrittenInTheShapeOfItsSchema() async throws {
        let (actions, engine, error) = try await Self.answer([
            [.text(#"{"a":"#), .text("1}"), .finish(.endOfGeneration)]
        ]) { $0.schema = Self.schema }
        #expect(error == nil && actions.count == 3)
        #expect(await engine.options[0].constraint == .jsonSchema(Self.schema))
    }

    @Test func withToolsTheModelMayCallBeforeItWritesTheValue() async throws {
        let (actions, engine, error) = try await Self.answer([[.toolCall(Self.call), .finish(.toolCalls)]]) {
            ($0.schema, $0.tools) = (Self.schema, [Self.weather])
        }
        #expect(error == nil)
        #expect(actions.first == .toolCall(Self.call, entry: "3") && actions.count == 2)
        #expect(await engine.requests.count == 1)
    }

    @Test func withoutACallTheFreeTextIsGivenUpForTheValue() async throws {
        let (actions, engine, error) = try await Self.answer([
            [.thinking("Hm"), .text("\n"), .text("Sure"), .waitForCancellation],
            [.text(#"{"a":1}"#), .finish(.endOfGeneration)],
        ]) { ($0.schema, $0.tools) = (Self.schema, [Self.weather]) }
        #expect(error == nil)
        #expect(
            actions == [
                .reasoning("Hm", entry: "1"), .text(#"{"a":1}"#, entry: "2"),
                .usage(Self.usage(1), entry: "2", isOfCalls: false),
            ])
        let options = await engine.options
        #expect(options.map { $0.tools.count } == [1, 0])
        #expect(options.map(\.constraint) == [nil, .jsonSchema(Self.schema)])
        #expect(options.map(\.thinking.isEnabled) == [true, false], "it has thought already")
    }

    @Test func anEmptyAnswerIsFollowedByTheValue() async throws {
        let (actions, engine, _) = try await Self.answer([
            [.finish(.endOfGeneration)], [.text(#"{"a":1}"#), .finish(.endOfGeneration)],
        ]) { ($0.schema, $0.tools) = (Self.schema, [Self.weather]) }
        #expect(actions.first == .text(#"{"a":1}"#, entry: "2"))
        #expect(await engine.requests.count == 2)
    }

    // MARK: Ends

    @Test(
        arguments: [
            (.timedOut, .timeout("the answer took too long")),
            (
                .contextFull,
                .contextSizeExceeded(size: 4096, tokens: 2, "the answer does not fit into the context window")
            ),
            (.contentFilter, .guardrailViolation("a filter of the provider ended the answer")),
            (.maximumNewTokens, nil), (.repeating, nil), (.stopString, nil),
        ] as [(FinishReason, RequestFailure?)])
    func anEndThatNoSessionExpectsIsAnError(reason: FinishReason, failure: RequestFailure?) async throws {
        let (actions, _, error) = try await Self.answer([[.text("Hel"), .finish(reason)]])
        #expect(error as? RequestFailure == failure)
        #expect(actions.last == .usage(Self.usage(1), entry: "2", isOfCalls: false), "the counts are told in any case")
    }

    @Test func abrokenConnectionIsAnErrorOfHearth() async throws {
        let (_, _, error) = try await Self.answer([[.text("Hel"), .finish(.interrupted)]])
        #expect((error as? LLMError)?.code == .answerInterrupted)
    }

    @Test func errorsOfTheEngineAreMappedAfterTheTextBeforeThem() async throws {
        let (actions, _, error) = try await Self.answer([[.text("Hel"), .fail(LLMError(.busy, "the queue is full"))]])
        #expect(error as? RequestFailure == .rateLimited(seconds: nil, "the queue is full"))
        #expect(actions == [.text("Hel", entry: "2")])
    }

    @Test func cancellationStopsTheEngineInTheMiddle() async throws {
        let engine = ScriptedEngine([
            [.text("Hel"), .waitForCancellation], [.text("again"), .finish(.endOfGeneration)],
        ])
        let responder = SessionResponder(engine, timeout: .seconds(9))
        let request = SessionRequest([TranscriptEntry(.prompt([.text("?")]))])
        let actions = Locked<[ChannelAction]>([])
        let task = Task {
            try await responder.respond(to: request, Self.writer(for: request)) { action in
                actions.withLock { $0.append(action) }
            }
        }
        await engine.stalled()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let sent = actions.withLock { $0 }
        #expect(sent.isEmpty || sent == [.text("Hel", entry: "2")])
        // The engine answers the next request.
        try await responder.respond(to: request, Self.writer(for: request)) { _ in }
        #expect(await engine.requests.count == 2)
    }

    /// An engine that answers until it is stopped.
    private struct EndlessEngine: InferenceEngine {
        let modelInformation = ModelInformation(description: "endless", contextLength: 4096)
        let capabilities: EngineCapabilities = []
        let ended = AsyncStream<Void>.makeStream()

        func generate(
            _ messages: [ChatMessage], options: GenerationOptions,
            onEvent: @escaping @Sendable (GenerationEvent) -> Void
        ) async throws -> GenerationSummary {
            onEvent(.text("Hel"))
            let (never, end) = AsyncStream<Never>.makeStream()
            for await _ in never {}
            end.finish()
            ended.continuation.yield()
            throw CancellationError()
        }
    }

    @Test func theEngineOfACancelledAnswerStops() async throws {
        let engine = EndlessEngine()
        let request = SessionRequest([TranscriptEntry(.prompt([.text("?")]))])
        let (sent, sending) = AsyncStream<ChannelAction>.makeStream()
        let task = Task {
            try await SessionResponder(engine, timeout: .seconds(9))
                .respond(to: request, Self.writer(for: request)) { action in sending.yield(action) }
        }
        for await action in sent {
            #expect(action == .text("Hel", entry: "2"))
            break
        }
        task.cancel()
        for await _ in engine.ended.stream { break }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    // MARK: Preparation

    @Test func theBeginningOfTheNextPromptIsPrepared() async throws {
        let engine = ScriptedEngine([[.finish(.endOfGeneration)]], capabilities: Self.all)
        await SessionResponder(engine, timeout: .seconds(9)).prepare([
            TranscriptEntry(.instructions([.text("Be brief.")], tools: [Self.weather]))
        ])
        #expect(await engine.preparations == [[ChatMessage(.system, "Be brief."), ChatMessage(.user, "")]])
        #expect(await engine.options[0].tools == [Self.weather])
    }

    @Test func aPreparationThatFailsIsNoError() async throws {
        let engine = ScriptedEngine([], capabilities: Self.all)
        await SessionResponder(engine, timeout: .seconds(9)).prepare([])
        #expect(await engine.preparations.isEmpty)
    }
}
