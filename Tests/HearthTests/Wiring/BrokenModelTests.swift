#if Llama
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

/// The default model with a few values changed, on its way to being live after the good one.
@Suite(.serialized, .timeLimit(.minutes(15))) struct BrokenModelTests {
    private let folder: TemporaryFolder
    private let manager: ModelManager
    private let old: ReleaseIdentity
    private let new: ReleaseIdentity

    /// A home in which 1.0.0 is live.
    init() async throws {
        folder = try TemporaryFolder()
        manager = ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 1 << 40,
            probe: EngineReleaseProbe())
        let family = try #require(Family("smollm"))
        old = ReleaseIdentity(family: family, version: try #require(ReleaseVersion("1.0.0")))
        new = ReleaseIdentity(family: family, version: try #require(ReleaseVersion("2.0.0")))
        _ = try await install(old, TestModel.path)
        _ = try await manager.activate(old)
    }

    private func install(_ identity: ReleaseIdentity, _ path: Path) async throws -> InstalledRelease {
        let disk = LocalFileSystem()
        let (size, digest) = try await blocking {
            (try disk.status(at: path, followLinks: true)?.size ?? 0, try disk.digest(ofFile: path))
        }
        let name = try #require(RelativePath("weights.gguf"))
        let file = RemoteFile(name: name, size: .exact(size), digest: digest, locations: [])
        let release = Release(identity: identity, id: "\(identity)", file: file, format: .gguf)
        return try await manager.store.install(
            release, files: [StagedFile(name: name, path: path, size: size, digest: digest, isVerified: true)],
            origin: nil)
    }

    /// The file of a case.
    private func broken(_ fault: String) async throws -> Path {
        var model = try AlteredModel(TestModel.path)
        switch fault {
        case "harmless": try model.change("output_norm.weight") { $0 ^ 1 }
        case "norm zero": try model.fill("output_norm.weight", 0)
        case "norm NaN": try model.fill("output_norm.weight", .nan)
        case "norm infinite": try model.fill("output_norm.weight", .infinity)
        case "layer NaN": try model.fill("blk.15.attn_norm.weight", .nan)
        case "block NaN": try model.spoil("blk.7.ffn_down.weight", block: 1000, of: 20)
        case "vector NaN": try model.spoil("token_embd.weight", block: 40_000, of: 34)
        case "one token": try model.loop(row: 576 / 32 * 34, token: 5000)
        case "control tokens": try model.fill(array: "tokenizer.ggml.token_type", 3)
        case "unused tokens": try model.fill(array: "tokenizer.ggml.token_type", 5)
        case "rubbish": model.data.append(Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0) }))
        case "zeros": model.data.append(Data(count: 4096))
        default: model.data.append(0)
        }
        return try folder.write("\(fault).gguf", model.data)
    }

    private func active() async throws -> ReleaseIdentity? { try await manager.store.active(old.family)?.identity }

    @Test(.enabled(if: TestExtent.isFull)) func aHarmlessChangeIsTaken() async throws {
        let release = try await install(new, try await broken("harmless"))
        #expect(try await manager.activate(release.identity).isActive)
        #expect(try await active() == new)
    }

    @Test(
        arguments: [
            ("norm zero", "ends every answer"), ("layer NaN", "blk.15.attn_norm.weight"), ("one token", "one token"),
            ("norm NaN", "output_norm.weight"), ("norm infinite", "output_norm.weight"),
            ("block NaN", "blk.7.ffn_down.weight"), ("vector NaN", "token_embd.weight"),
            ("control tokens", "no text"), ("unused tokens", "no text"),
        ].prefix(TestExtent.isFull ? 9 : 3))
    func aBrokenModelIsRefusedAndTheOldOneStays(_ fault: String, _ word: String) async throws {
        let release = try await install(new, try await broken(fault))
        let error = await #expect(throws: StoreError.self) { try await manager.activate(release.identity) }
        #expect(error?.code == .probeFailed && error?.message.contains(word) == true, "\(error?.message ?? "taken")")
        #expect(try await active() == old)
        #expect(try await manager.store.state(of: old.family).isHeldBack(new))
        // A person may insist.
        guard fault == "layer NaN" else { return }
        var insisting = ActivationOptions()
        insisting.probes = false
        #expect(try await manager.activate(release.identity, options: insisting).isActive)
    }

    @Test(arguments: TestExtent.isFull ? ["rubbish", "zeros", "one byte"] : ["one byte"])
    func bytesBehindTheTensorsAreNotInstalled(_ fault: String) async throws {
        let path = try await broken(fault)
        let error = await #expect(throws: (any Error).self) { try await install(new, path) }
        #expect((error as? any HearthFailure)?.codeText == "gguf-trailing-bytes", "\(String(describing: error))")
        #expect(try await manager.store.installed(new) == nil)
        #expect(try await active() == old)
    }

    /// What only shows while it computes: the engine's own check, without that of the weights.
    @Test func logitsThatAreNoNumbersAreAnError() async throws {
        let path = try await broken("norm NaN")
        let engine = try await EngineOpening.open(path)
        let error = await #expect(throws: LLMError.self) {
            try await engine.generate([ChatMessage(.user, "Hello")], options: GenerationOptions()) { _ in }
        }
        #expect(error?.code == .notFinite)
    }
}
#endif
