import Foundation
import Hearth
import HearthBase
import HearthClassification
import HearthDelivery
import HearthInference
import HearthRouting
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

/// Seed 002 on one object of an app: a classifier that is updated over the air while it is used.
@Suite(.enabled(if: ClassifierSupport.isBuilt), .timeLimit(.minutes(10))) struct ClassifierTests {
    private let folder: TemporaryFolder
    private let hearth: Hearth

    init() throws {
        folder = try TemporaryFolder()
        hearth = try Hearth(
            origins: [Origin("nom", folder.path("origin/manifest.json").url)], home: folder.path("home").url,
            configuration: Configuration(), engines: EngineRegistry())
    }

    /// Publishes a version in the dialect of seed 002: one model, and its list of classes beside the manifest.
    private func publish(
        _ version: String, labels: [String]?, list: String = "v1", classes: Int = 4, model: ONNXBuilder = ONNXBuilder()
    ) throws {
        var model = model
        model.metadata["classifier"] = ONNXBuilder.settings
        let bytes = Data(model.bytes)
        try folder.write("origin/nom_\(version).onnx", bytes)
        if let labels { try folder.write("origin/classes/\(list).txt", Data(labels.joined(separator: "\n").utf8)) }
        try folder.write(
            "origin/manifest.json",
            Data(
                #"""
                {"version": "\#(version)", "url": "nom_\#(version).onnx", "sha256": "\#(SHA256Digest(hashing: bytes))",
                 "num_classes": \#(classes), "class_list_version": "\#(list)", "training_date": "2026-03-27",
                 "size_mb": \#(Double(bytes.count) / 1_048_576)}
                """#.utf8))
    }

    private func label(_ proxy: ClassifierProxy) async throws -> String {
        let picture = try Picture(width: 8, height: 8, pixels: ONNXBuilder.pixels(ink: [0, 1, 0, 0]))
        return try await proxy.classify([picture], top: 1)[0][0].label
    }

    @Test func anUpdateChangesModelAndClassesTogether() async throws {
        try publish("1.0.0", labels: ["4E00", "4E8C", "4E09", "56DB"])
        let ready = Locked<[String]>([])
        await hearth.manager.onReady { model in ready.withLock { $0.append(model.identity?.version.name ?? "none") } }
        let proxy = try await hearth.classifier("nom")
        #expect(try await label(proxy) == "二")
        #expect(await proxy.isModelReady)
        #expect(await proxy.information?.classListVersion == "v1")
        #expect(hearth.models.pool.memory.usedBytes > 0, "it counts in the memory of all engines")

        var wide = ONNXBuilder()
        wide.classes = 5
        try publish("0.9.0", labels: ["4EBA", "5929", "5730", "6C34", "706B"], list: "v2", classes: 5, model: wide)
        // Any other version is wanted, also a lower one.
        #expect(try await hearth.update().map(\.version.name) == ["0.9.0"])
        #expect(try await label(proxy) == "天")
        #expect(await proxy.information?.classCount == 5)
        #expect(ready.withLock { $0 } == ["1.0.0", "0.9.0"])
        // The same version again is nothing to do.
        #expect(try await hearth.update().isEmpty)
        await hearth.close()
    }

    @Test func wrongBytesLeaveTheOldModelAnswering() async throws {
        try publish("1.0.0", labels: ["a", "b", "c", "d"])
        var surroundings = Surroundings()
        // The pauses between the attempts pass at once.
        (surroundings.time, surroundings.engines) = (HurriedClock().time, EngineRegistry())
        var settings = Configuration()
        settings.origins = ["nom": folder.path("origin/manifest.json").url]
        let hearth = try Hearth(home: folder.path("home"), configuration: settings, surroundings)
        let proxy = try await hearth.classifier("nom")
        try publish("2.0.0", labels: ["e", "f", "g", "h"], list: "v2")
        let file = folder.path("origin/nom_2.0.0.onnx").url
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: file)
        let error = await #expect(throws: TransferError.self) { try await hearth.update() }
        #expect(error?.code == .checksumMismatch)
        #expect(try await label(proxy) == "b")
        #expect(try await hearth.manager.installed().map(\.identity.version.name) == ["1.0.0"])
        await hearth.close()
    }

    @Test func aModelOfAnotherWidthNeverBecomesLive() async throws {
        try publish("1.0.0", labels: ["a", "b", "c", "d"])
        let proxy = try await hearth.classifier("nom")
        var wide = ONNXBuilder()
        wide.classes = 6
        try publish("2.0.0", labels: ["a", "b", "c", "d"], model: wide)
        let error = await #expect(throws: StoreError.self) { try await hearth.update() }
        #expect(error?.code == .probeFailed)
        #expect(error?.message.contains("6 numbers for 4 classes") == true)
        #expect(try await label(proxy) == "b")

        // A list of another length is found before the model is loaded.
        try publish("3.0.0", labels: ["a", "b", "c"])
        let other = await #expect(throws: StoreError.self) { try await hearth.update() }
        #expect(other?.code == .classesMismatched)
        #expect(try await label(proxy) == "b")
        await hearth.close()
    }

    @Test func withoutAListTheModelMayHaveItInItself() async throws {
        var model = ONNXBuilder()
        model.metadata["classes"] = "w\nx\ny\nz"
        try publish("1.0.0", labels: nil, model: model)
        #expect(try await label(hearth.classifier("nom")) == "x")
        await hearth.close()
    }

    @Test func aFileIsClassifiedWithoutInstallation() async throws {
        try folder.write("here/classifier.json", Data(ONNXBuilder.settings.utf8))
        try folder.write("here/classes.txt", Data("a\nb\nc\nd".utf8))
        let path = try folder.write("here/model.onnx", Data(ONNXBuilder().bytes))
        #expect(try await label(hearth.classifier(path.string)) == "b")
        await #expect(throws: ClassificationError.self) { try await hearth.classifier("./model.gguf") }
        let missing = await #expect(throws: StoreError.self) {
            try await hearth.classifier("nothing", policy: .localOnly)
        }
        #expect(missing?.code == .notInstalled)
    }
}

/// Pictures go to the cloud through the orchestrator and its rules.
@Suite(.enabled(if: ClassifierSupport.isBuilt), .timeLimit(.minutes(10))) struct ClaudeServiceTests {
    private struct Cloud: RemoteEngine, ForwardingEngine {
        let engine: ScriptedEngine
        let address = URL(string: "http://127.0.0.1:1") ?? URL(filePath: "/")

        func checkHealth() async throws {}
    }

    private struct NoLocalEngines: LocalEngines {
        func engine(
            for model: String?, onLoading: @escaping @Sendable (Double?) -> Void
        ) async throws -> any InferenceEngine {
            throw LLMError(.modelNotLoaded, "no local model is loaded")
        }

        func evictIdle() async {}
        func unload() async {}
    }

    private func orchestrator(
        _ engine: ScriptedEngine?, _ premium: PremiumManager, forceLocal: Bool = false
    ) async -> LLMOrchestrator {
        await LLMOrchestrator(
            local: NoLocalEngines(), cloud: engine.map(Cloud.init), premium: premium, forceLocal: forceLocal,
            network: ScriptedNetworkMonitor(), time: ManualClock().time)
    }

    /// A picture that the classifier below is not sure about.
    private func pictures(_ count: Int) throws -> [Picture] {
        try (1...count).map { try Picture(width: $0, height: 1, pixels: [UInt8](repeating: 99, count: $0)) }
    }

    private struct Unsure: ImageClassifier {
        let information = ClassifierInformation(name: "unsure", classCount: 2)

        func classify(_ pictures: [Picture], top: Int) async throws -> [[Candidate]] {
            pictures.map { _ in [Candidate("local", 0.5), Candidate("other", 0.5)] }
        }
    }

    private func decoded(_ count: Int, _ service: CloudCharacterReader) async throws -> [DecodedCharacter] {
        var limits = EscalationLimits()
        limits.parallel = 1
        let decoder = RoutingDecoder(proxy: ClassifierProxy(Unsure()), cloud: service, limits: limits)
        var results: [DecodedCharacter] = []
        for try await event in decoder.events(try pictures(count), consent: { _ in true }) {
            if case .character(let character) = event { results.append(character) }
        }
        return results
    }

    @Test func eachPictureIsOneBilledMessageAndArrivesAsSent() async throws {
        let engine = ScriptedEngine([
            [.text("人"), .finish(.endOfGeneration)], [.text("It is "), .text("天"), .finish(.endOfGeneration)],
        ])
        let premium = PremiumManager(Entitlement(.starter, monthlyCredits: 5))
        let results = try await decoded(2, CloudCharacterReader(orchestrator(engine, premium)))
        #expect(results.map(\.text) == ["人", "local"])
        #expect(results.map(\.verdict) == [.verified, .unverified])
        #expect(results[1].reason == .unusableReply)
        #expect(premium.credits == 3)
        let sent = await engine.requests.map { $0[0].images[0] }
        for (image, picture) in zip(sent, try pictures(2)) {
            #expect(try Picture(file: image.bytes).pixels == picture.pixels)
        }
    }

    @Test func anAnswerThatBreaksOffDoesNotCount() async throws {
        let engine = ScriptedEngine([[.text("人"), .finish(.interrupted)]])
        let results = try await decoded(
            1, CloudCharacterReader(orchestrator(engine, PremiumManager(Entitlement(.pro)))))
        #expect(results.map(\.text) == ["local"])
        #expect(results[0].reason == .cloudFailed("answer-interrupted"))
    }

    @Test func withoutCreditsTheLocalAnswerStays() async throws {
        let engine = ScriptedEngine([[.text("人"), .finish(.endOfGeneration)]])
        let premium = PremiumManager(Entitlement(.starter, monthlyCredits: 1))
        let results = try await decoded(4, CloudCharacterReader(orchestrator(engine, premium)))
        #expect(results.map(\.text) == ["人", "local", "local", "local"])
        #expect(results[3].reason == .cloudFailed("no-credits"))
        #expect(await engine.requests.count == 1)
    }

    @Test func settingsAndPrivacyForbidTheCloud() async throws {
        let engine = ScriptedEngine([[.text("人"), .finish(.endOfGeneration)]])
        let premium = PremiumManager(Entitlement(.pro))
        let services = [
            CloudCharacterReader(await orchestrator(engine, premium, forceLocal: true)),
            CloudCharacterReader(await orchestrator(engine, premium), isPrivate: true),
        ]
        for service in services {
            let results = try await decoded(1, service)
            #expect(results[0].verdict == .unverified)
            #expect(results[0].text == "local")
        }
        #expect(await engine.requests.isEmpty)
    }
}
