import Foundation
import Hearth
import HearthBase
import HearthDelivery
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
        probe.device = { MemoryPlan.Device(memory: memory, gpuMemory: gpu) }
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
}
