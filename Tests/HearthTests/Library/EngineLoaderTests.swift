import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthInference
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

/// Engines by purpose, over models that are really on the disk; the engines are scripted.
@MainActor @Suite(.timeLimit(.minutes(10))) struct EngineLoaderTests {
    /// Opens a scripted engine, or follows the script for a while first.
    private final class Opener: Sendable {
        let opened = Locked<[String]>([])
        let barrier = Locked<Barrier?>(nil)
        let problem = Locked<LLMError?>(nil)

        func open(_ weights: Path) async throws -> any InferenceEngine {
            opened.withLock { $0.append(weights.lastComponent) }
            try await barrier.withLock { $0 }?.pass()
            if let problem = problem.withLock({ $0 }) { throw problem }
            let name = weights.lastComponent
            return ScriptedEngine(Array(repeating: [.text(name), .finish(.endOfGeneration)], count: 10))
        }
    }

    private let folder: TemporaryFolder
    private let manager: ModelManager
    private let opener = Opener()
    private let loader: EngineLoader

    init() throws {
        folder = try TemporaryFolder()
        manager = ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 8_000_000_000)
        let models = LiveModels(manager: manager, budget: 1 << 40) { [opener] in
            try await opener.open($0.weights)
        }
        loader = EngineLoader(models: models)
    }

    private func install(_ name: String, role: ModelRole = .text) async throws -> ModelInfo {
        let path = try folder.write(name, ModelFiles.gguf(texts: [("general.name", name)]))
        var model = ModelInfo(try await manager.pull(.file(path)).release)
        model.role = role
        return model
    }

    @Test func eachPurposeHasItsModel() async throws {
        let text = try await install("diary-v1.0.0-q4_1.gguf")
        let eyes = try await install("eyes-v1.0.0-q4_1.gguf", role: .vision)
        #expect(loader.engine(for: .text) == nil)
        try await loader.load(text)
        try await loader.load(text)
        try await loader.load(eyes)
        #expect(opener.opened.withLock { $0 } == ["diary-v1.0.0-q4_1.gguf", "eyes-v1.0.0-q4_1.gguf"])
        #expect(loader.loaded == [.text: text.id, .vision: eyes.id])
        #expect(loader.loading == nil)
        #expect(loader.engine(for: .text) != nil)
        await loader.unload(text.id)
        #expect(loader.loaded == [.vision: eyes.id])
        #expect(loader.engine(for: .text) == nil)
    }

    @Test func anUpdateIsLoadedInItsPlace() async throws {
        try await loader.load(try await install("diary-v1.0.0-q4_1.gguf"))
        let newer = try await install("diary-v1.1.0-q4_1.gguf")
        try await loader.load(newer)
        #expect(opener.opened.withLock { $0 } == ["diary-v1.0.0-q4_1.gguf", "diary-v1.1.0-q4_1.gguf"])
        #expect(loader.loaded == [.text: newer.id])
    }

    private func answer(_ engine: any InferenceEngine) async throws -> String {
        var text = ""
        for try await event in engine.generate([ChatMessage(.user, "x")], options: GenerationOptions()) {
            if case .text(let piece) = event { text += piece }
        }
        return text
    }

    /// What a view model has handed out is the live model: a new release answers in its next breath, and is on probation.
    @Test func theEngineOfAPurposeIsTheLiveModel() async throws {
        try await loader.load(try await install("diary-v1.0.0-q4_1.gguf"))
        let engine = try #require(loader.engine(for: .text))
        #expect(try await answer(engine) == "diary-v1.0.0-q4_1.gguf")
        let newer = try await install("diary-v1.1.0-q4_1.gguf")
        #expect(try await answer(engine) == "diary-v1.1.0-q4_1.gguf")
        let state = try await manager.store.state(of: newer.id)
        #expect(state.probation?.release.version.name == "1.1.0")
        #expect(state.probation?.answers == 1)
        #expect(loader.loaded == [.text: newer.id])
        // Another user of the same models loads nothing a second time.
        let model = try await loader.models.model(newer.id, policy: .localOnly)
        #expect(try await answer(model) == "diary-v1.1.0-q4_1.gguf")
        #expect(opener.opened.withLock { $0 }.count == 2)
    }

    @Test func filesStayWhileTheirModelIsLoaded() async throws {
        let text = try await install("diary-v1.0.0-q4_1.gguf")
        try await loader.load(text)
        let other = ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 8_000_000_000)
        let error = await #expect(throws: StoreError.self) {
            try await other.store.remove(text.id, version: nil, variant: nil)
        }
        #expect(error?.code == .releaseInUse)
        await loader.unload(text.id)
        #expect(loader.models.pool.loaded.isEmpty)
        try await other.store.remove(text.id, version: nil, variant: nil)
    }

    @Test func theOneBeforeGoesOnceTheNewOneAnswers() async throws {
        let text = try await install("diary-v1.0.0-q4_1.gguf")
        try await loader.load(text)
        let before = try #require(loader.engine(for: .text))
        let other = try await install("poet-v1.0.0-q4_1.gguf")
        try await loader.load(other)
        while loader.models.pool.loaded.count > 1 { await Task.yield() }
        #expect(loader.models.pool.releases.map(\.family) == [other.id])
        #expect(loader.loaded == [.text: other.id])
        #expect(try await answer(before) == "diary-v1.0.0-q4_1.gguf", "who still has it gets it loaded again")
    }

    @Test func aModelThatIsNotHereCannotBeLoaded() async throws {
        let error = await #expect(throws: StoreError.self) { try await loader.load(Models.text) }
        #expect(error?.code == .notInstalled)
        #expect(loader.loading == nil)
    }

    @Test func aLoadThatFailsLeavesTheOneBefore() async throws {
        let text = try await install("diary-v1.0.0-q4_1.gguf")
        try await loader.load(text)
        opener.problem.withLock { $0 = LLMError(.cannotLoad, "no model") }
        let other = try await install("poet-v1.0.0-q4_1.gguf")
        await #expect(throws: LLMError.self) { try await loader.load(other) }
        #expect(loader.loaded == [.text: text.id])
    }

    @Test func aCancelledLoadChangesNothing() async throws {
        let text = try await install("diary-v1.0.0-q4_1.gguf")
        let barrier = Barrier()
        opener.barrier.withLock { $0 = barrier }
        let load = Task { try await loader.load(text) }
        await until { loader.loading == text.id }
        load.cancel()
        await #expect(throws: CancellationError.self) { try await load.value }
        #expect(loader.loaded == [:])
        #expect(loader.loading == nil)
        // The load belongs to the pool, which goes on with it: the next one waits for the same.
        barrier.open()
        try await loader.load(text)
        #expect(loader.loaded == [.text: text.id])
        #expect(opener.opened.withLock { $0 }.count == 1)
    }

    @Test @MainActor func aRealManagerAndItsEnginesBehindTheViewModel() async throws {
        let text = try await install("diary-v1.0.0-q4_1.gguf")
        let library = ModelLibrary(manager: manager, home: folder.path("home"))
        let models = ModelDownloadViewModel(library: library, loader: loader)
        await until { models.isModelLoaded }
        #expect(models.selectedModel?.id == text.id, "loaded at launch")
        try models.deleteModel()
        await until { models.library.rows.isEmpty }
        #expect(!models.isModelLoaded)
        #expect(try await manager.installed().isEmpty)
    }
}
