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

/// Choosing and making a smaller copy of a model that is too large for the device.
@Suite(.timeLimit(.minutes(10))) struct QuantizingTests {
    /// A home with one release of the given weights.
    private func install(
        _ weights: Path, projector: Path? = nil, format: ModelFormat = .gguf, in folder: TemporaryFolder
    ) async throws -> InstalledRelease {
        try await ModelStore(home: folder.path("home")).install(
            "tiny@1.0.0", weights: weights, projector: projector, format: format)
    }

    @Test(
        arguments: [
            // size, weights, memory (all in millions), what is made
            (2000, 1000, 4000, nil), (2000, 1000, 2000, "q8_0"), (2000, 1000, 1500, "q6_k"),
            (2000, 1000, 1250, "q5_k_m"),
            (2000, 1000, 1100, "q4_k_m"), (2000, 1000, 1045, "q4_0"),
            // What is loaded with a shorter context is worth it: 7 thousand millions in F16 on 5.5 GB.
            (2000, 1000, 1030, "q4_0"), (2000, 1000, 910, "q4_0"), (14000, 7000, 5500, "q4_0"),
            // Where none fits, none is worth the work.
            (2000, 1000, 909, nil), (2000, 1000, 100, nil), (14000, 7000, 5100, nil),
            (4000, 1000, 2000, "q8_0"),
            (1060, 1000, 1400, "q6_k"), (560, 1000, 500, nil), (0, 1000, 1, nil), (2000, 0, 1, nil),
        ] as [(UInt64, UInt64, UInt64, String?)])
    func theBestThatFitsIsChosen(_ size: UInt64, _ weights: UInt64, _ memory: UInt64, _ expected: String?) {
        let choice = QuantizationChoice(
            size: size * 1_000_000, parameterCount: weights * 1_000_000, deviceMemory: memory * 1_000_000)
        #expect(choice?.candidate.name == expected)
    }

    #if Llama
    /// A projector takes memory beside its model.
    @Test func aProjectorCountsWhereAModelHasToFit() async throws {
        let (text, seeing) = (try TemporaryFolder(), try TemporaryFolder())
        let alone = try await install(TestModel.path, in: text)
        let both = try await install(TestModel.path, projector: try TestModel.path(.projector), in: seeing)
        let size = alone.receipt.totalSize
        let preparer = QuantizingPreparer(deviceMemory: size + size / 5 + (256 << 20))
        #expect(try await preparer.recipe(for: alone) == nil)
        #expect(try await preparer.recipe(for: both)?.settings == "q4_k_m")
        // Less memory than the projector takes is no more than none.
        #expect(try await QuantizingPreparer(deviceMemory: 1000).recipe(for: both) == nil)
    }

    /// What llama.cpp is sure to refuse is recognised by its header, before the whole file is read.
    @Test func whatCannotBeQuantizedIsKnownByItsHead() async throws {
        let folder = try TemporaryFolder()
        let whole = try await install(TestModel.path, in: folder)
        let preparer = QuantizingPreparer(deviceMemory: 1000)
        let recipe = Recipe(
            engine: "llama.cpp", engineVersion: "1", settings: "q4_0", fileName: "m.gguf", expectedSize: 1,
            summary: "")
        try await preparer.check(recipe, of: whole)
        let weights = try #require(whole.weights)
        try Data(contentsOf: weights.url).dropLast(1000).write(to: weights.url)
        await #expect {
            try await preparer.check(recipe, of: whole)
        } throws: {
            ($0 as? LLMError)?.code == .cannotLoad
        }
    }

    /// A model that is too large for a device is pulled all the same, made smaller there, and answers.
    @Test func aModelThatIsTooLargeIsPulledAndQuantized() async throws {
        let folder = try TemporaryFolder()
        let large = folder.path("f16.gguf")
        try await LlamaQuantizing.makeF16(of: TestModel.path, at: large)
        // As `hearth publish` writes it.
        let file = try #require(try LocalFileSystem().status(at: large))
        let digest = try LocalFileSystem().digest(ofFile: large).hex
        try folder.write(
            "models.json",
            Data(
                """
                {"schemaVersion": 1, "models": [{"id": "m", "version": "1.0.0", "filename": "m-v1.0.0-f16.gguf",
                 "variant": "f16", "sizeBytes": \(file.size), "sha256": "\(digest)", "downloadUrl": "f16.gguf",
                 "requirements": {"memoryBytes": \(file.size + file.size / 5 + (256 << 20))}}]}
                """.utf8))
        let reference = try ModelReference(parsing: "m")
        func manager(_ mebibytes: UInt64) throws -> ModelManager {
            var configuration = Configuration()
            configuration.origins = ["m": folder.path("models.json").url]
            return try ModelManager(
                home: folder.path("home"), configuration: configuration,
                environment: ["HEARTH_NETWORK": "unmetered"],
                http: DefaultHTTPClient(), deviceMemory: mebibytes << 20)
        }
        // Not even Q4_0 of it would fit here.
        await #expect {
            try await manager(300).pull(reference)
        } throws: {
            ($0 as? DeliveryError)?.code == .notEnoughMemory
        }
        // F16 does not fit into 470 MiB as this is counted, Q8_0 does.
        let manager = try manager(470)
        let live = try await manager.pull(reference).release
        #expect(live.isActive)
        let artifact = try #require(try await manager.store.artifact(of: live))
        #expect(artifact.size < live.receipt.totalSize * 7 / 10)
        #expect(try GGUFHeader(file: artifact.path).quantization == "q8_0")
        #expect(try await manager.weightsToOpen(of: live) == artifact.path)
        #expect(try await QuantizingPreparer(deviceMemory: 8 << 30).recipe(for: live) == nil)
    }

    @Test func aCancelledQuantizationEnds() async throws {
        let folder = try TemporaryFolder()
        let target = folder.path("out.gguf")
        let (begun, source) = AsyncStream<Void>.makeStream()
        // It goes on only once it is cancelled, however busy the machine is.
        let cancelled = DispatchSemaphore(value: 0)
        let task = Task {
            try await LlamaQuantizing.makeF16(of: TestModel.path, at: target) { _ in
                source.yield()
                cancelled.wait()
                cancelled.signal()
            }
        }
        for await _ in begun { break }
        task.cancel()
        cancelled.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
    #endif
}
