import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthInference
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@testable import Hearth

/// The trial of models that give vectors and do not answer.
@Suite(.timeLimit(.minutes(10))) struct EncoderProbeTests {
    /// Gives the same vectors for whatever it is asked, and answers nobody.
    private struct VectorEngine: InferenceEngine, TokenReader {
        let vectors: [[Float]]
        let isEncoderOnly: Bool
        var embeddingLength = 2
        var failure: LLMError?
        let texts = Locked<[[String]]>([])
        let unloads = Locked(0)

        var modelInformation: ModelInformation {
            var information = ModelInformation(description: "scripted", contextLength: 512)
            information.isEncoderOnly = isEncoderOnly
            information.embeddingLength = embeddingLength
            return information
        }

        let capabilities: EngineCapabilities = .embeddings

        func generate(
            _ messages: [ChatMessage], options: GenerationOptions,
            onEvent: @escaping @Sendable (GenerationEvent) -> Void
        ) async throws -> GenerationSummary { throw LLMError.encoderOnly }

        func embed(_ texts: [String]) async throws -> [[Float]] {
            self.texts.withLock { $0.append(texts) }
            if let failure { throw failure }
            return vectors
        }

        func unload() async { unloads.withLock { $0 += 1 } }
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func install(_ weights: Path) async throws -> InstalledRelease {
        try await ModelStore(home: folder.path("home")).install("tiny@1.0.0", weights: weights)
    }

    private func probe(
        _ vectors: [[Float]], isEncoderOnly: Bool = true, embeddingLength: Int = 2, failure: LLMError? = nil
    ) async throws -> (VectorEngine, Result<ProbeReport?, any Error>) {
        let release = try await install(try folder.write("x", Data("x".utf8)))
        let engine = VectorEngine(
            vectors: vectors, isEncoderOnly: isEncoderOnly, embeddingLength: embeddingLength, failure: failure)
        let probe = EngineReleaseProbe(formats: [.gguf]) { _ in engine }
        let canary = Canary(prompt: "Capital?", pattern: "Paris", minimumTokensPerSecond: 1)
        let candidate = ProbeCandidate(release: release, weights: try #require(release.weights), canary: canary)
        let task = Task { try await probe.probe(candidate) }
        return (engine, await task.result)
    }

    @Test func anEncoderMakesAVectorOfThePrompt() async throws {
        let (engine, result) = try await probe([[0.6, 0.8]])
        let report = try #require(try result.get())
        #expect(engine.texts.withLock { $0 } == [["Capital?"]] && engine.unloads.withLock { $0 } == 1)
        #expect(report.embeddingLength == 2 && report.text.isEmpty && report.generatedTokens == 0)
        #expect(report.answerSeconds > 0 && !report.isTimedOut)
        // What a publisher wants of an answer is not asked of it.
        let canary = Canary(prompt: "Capital?", pattern: "Paris", minimumTokensPerSecond: 1)
        #expect(canary.objection(to: report) == nil)
    }

    @Test(
        arguments: [[], [[]], [[1]], [[1, 0, 0]], [[1, .nan]], [[.infinity, 0]], [[1, 0], [1, 0]]] as [[[Float]]])
    func aVectorThatIsNoneFails(_ vectors: [[Float]]) async throws {
        let (engine, result) = try await probe(vectors)
        #expect(engine.unloads.withLock { $0 } == 1)
        let error = #expect(throws: LLMError.self) { try result.get() }
        #expect(error?.code == .generateFailed && error?.message.contains("2 finite numbers") == true)
    }

    /// Nothing here asks for what a model that ranks texts makes, and no room for a vector says nothing of the model.
    @Test func whatCannotBeTriedIsNotJudged() async throws {
        let ranks = try await probe([], embeddingLength: 0)
        #expect(try ranks.1.get() == nil && ranks.0.texts.withLock { $0 }.isEmpty)
        let crowded = try await probe([], failure: LLMError(.doesNotFit, "no room"))
        #expect(try crowded.1.get() == nil && crowded.0.unloads.withLock { $0 } == 1)
    }

    /// What answers too is asked, although it gives vectors.
    @Test func whatAnswersIsAskedForAnAnswer() async throws {
        let (engine, result) = try await probe([[0.6, 0.8]], isEncoderOnly: false)
        #expect(engine.texts.withLock { $0 }.isEmpty)
        #expect(throws: LLMError.self) { try result.get() }
    }

    #if Llama
    /// The real engine on an encoder: tried, live, and no worse for what it cannot do.
    @Test func anEncoderBecomesLive() async throws {
        let release = try await install(TestModel.path(.vectors))
        let probe = EngineReleaseProbe(memory: EngineMemory(deviceMemory: 8 << 30))
        let candidate = ProbeCandidate(
            release: release, weights: try #require(release.weights), canary: .default)
        let report = try #require(try await probe.probe(candidate))
        #expect(report.embeddingLength == 64)
        let manager = ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 8 << 30,
            probe: probe)
        #expect(try await manager.activate(release.identity).isActive)
        let state = try await manager.store.state(of: release.identity.family)
        #expect(state.probation?.release == release.identity && !state.isHeldBack(release.identity))
    }
    #endif
}
