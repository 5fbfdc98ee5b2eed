import Foundation
import Hearth
import HearthBase
import HearthClassification
import HearthDelivery
import HearthInference
import Testing

/// "OTA Model Delivery", call by call.
///
/// Not on Linux: Core ML and Vision (`MLModel.compileModel`, `VNCoreMLModel`): classifiers are ONNX models here. SwiftUI.
///
/// Lines that differ:
/// - `ModelManager` is a class of actors, and takes the folder, the origin and the memory of the device;
///   `ModelManager.manifestURL` is `Origin.manifestURL`.
/// - `proxy.update(newClassifier)` is called by the closure of `onActivation`, or by `Hearth`, whose
///   `classifier(_:)` gives the proxy of a family.
/// - `onReady` takes the model that became live.
@Suite(.timeLimit(.minutes(5))) struct OTAModelDeliveryTests {
    /// The container of the app.
    @MainActor private final class ServiceContainer {
        let proxy = ClassifierProxy()
        let decoder: RoutingDecoder
        let manager: ModelManager
        private(set) var isModelReady = false

        init(_ manager: ModelManager) async {
            self.manager = manager
            decoder = RoutingDecoder(proxy: proxy)
            await manager.onActivation { [proxy] model in
                guard let weights = model.weights else { return }
                await proxy.update(FixedClassifier(try String(contentsOf: weights.url, encoding: .utf8)))
            }
            await manager.onReady { [weak self] _ in self?.isModelReady = true }
        }
    }

    /// A classifier that knows one character.
    private struct FixedClassifier: ImageClassifier {
        let label: String
        let information: ClassifierInformation
        init(_ label: String) {
            self.label = label
            information = ClassifierInformation(name: label, classCount: 1)
        }
        func classify(_ pictures: [Picture], top: Int) -> [[Candidate]] {
            pictures.map { _ in [Candidate(label, 0.95)] }
        }
    }

    private func manifest(_ version: String, _ weights: String) -> String {
        """
        {"version": "\(version)", "url": "NomLensClassifier_\(version).gguf",
         "sha256": "\(SHA256Digest(hashing: Data(weights.utf8)))", "training_date": "2026-03-27",
         "size_mb": 0.1}
        """
    }

    private func publish(_ version: String, _ weights: String, on stage: Stage) throws -> URL {
        _ = try stage.write("nomlens/NomLensClassifier_\(version).gguf", weights)
        return try stage.write("nomlens/manifest.json", manifest(version, weights))
    }

    @MainActor private func container(_ stage: Stage, _ manifest: URL) async -> ServiceContainer {
        await ServiceContainer(
            ModelManager(
                home: stage.folder.appending(path: "home"),
                origins: [Origin(name: "nomlens", manifestURL: manifest)], deviceMemory: 8 << 30))
    }

    @MainActor @Test func theStartTheUpdateAndTheHotSwap() async throws {
        let stage = try Stage([])
        let url = try publish("1.0.0", "人", on: stage)
        let services = await container(stage, url)
        // The start: nothing is stored yet, and the check finds 1.0.0.
        await services.manager.loadStoredModel()
        #expect(!services.isModelReady)
        _ = try await services.manager.pull(ModelReference(parsing: "nomlens"))
        #expect(services.isModelReady)
        #expect(await services.proxy.isModelReady)
        #expect(await services.proxy.information?.name == "人")

        // The next launch: from the disk, then an update behind it.
        _ = try publish("1.1.0", "天", on: stage)
        let later = await container(stage, url)
        async let stored: Void = { _ = await later.manager.loadStoredModel() }()
        await stored
        #expect(await later.proxy.information?.name == "人")
        var options = PullOptions()
        options.refresh = true
        let found = await later.manager.checkForUpdates(options: options)
        #expect(found.installed.count == 1 && found.failures.isEmpty, "\(found)")
        #expect(await later.proxy.information?.name == "天")

        // A manifest that cannot be read leaves the live model.
        try Data("{".utf8).write(to: url)
        let check = await later.manager.checkForUpdates(options: options)
        #expect(check.failures.count == 1)
        #expect(await later.proxy.information?.name == "天")
        await stage.hearth.close()
    }

    @MainActor @Test func aFileIsActivatedAndOneIsTried() async throws {
        let stage = try Stage([])
        let url = try publish("1.0.0", "人", on: stage)
        let services = await container(stage, url)
        let own = try stage.write("own/NomLensClassifier_2.0.0.gguf", "木")
        let release = try await services.manager.activate(modelURL: own, version: "2.0.0")
        #expect(release.identity.version.name == "2.0.0" && release.isActive)
        #expect(await services.proxy.information?.name == "木")
        let tried = try stage.write("own/trial.gguf", "水")
        try await services.manager.loadModel(at: tried)
        #expect(await services.proxy.information?.name == "水")
        #expect(try await services.manager.installed().count == 1)
        await #expect(throws: CatalogError.self) { try await services.manager.activate(modelURL: own, version: "a b") }
        await #expect(throws: (any Error).self) {
            try await services.manager.loadModel(at: URL(filePath: "/nowhere/NomLensClassifier_1.0.0.onnx"))
        }
        await stage.hearth.close()
    }

    @MainActor @Test func confidenceDecidesTheRoute() async throws {
        let decoder = RoutingDecoder(proxy: ClassifierProxy(FixedClassifier("人")))
        let crop = try Picture(width: 2, height: 2, pixels: [UInt8](repeating: 0, count: 12))
        var verdicts: [DecodedCharacter.Verdict] = []
        for try await character in decoder.decode([crop]) {
            #expect(character.text == "人")
            verdicts.append(character.verdict)
        }
        #expect(verdicts == [.accepted])
        let proxy = ClassifierProxy()
        await #expect(throws: (any Error).self) {
            await proxy.update(try await NomClassifier.load(Path("/nowhere/model.onnx")))
        }
        #expect(await !proxy.isModelReady)
        let service = ClaudeService(try await Stage([]).hearth.orchestrator())
        _ = service as any CharacterReader
    }
}
