#if Llama
import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthTransfer
import HearthStore
import HearthDelivery
import HearthHTTP
import HearthTestSupport
import Testing

/// The default model, really loaded and asked, on its way to being live.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RealProbeTests {
    private let folder: TemporaryFolder
    private let manager: ModelManager
    private let old: ReleaseIdentity
    private let new: ReleaseIdentity

    /// A home in which 1.0.0 is live.
    init() async throws {
        folder = try TemporaryFolder()
        manager = ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 1 << 40,
            // Other tests use the memory of this process meanwhile.
            probe: EngineReleaseProbe(measurement: { { 2 } }))
        let family = try #require(Family("smollm"))
        old = ReleaseIdentity(family: family, version: try #require(ReleaseVersion("1.0.0")))
        new = ReleaseIdentity(family: family, version: try #require(ReleaseVersion("2.0.0")))
        // What is live already is not tried again.
        try await install(old, try folder.write("old.gguf", Data("old".utf8)), asking: nil)
        _ = try await manager.store.activate(old)
    }

    private func install(
        _ identity: ReleaseIdentity, _ path: Path = TestModel.path, asking canary: Canary?
    ) async throws {
        let disk = LocalFileSystem()
        let (size, digest) = try await blocking {
            (try disk.status(at: path)?.size ?? 0, try disk.digest(ofFile: path))
        }
        let name = try #require(RelativePath("weights.gguf"))
        let file = RemoteFile(name: name, size: .exact(size), digest: digest, locations: [])
        var release = Release(identity: identity, id: "\(identity)", file: file, format: .gguf)
        release.canary = canary
        _ = try await manager.store.install(
            release, files: [StagedFile(name: name, path: path, size: size, digest: digest, isVerified: true)],
            origin: nil)
    }

    private func canary(_ pattern: String? = nil) -> Canary {
        Canary(
            prompt: "Name the capital of France.", pattern: pattern,
            maximumNewTokens: 16, timeoutSeconds: 300)
    }

    @Test func theAnswerThatIsWantedMakesItLive() async throws {
        try await install(new, asking: canary("The capital*Paris"))
        let live = try await manager.activate(new)
        #expect(live.identity == new && live.isActive)
        let state = try await manager.store.state(of: new.family)
        #expect(state.active == new && state.previous == old && state.probation?.release == new)
        #expect(!state.isHeldBack(new))
    }

    /// Another answer than the one wanted, a rate that is too high, and less memory than it takes.
    @Test(arguments: ["pattern", "rate", "memory"]) func anythingElseIsRefusedAndSaysWhy(_ what: String)
        async throws
    {
        var canary = canary(what == "pattern" ? "Ouagadougou" : nil)
        if what == "rate" { canary.minimumTokensPerSecond = 1_000_000 }
        if what == "memory" { canary.maximumMemoryBytes = 1 }
        try await install(new, asking: canary)
        let error = await #expect(throws: StoreError.self) { try await manager.activate(new) }
        #expect(error?.code == .probeFailed)
        let state = try await manager.store.state(of: new.family)
        #expect(state.active == old && state.probation == nil)
        let reason = try #require(state.heldBack(new)?.reason)
        print("probe refused for its \(what): \(reason)")
        let expected = [
            "pattern": "does not match Ouagadougou", "rate": "at least 1000000.0 are wanted",
            "memory": "2 bytes of memory, at most 1 are allowed",
        ]
        #expect(try reason.contains(#require(expected[what])), "\(reason)")
        if what == "pattern" { #expect(reason.contains("Paris"), "what it said instead: \(reason)") }
        #expect(error?.message.contains(reason) == true)
        // It stays where it is, and the one before goes on serving.
        #expect(try await manager.store.installed(new) != nil)
        #expect(try await manager.store.active(new.family)?.identity == old)
    }
}
#endif
