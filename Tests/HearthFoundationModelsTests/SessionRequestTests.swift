import HearthInference
import HearthTestSupport
import Testing

@testable import HearthFoundationModels

/// What a session asks for, as the options of an engine.
@Suite struct SessionRequestTests {
    private static let tool = ToolDefinition(name: "weather", description: "", parameters: "{}")
    private static let schema = #"{"type":"object","properties":{"a":{"type":"null"}},"x-order":["a"]}"#
    private static let shape = OutputConstraint.jsonSchema(#"{"type":"object","properties":{"a":{"type":"null"}}}"#)

    private static func work(
        _ abilities: EngineCapabilities = [.schema], _ change: (inout SessionRequest) -> Void = { _ in }
    ) throws -> SessionRequest.Work {
        var request = SessionRequest([TranscriptEntry(.prompt([.text("?")]))])
        change(&request)
        return try request.work(abilities, timeout: .seconds(9))
    }

    @Test func withoutOptionsTheWindowIsTheLimit() throws {
        let work = try Self.work()
        var expected = GenerationOptions(maximumNewTokens: GenerationOptions.windowLength, timeout: .seconds(9))
        expected.keepsAllMessages = true
        #expect(work.options == expected)
        #expect(work.shapeAfterCalls == nil && work.messages == [ChatMessage(.user, "?")])
    }

    @Test(
        arguments: [
            (.greedy, 0.7, SamplingOptions(temperature: 0)),
            (.top(40, seed: 7), 0.7, SamplingOptions(temperature: 0.7, seed: 7, topK: 40)),
            (.top(0, seed: nil), nil, SamplingOptions(topK: 1)),
            (.top(3, seed: 1 << 32 | 5), nil, SamplingOptions(seed: 5, topK: 3)),
            (.probability(0.5, seed: 1), -1, SamplingOptions(temperature: 0, seed: 1, topP: 0.5)),
            (.probability(2, seed: nil), nil, SamplingOptions(topP: 1)),
            (.probability(0, seed: nil), nil, SamplingOptions(topP: 0.001)),
            (nil, 1.5, SamplingOptions(temperature: 1.5)),
        ] as [(SessionRequest.Sampling?, Double?, SamplingOptions)])
    func samplingIsThatOfTheSession(
        sampling: SessionRequest.Sampling?, temperature: Double?, expected: SamplingOptions
    ) throws {
        let work = try Self.work { ($0.sampling, $0.temperature) = (sampling, temperature) }
        #expect(work.options.sampling == expected)
    }

    @Test(
        arguments: [
            (nil, ThinkingOptions()), (.light, ThinkingOptions(maximumTokens: 512)),
            (.moderate, ThinkingOptions(maximumTokens: 2048)), (.deep, ThinkingOptions()),
            (.custom("off"), .disabled), (.custom("None"), .disabled),
            (.custom("99"), ThinkingOptions(maximumTokens: 99)),
            (.custom("hard"), ThinkingOptions()),
        ] as [(SessionRequest.Reasoning?, ThinkingOptions)])
    func reasoningHasALevel(level: SessionRequest.Reasoning?, expected: ThinkingOptions) throws {
        #expect(try Self.work { $0.reasoning = level }.options.thinking == expected)
    }

    @Test func theAnswersLengthIsThatOfTheSession() throws {
        #expect(try Self.work { $0.maximumTokens = 5 }.options.maximumNewTokens == 5)
        #expect(try Self.work { $0.maximumTokens = -5 }.options.maximumNewTokens == 1)
    }

    @Test func aSchemaIsHeldAndShown() throws {
        let work = try Self.work { $0.schema = Self.schema }
        #expect(work.options.constraint == Self.shape && work.shapeAfterCalls == nil)
        #expect(work.messages[0].content.hasSuffix(#"{"type":"object","properties":{"a":{"type":"null"}}}"#))
        let hidden = try Self.work { ($0.schema, $0.showsSchema) = (Self.schema, false) }
        #expect(hidden.options.constraint == Self.shape && hidden.messages[0].content == "?")
    }

    @Test func aSchemaForAnEngineWithoutOneIsAMissingCapability() {
        #expect(throws: RequestFailure.unsupportedCapability(.guidedGeneration, "the engine holds no schema")) {
            try Self.work([]) { $0.schema = Self.schema }
        }
    }

    @Test(
        arguments: [
            (.allowed, ToolChoice.automatic, 1, nil, shape), (.required, .required, 1, nil, nil),
            (.disallowed, .automatic, 0, shape, nil),
        ] as [(SessionRequest.ToolUse, ToolChoice, Int, OutputConstraint?, OutputConstraint?)])
    func toolsAndASchemaTakeTurns(
        use: SessionRequest.ToolUse, choice: ToolChoice, tools: Int, shape: OutputConstraint?, after: OutputConstraint?
    ) throws {
        let work = try Self.work { request in
            (request.tools, request.schema, request.toolUse) = ([Self.tool], Self.schema, use)
        }
        #expect(work.options.toolChoice == choice && work.options.tools.count == tools)
        #expect(work.options.constraint == shape && work.shapeAfterCalls == after)
    }

    @Test func abilitiesAreThoseOfTheEngine() {
        #expect(ModelAbility.all(of: []) == [.toolCalling])
        #expect(
            Set(ModelAbility.all(of: [.schema, .thinking, .vision, .seed])) == Set(ModelAbility.allCases))
        #expect(ModelAbility.all(of: [.thinking]) == [.toolCalling, .reasoning])
    }
}
