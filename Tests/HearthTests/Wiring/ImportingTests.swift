#if Llama
import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthInference
import HearthStore
import HearthTestSupport
import Testing

@testable import Hearth

/// Folders of safetensors on their whole way: checked, installed, imported, probed and asked.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ImportingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func hearth(_ change: (inout Configuration) -> Void = { _ in }) throws -> Hearth {
        var configuration = Configuration()
        change(&configuration)
        try folder.write("home/config.json", configuration.json())
        return try Hearth(home: folder.path("home").url, configuration: configuration)
    }

    private func prepared(_ hearth: Hearth, _ release: InstalledRelease) async throws -> Path {
        try await hearth.manager.weightsToOpen(of: release)
    }

    @Test(arguments: [4, nil]) func aFolderBecomesAModel(bits: Int?) async throws {
        var small = SmallModel()
        small.bits = bits
        var weights = small.weights
        if bits == nil { weights.format = "pt" }
        let path = try small.write(to: folder, named: "Small-Llama", weights: weights)
        let hearth = try hearth()
        let release = try await hearth.manager.pull(.file(path)).release
        #expect(release.isActive && release.identity.family.name == "small-llama")
        #expect(release.receipt.format == (bits == nil ? .safetensors : .mlx))
        let artifact = try await prepared(hearth, release)
        #expect(artifact.fileExtension == "gguf")
        let header = try GGUFHeader(file: artifact)
        #expect(header.architecture == "llama" && header.tensors?.parameterCount ?? 0 > 50_000)

        let model = try await hearth.model("small-llama", policy: .localOnly)
        var options = GenerationOptions(sampling: .greedy, maximumNewTokens: 4)
        options.timeout = .seconds(60)
        let summary = try await model.generate([ChatMessage(.user, "Hi")], options: options) { _ in }
        #expect(summary.usage.generatedTokens > 0)

        // Another start finds it, and imports nothing again.
        await hearth.close()
        let later = try self.hearth()
        let modified = try LocalFileSystem().status(at: artifact)?.modified
        #expect(try await prepared(later, release) == artifact)
        #expect(try LocalFileSystem().status(at: artifact)?.modified == modified)
        await later.close()
    }

    @Test func floatsGetTheTypeOfTheSettings() async throws {
        var weights = SmallModel().weights
        weights.format = "pt"
        let path = try SmallModel().write(to: folder, weights: weights)
        let hearth = try hearth { $0.importQuantization = .q8_0 }
        let release = try await hearth.manager.pull(.file(path)).release
        let artifact = try await prepared(hearth, release)
        #expect(artifact.lastComponent.hasSuffix("q8_0.gguf"))
        #expect(try GGUFHeader(file: artifact).quantization == "q8_0")
        await hearth.close()
    }

    private static let refused: [(String, @Sendable (inout SmallModel) -> Void)] = [
        ("bert", { $0.configuration["model_type"] = "bert" }),
        ("mllama", { $0.configuration["model_type"] = "mllama" }),
        (
            "nvfp4",
            { $0.configuration["quantization"] = ["group_size": 16, "bits": 4, "mode": "nvfp4"] }
        ),
        ("48", { $0.configuration["quantization"] = ["group_size": 48, "bits": 4] }),
    ]

    @Test(arguments: refused.map(\.0))
    func whatNoEngineRunsIsRefusedBeforeAnythingIsCopied(name: String) async throws {
        var small = SmallModel()
        Self.refused.first { $0.0 == name }?.1(&small)
        let path = try small.write(to: folder)
        let hearth = try hearth()
        let error = await #expect(throws: DeliveryError.self) { try await hearth.manager.pull(.file(path)) }
        #expect(error?.code == .incompatible)
        #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
        #expect(try await hearth.manager.installed().isEmpty)
        await hearth.close()
    }

    @Test func aDamagedFolderKeepsTheDownloadAndIsNotLive() async throws {
        var weights = SmallModel().weights
        weights.tensors[3].bytes.removeLast(64)
        let path = try SmallModel().write(to: folder, weights: weights)
        let hearth = try hearth()
        await #expect(throws: (any Error).self) { try await hearth.manager.pull(.file(path)) }
        let family = try #require(Family("model"))
        #expect(try await hearth.manager.availability(of: family) == .none)
        await hearth.close()
    }
}
#endif
