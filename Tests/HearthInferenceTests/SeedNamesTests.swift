import HearthBase
import HearthInference
import HearthTestSupport
import Testing

/// Calls by the names of the seeds, as their readers write them.
@Suite(.timeLimit(.minutes(1))) struct SeedNamesTests {
    @Test func aServiceStreamsTextAndNoThinking() async throws {
        let scripted = ScriptedEngine([[.thinking("hm"), .text("Hel"), .text("lo"), .finish(.endOfGeneration)]])
        let llmService: any LLMServiceProtocol = scripted
        var content = ""
        for try await token in llmService.generate(
            systemPrompt: "Be kind.", messages: [ChatMessage(.user, "Hi")], thinkingEnabled: false)
        { content += token }
        #expect(content == "Hello")
        #expect(await scripted.requests.first?.map(\.content) == ["Be kind.", "Hi"])
        #expect(await scripted.options.first?.thinking == .disabled)
        await #expect(throws: LLMError.self) {
            for try await _ in llmService.generate(systemPrompt: "", messages: []) {}
        }
    }

    @Test func aReaderWhoStopsEndsTheAnswer() async throws {
        let engine = ScriptedEngine([[.text("a"), .waitForCancellation, .finish(.endOfGeneration)]])
        for try await _ in engine.generate(systemPrompt: "", messages: [ChatMessage(.user, "?")]) { break }
        await engine.stalled()
    }

    @Test func limitsAndRolesHaveTheirNames() async {
        #expect(ChatConstants.largeHistoryLimit == 50 && ChatConstants.smallHistoryLimit == 20)
        #expect(ModelType.allCases == [.text, .vision])
        let service = MLXService()
        #expect(!service.isDeviceSupported && !service.isModelLoaded)
        let error = await #expect(throws: MLXError.self) { try await service.loadModel("a model") }
        #expect(error?.code == MLXError.deviceNotSupported.code)
    }
}
