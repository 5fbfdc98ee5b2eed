import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthStore
import HearthTestSupport
import Testing

/// Which installed model answers questions with pictures, for the page and the command.
@Suite(.timeLimit(.minutes(10))) struct VisionModelTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func hearth(vision: String?) async throws -> Hearth {
        var engines = EngineRegistry()
        engines.register(.gguf) { _ in ScriptedEngine([[.text("seen"), .finish(.endOfGeneration)]]) }
        var configuration = Configuration()
        configuration.visionModel = vision
        try folder.write("home/config.json", configuration.json())
        let hearth = try Hearth(
            home: folder.path("home"), configuration: configuration, environment: ["HEARTH_NETWORK": "offline"],
            deviceMemory: 16 << 30, engines: engines, pressure: Plenty())
        let projector = try folder.write("projector", Data("projector".utf8))
        for (name, sees, format) in [
            ("a-mlx", true, ModelFormat.mlx), ("eyes", true, .gguf), ("other-eyes", true, .gguf),
            ("text", false, .gguf),
        ] {
            let release = try await hearth.manager.store.install(
                "\(name)@1.0.0", weights: try folder.write(name, Data(name.utf8)), projector: sees ? projector : nil,
                format: format)
            _ = try await hearth.manager.store.activate(release.identity)
        }
        return hearth
    }

    @Test(
        arguments: [
            (nil, "eyes"), ("other-eyes", "other-eyes"), ("other-eyes@1.0.0", "other-eyes"),
            // One without an engine here, and one that sees nothing, are never chosen.
            ("a-mlx", "eyes"), ("text", "eyes"),
        ] as [(String?, String)])
    func choosesOneThatSees(saved: String?, expected: String) async throws {
        let hearth = try await hearth(vision: saved)
        #expect(try await hearth.visionModel()?.name == expected)
        await hearth.library.refreshLocal()
        let family = saved.flatMap { Family($0.prefix { $0 != "@" }) }
        #expect(await hearth.library.visionFamily(saved: family)?.name == expected)
        await hearth.close()
    }

    @Test func aSavedNameThatIsNotHereIsSaid() async throws {
        let hearth = try await hearth(vision: "nobody")
        let error = await #expect(throws: StoreError.self) { try await hearth.visionModel() }
        #expect(error?.code == .notInstalled && error?.context.field == "visionModel")
        await hearth.close()
    }

    @Test @MainActor func oneWithoutAnEngineIsRefusedByTheLibrary() async throws {
        let hearth = try await hearth(vision: nil)
        let library = hearth.library
        await library.refreshLocal()
        let mlx = try #require(Family("a-mlx"))
        let error = #expect(throws: LLMError.self) { try library.select(mlx) }
        #expect(error?.code == .engineMissing)
        await #expect(throws: LLMError.self) { try await library.setDefaultModel(mlx) }
        #expect(library.defaultModel == nil)
        let inUse = await hearth.modelsInUse()
        #expect(inUse.isEmpty, "several could answer, and none is chosen")
        try await library.setDefaultModel(Family("text"))
        #expect(await hearth.modelsInUse().map(\.name) == ["text"])
        await hearth.close()
    }
}
