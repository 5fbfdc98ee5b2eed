#if Llama
import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthTransfer
import HearthStore
import HearthDelivery
import HearthHTTP
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthCommand

/// What `show` and `doctor` say of memory, on made-up devices.
@Suite struct MemoryShownTests {
    private let folder: TemporaryFolder
    private let file: Path

    init() throws {
        folder = try TemporaryFolder()
        file = try folder.write("m.gguf", GGUFBuilder.small.header())
    }

    private func probe(memory: UInt64 = 16 << 30, gpu: UInt64 = 0) -> CommandProbe {
        var probe = CommandProbe(home: folder.path("home"))
        probe.device = { MemoryPlan.Device(memory: memory, gpu: GPUMemory(free: gpu)) }
        probe.usableMemory = memory
        return probe
    }

    /// Puts the file, and a projector if there is one, live.
    private func install(projector: Path? = nil) async throws {
        let store = ModelStore(home: folder.path("home"))
        let weights = try folder.write("staged.gguf", GGUFBuilder.small.header())
        let places =
            [("weights.gguf", FileRole.weights, weights)]
            + (projector.map { [("mmproj.gguf", .projector, $0)] } ?? [])
        let staged = try places.map { name, role, path in
            StagedFile(
                name: try #require(RelativePath(name)), role: role, path: path,
                size: try LocalFileSystem().status(at: path)?.size ?? 0,
                digest: try LocalFileSystem().digest(ofFile: path), isVerified: true)
        }
        let files = staged.map {
            RemoteFile(name: $0.name, role: $0.role, size: .exact($0.size), digest: $0.digest, locations: [])
        }
        let identity = ReleaseIdentity(
            family: try #require(Family("m")), version: try #require(ReleaseVersion("1.0.0")))
        var release = Release(identity: identity, id: "m", file: files[0], format: .gguf)
        release.companions = Array(files.dropFirst())
        _ = try await store.install(release, files: staged, origin: nil)
        _ = try await store.activate(identity)
    }

    private func memory(of reference: String, _ probe: CommandProbe) async throws -> [String: Any] {
        #expect(await probe.run("show", reference, "--format", "json") == 0)
        let shown = try JSONSerialization.jsonObject(with: Data(probe.output.contents.utf8)) as? [String: Any]
        return try #require((shown?["model"] as? [String: Any])?["memory"] as? [String: Any])
    }

    @Test func layersAreShownWhereThereIsAGPU() async throws {
        try await install()
        let all = probe(gpu: 8 << 30)
        #expect(await all.run("show", file.string) == 0)
        #expect(all.output.contents.contains("; 3 of 3 layers on the GPU, which has 8.6 GB free"))
        let doctor = probe(gpu: 1 << 10)
        _ = await doctor.run("doctor")
        #expect(doctor.output.contents.contains("; 0 of 3 layers on the GPU, which has 1.0 kB free"))
        let facts = try await memory(of: "m", probe(gpu: 8 << 30))
        #expect(facts["gpuLayers"] as? Int == 3 && facts["layers"] as? Int == 3)
        #expect(facts["gpuFreeBytes"] as? Int == 8 << 30)
    }

    @Test func withoutAGPUNothingIsSaidOfOne() async throws {
        try await install()
        for words in [["show", file.string], ["show", "m"], ["doctor"]] {
            let probe = self.probe()
            _ = await probe.run(words)
            #expect(probe.output.contents.contains("weights") && !probe.output.contents.contains("GPU"))
        }
        #expect(try await memory(of: "m", probe())["gpuLayers"] == nil)
    }

    /// Both say what a conversation will load, with its projector, and of how much.
    @Test func showAndDoctorSayTheSame() async throws {
        let projector = try folder.write(
            "mmproj.gguf",
            GGUFBuilder(entries: [
                ("general.architecture", .string("clip")), ("clip.vision.image_size", .uint32(224)),
                ("clip.vision.patch_size", .uint32(14)), ("clip.vision.embedding_length", .uint32(1024)),
                ("clip.vision.attention.head_count", .uint32(16)),
            ]).header())
        try await install(projector: projector)
        let (shown, doctor) = (probe(), probe())
        #expect(await shown.run("show", "m") == 0)
        _ = await doctor.run("doctor")
        let line = try #require(
            shown.output.contents.split(separator: "\n").first { $0.hasPrefix("memory needed") })
        let text = line.dropFirst("memory needed".count).drop { $0 == " " }
        #expect(text.contains(" of 15.0 GB with a context of 2048 tokens: ") && text.contains(", projector "))
        #expect(doctor.output.contents.contains("takes \(text)\n"))
        let facts = try await memory(of: "m", probe())
        let parts = ["weightsBytes", "cacheBytes", "computeBytes", "projectorBytes"].map { facts[$0] as? Int ?? 0 }
        #expect(parts.allSatisfy { $0 > 0 } && facts["totalBytes"] as? Int == parts.reduce(0, +))
        #expect(facts["availableBytes"] as? Int == 14 << 30)
    }

