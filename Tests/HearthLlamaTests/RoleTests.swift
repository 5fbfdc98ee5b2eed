#if Llama
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

@Suite struct RolePlanTests {
    @Test(
        arguments: [
            (4, .vision, [.text], [.text]), (6, .vision, [.text], []), (4, .text, [.vision], []),
            (4, .text, [.text], [.text]), (4, .vision, [.text, .vision], [.text, .vision]),
            (8, .vision, [.text, .vision], [.vision]), (4, .vision, [], []),
        ] as [(UInt64, EngineRole, Set<EngineRole>, [EngineRole])])
    func unloadsModelsBeforeALoad(
        gibibytes: UInt64, role: EngineRole, loaded: Set<EngineRole>, unloaded: [EngineRole]
    ) {
        let plan = RolePlan(deviceMemory: gibibytes << 30)
        #expect(plan.unloadedFirst(loading: role, loaded: loaded) == unloaded)
        // Whole GiB count, so slightly less than six counts as five.
        if gibibytes == 6 {
            let less = RolePlan(deviceMemory: (6 << 30) - 1)
            #expect(less.unloadedFirst(loading: role, loaded: loaded) == [.text])
        }
    }

    @Test(
        arguments: [
            (.text, [.text], false, .text), (.text, [.vision], true, nil), (.vision, [.text], false, nil),
            (.vision, [.text], true, .text), (.vision, [.text, .vision], true, .vision), (.vision, [], true, nil),
        ] as [(EngineRole, Set<EngineRole>, Bool, EngineRole?)])
    func choosesTheRoleThatAnswers(role: EngineRole, loaded: Set<EngineRole>, canSee: Bool, answering: EngineRole?) {
        #expect(RolePlan.answering(role, loaded: loaded, textModelSupportsVision: canSee) == answering)
    }
}

extension RealModel {
    @Suite struct Roles {
        private static func configuration(gibibytes: UInt64) -> LlamaConfiguration {
            LlamaConfiguration(contextLength: 256, threadCount: 1, deviceMemory: gibibytes << 30)
        }

        private func paris(_ engine: LlamaActor, _ role: EngineRole) async throws -> TokenUsage {
            let answer = try await Answer(engine.generate(capitalOfFrance, options: .greedy(), role: role))
            #expect(answer.text.contains("Paris"))
            return try #require(answer.summary).usage
        }

        @Test func haveModelsAndMemoriesOfTheirOwn() async throws {
            let engine = LlamaActor(configuration: Self.configuration(gibibytes: 8))
            try await engine.load(TestModel.path)
            try await engine.load(TestModel.path, role: .vision)
            #expect(try await paris(engine, .text).cachedTokens == 0)
            #expect(try await paris(engine, .vision).cachedTokens == 0)
            #expect(try await paris(engine, .text).cachedTokens > 0)
            await engine.unload(.text)
            #expect(throws: LLMError.self) { try engine.modelInformation }
            #expect(try engine.modelInformation(.vision).contextLength == 256)
            #expect(try await paris(engine, .vision).cachedTokens > 0)
            // The model is replaced, and all memory of the old one is freed.
            try await engine.load(TestModel.path, role: .vision)
            #expect(try await paris(engine, .vision).cachedTokens == 0)
            await engine.unload()
            #expect(throws: LLMError.self) { try engine.modelInformation(.vision) }
        }

        @Test func replaceEachOtherOnASmallDevice() async throws {
            let engine = LlamaActor(configuration: Self.configuration(gibibytes: 4))
            try await engine.load(TestModel.path)
            try await engine.load(TestModel.path, role: .vision)
            let error = await #expect(throws: LLMError.self) { _ = try await paris(engine, .text) }
            #expect(error?.code == .modelNotLoaded)
            _ = try await paris(engine, .vision)
        }

        /// On a small device the model for text is unloaded, and its conversation continues with the vision model.
        @Test func canBeTalkedToOneByOne() async throws {
            let engine = LlamaActor(configuration: Self.configuration(gibibytes: 4))
            try await engine.load(TestModel.path)
            try await engine.load(TestModel.path, role: .vision, projector: try TestModel.path(.projector))
            let seeing = engine.model(for: .vision)
            let session = LanguageModelSession(model: seeing, instructions: "You are a helpful assistant.")
            let picture = try ChatImage(TestPictures.png(width: 40, height: 30, red: 255, blue: 0))
            var events: [GenerationEvent] = []
            for try await event in session.streamResponse(
                to: "What is it?", images: [picture], options: .greedy(maximumNewTokens: 4)
            ).events { events.append(event) }
            #expect(!events.contains(.picturesLeftOut(count: 1)))
            guard case .finish(let summary)? = events.last else { return #expect(Bool(false)) }
            #expect(summary.encodedPictures == 1)
            #expect(try await seeing.modelInformation == engine.modelInformation(.vision))
            let reader = try #require(seeing.tokens)
            #expect(try await reader.count("one two") == 2)
            #expect(try await reader.count(session.transcript) > 4)
            let text = engine.model(for: .text)
            await #expect(throws: LLMError.self) { try await text.tokens?.count("one two") }
            await #expect(throws: LLMError.self) {
                try await LanguageModelSession(model: text).respond(to: "Hello?")
            }
            await reader.unload()
            await #expect(throws: LLMError.self) { try await seeing.modelInformation }
        }

        /// The second model alone would fit with 4096 tokens.
        @Test func countTheMemoryOfTheOtherModel() async throws {
            func configuration(_ context: Int?) -> LlamaConfiguration {
                LlamaConfiguration(contextLength: context, threadCount: 1, deviceMemory: 540 << 20)
            }
            let engine = LlamaActor(configuration: configuration(256))
            try await engine.load(TestModel.path, role: .vision)
            let error = await #expect(throws: LLMError.self) {
                try await engine.load(TestModel.path, configuration: configuration(4096))
            }
            #expect(error?.code == .doesNotFit && error?.message.contains("of the other model") == true)
            #expect(throws: LLMError.self) { try engine.modelInformation }
            _ = try await paris(engine, .vision)
            try await engine.load(TestModel.path, configuration: configuration(nil))
            #expect(try engine.modelInformation.contextLength == 2048)
            // The memory of unloaded models does not count: the replaced model, and on a small device the one for
            // text.
            try await engine.load(TestModel.path, role: .vision, configuration: configuration(4096))
            #expect(try engine.modelInformation(.vision).contextLength == 4096)
            #expect(throws: LLMError.self) { try engine.modelInformation }
            await engine.unload()
            try await engine.load(TestModel.path, configuration: configuration(4096))
            #expect(try engine.modelInformation.contextLength == 4096)
        }

        @Test func areBothServedByAModelWithVision() async throws {
            let engine = LlamaActor(configuration: Self.configuration(gibibytes: 4))
            try await engine.load(TestModel.path, supportsVision: true)
            #expect(engine.textModelSupportsVision)
            _ = try await paris(engine, .vision)
            #expect(try await paris(engine, .text).cachedTokens > 0)
            await engine.unload(.text)
            #expect(!engine.textModelSupportsVision)
            await #expect(throws: LLMError.self) { _ = try await paris(engine, .vision) }
        }

        @Test func runOnTheLibraryThePackageIsWrittenFor() {
            #expect(LlamaActor.libraryVersion == LlamaLibrary.pinnedVersion)
        }
    }
}
#endif