    @Test func flashAttentionIsShownAsThePlanHasIt() async throws {
        try await install()
        #expect(try await memory(of: "m", probe())["flashAttention"] as? String == "off")
        let (shown, card) = (probe(), probe(gpu: 8 << 30))
        #expect(await shown.run("show", "m") == 0 && shown.output.contents.contains("; flash attention off"))
        #expect(await card.run("show", "m") == 0 && !card.output.contents.contains("flash attention"))
        #expect(try await memory(of: "m", probe(gpu: 8 << 30))["flashAttention"] as? String == "auto")
    }

    /// A larger file was made of it, which is what a conversation opens then.
    @Test func whatWasPreparedIsWhatIsLoaded() async throws {
        try await install()
        let manager = ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 1 << 40,
            preparer: FixedPreparer(
                name: "more.gguf", contents: GGUFBuilder.small.header() + Data(count: 1 << 20)))
        let release = try #require(try await manager.installed().first)
        #expect(try await manager.weightsToOpen(of: release).lastComponent == "more.gguf")
        for words in [["show", "m"], ["doctor"]] {
            let probe = self.probe()
            _ = await probe.run(words)
            #expect(probe.output.contents.contains(" tokens: weights 1.0 MB, cache"), "\(probe.output.contents)")
        }
        // Who insists gets models as they came, whatever was made of them before.
        #expect(await probe().run("config", "set", "ignoreMemory", "true") == 0)
        for words in [["show", "m"], ["doctor"]] {
            let probe = self.probe()
            _ = await probe.run(words)
            let said = probe.output.contents
            #expect(said.contains(" tokens: weights ") && !said.contains("weights 1.0 MB"), "\(said)")
        }
    }

    /// Who insists gets an answer where the rule refuses one.
    @Test func aConversationIsRefusedUnlessMemoryIsIgnored() async throws {
        let words = ["chat", TestModel.path.string, "--prompt", "Hello", "--max-tokens", "1"]
        let refused = probe(memory: 64 << 20)
        #expect(await refused.run(words) == 1)
        #expect(refused.errors.contents.contains("[not-enough-memory]"))
        let insisting = probe(memory: 64 << 20)
        #expect(await insisting.run(words + ["--ignore-memory"]) == 0)
        let setting = probe(memory: 64 << 20)
        #expect(await setting.run("config", "set", "ignoreMemory", "true") == 0)
        #expect(await setting.run(words) == 0)
    }

    @Test func whatIsLessThanTheRuleSaysIsNamed() async throws {
        let tight = probe(memory: 260 << 20)
        #expect(await tight.run("show", file.string) == 0)
        let text = tight.output.contents
        #expect(text.contains("; the context is 1024 instead of 2048 tokens"), "\(text)")
        #expect(text.contains("up to 2048 tokens"))
        let facts = try await memory(of: file.string, probe(memory: 260 << 20))
        #expect((facts["compromises"] as? [String])?.count == 1)
        #expect(try await memory(of: file.string, probe())["compromises"] == nil)
    }

    @Test func theMachineSaysWhatModelsMayTakeAndWhichContextIsSet() {
        var machine = DeviceFacts.read()
        (machine.memoryBytes, machine.memoryLimitBytes) = (16 << 30, 8 << 30)
        let facts = machine
        func values(_ contextLength: Int?) -> [String] {
            Examination.machine(facts, contextLength: contextLength).facts.map(\.value)
        }
        #expect(values(nil).contains("17.2 GB, limited to 8.6 GB by the control group, 7.5 GB of it for models"))
        #expect(values(nil).contains("8192 tokens of context, 50 messages of history"))
        #expect(values(1024).contains("1024 tokens of context, as set, and as much history as fits"))
    }
}
#endif
