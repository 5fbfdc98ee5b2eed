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

/// What a loaded release counts for.
@Suite(.timeLimit(.minutes(5))) struct EngineFilesTests {
    /// Makes a file of 800 bytes of every release.
    private struct Shrinking: ReleasePreparer {
        func recipe(for release: InstalledRelease) -> Recipe? {
            Recipe(
                engine: "made", engineVersion: "1", settings: "small", fileName: "small.gguf", expectedSize: 800,
                summary: "a small one")
        }

        func build(
            _ recipe: Recipe, of release: InstalledRelease, at target: Path,
            progress: @escaping @Sendable (Double) -> Void
        ) throws { try Data(count: 800).write(to: target.url) }
    }

    /// The smaller file that was prepared is what is opened, beside the projector.
    @Test(arguments: [(false, 9000 + 1800), (true, 900 + 1800)] as [(Bool, UInt64)])
    func theFilesThatAreOpenedCount(isPrepared: Bool, bytes: UInt64) async throws {
        let folder = try TemporaryFolder()
        let manager = ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 8 << 30,
            preparer: isPrepared ? Shrinking() : nil)
        let release = try await manager.store.install(
            "m@1.0.0", weights: try folder.write("w.gguf", Data(count: 8000)),
            projector: try folder.write("p.gguf", Data(count: 1600)))
        let live = try await manager.activate(release.identity)
        #expect(await manager.memoryEstimate(of: .downloaded(live)) == bytes)
        let models = LiveModels(manager: manager) { _ in ScriptedEngine([]) }
        let lease = try await models.model(release.identity.family, policy: .localOnly).lease()
        #expect(models.pool.memory.usedBytes == bytes)
        lease.end()
    }

    /// Before an engine opens it.
    @Test(arguments: [false, true]) func whatIsOpenedIsAskedForBefore(isPrepared: Bool) async throws {
        let folder = try TemporaryFolder()
        let manager = ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 8 << 30,
            preparer: isPrepared ? Shrinking() : nil)
        let release = try await manager.store.install("m@1.0.0", weights: try folder.write("w.gguf", Data(count: 8000)))
        _ = try await manager.activate(release.identity)
        let log = await RecordedLog.start(.debug)
        defer { log.stop() }
        let models = LiveModels(manager: manager) { files in
            let asked = "asked for the first \(isPrepared ? 800 : 8000) bytes of \(files.weights)"
            #expect(log.messages(of: "base.cache").contains(asked))
            return ScriptedEngine([])
        }
        try await models.model(release.identity.family, policy: .localOnly).lease().end()
    }

    /// What was made once and is opened no more does not count, whether nothing is to be made now or that fails.
    @Test(arguments: [false, true]) func whatIsNotOpenedDoesNotCount(isTried: Bool) async throws {
        let folder = try TemporaryFolder()
        func manager(_ preparer: any ReleasePreparer) -> ModelManager {
            ModelManager(
                home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 8 << 30,
                preparer: preparer)
        }
        let first = manager(Shrinking())
        let release = try await first.store.install("m@1.0.0", weights: try folder.write("w.gguf", Data(count: 8000)))
        let live = try await first.activate(release.identity)
        #expect(await first.memoryEstimate(of: .downloaded(live)) == 900)
        let next = manager(Failing(isTried: isTried))
        #expect(await next.memoryEstimate(of: .downloaded(live)) == 9000)
        let models = LiveModels(manager: next) { files in
            #expect(files.weights == live.weights)
            return ScriptedEngine([])
        }
        let lease = try await models.model(release.identity.family, policy: .localOnly).lease()
        #expect(models.pool.memory.usedBytes == 9000)
        lease.end()
        #expect(try await next.store.artifact(of: live) != nil, "it is still there")
    }

    /// Has nothing made, or cannot.
    private struct Failing: ReleasePreparer {
        var isTried: Bool

        func recipe(for release: InstalledRelease) -> Recipe? {
            guard isTried else { return nil }
            return Recipe(
                engine: "made", engineVersion: "2", settings: "small", fileName: "small.gguf", expectedSize: 700,
                summary: "a smaller one")
        }

        func build(
            _ recipe: Recipe, of release: InstalledRelease, at target: Path,
            progress: @escaping @Sendable (Double) -> Void
        ) throws { throw CocoaError(.fileWriteOutOfSpace) }
    }

    // MARK: - The app ends

    /// Makes something of one version, and comes to no end before it is stopped.
    private struct Endless: ReleasePreparer {
        var only: String
        let barrier = Barrier()
        let begun = AsyncStream.makeStream(of: Void.self)
        let ended = Locked(0)

        func recipe(for release: InstalledRelease) -> Recipe? {
            guard release.identity.version.name == only else { return nil }
            return Recipe(
                engine: "made", engineVersion: "1", settings: "small", fileName: "small.gguf", expectedSize: 1,
                summary: "a small one")
        }

        func build(
            _ recipe: Recipe, of release: InstalledRelease, at target: Path,
            progress: @escaping @Sendable (Double) -> Void
        ) async throws {
            defer { ended.withLock { $0 += 1 } }
            begun.continuation.yield()
            try await barrier.pass()
        }

        func hasBegun() async { for await _ in begun.stream { break } }
    }

    /// The marks of activations and the lock files of builds that are on the disk: an end of the process would count for them.
    private func marks(_ folder: TemporaryFolder) -> [String] {
        func names(_ place: String) -> [String] {
            FileManager.default.enumerator(atPath: folder.path(place).string)?.compactMap { $0 as? String } ?? []
        }
        return names("home/marks").filter { $0.split(separator: "/").count == 3 }
            + names("home/prepared").filter { $0.hasSuffix(".lock") }
    }

    /// An app that ends while something is made for its first use looks as if that had ended it, unless it stops that first.
    @Test func whatIsMadeForALoadIsStopped() async throws {
        let folder = try TemporaryFolder()
        let preparer = Endless(only: "1.0.0")
        let manager = ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 8 << 30,
            preparer: preparer)
        let release = try await manager.store.install("m@1.0.0", weights: try folder.write("w.gguf", Data(count: 80)))
        try await manager.store.activate(release.identity)
        let models = LiveModels(manager: manager) { _ in
            Issue.record("it is opened")
            return ScriptedEngine([])
        }
        let model = try await models.model(release.identity.family, policy: .localOnly)
        let loading = Task { try await model.lease().end() }
        await preparer.hasBegun()
        #expect(marks(folder).count == 1)
        await models.stop()
        #expect(marks(folder).isEmpty && preparer.ended.withLock(\.self) == 1)
        preparer.barrier.open()
        await #expect(throws: CancellationError.self) { try await loading.value }
    }

    /// The same for an update that came behind everybody's back; and none begins afterwards.
    @Test func anUpdateBehindIsStopped() async throws {
        let folder = try TemporaryFolder()
        let weights = Data("2".utf8)
        try folder.write("origin/m-v2.0.0.gguf", weights)
        try folder.write(
            "origin/models.json",
            Data(
                #"""
                {"schemaVersion": 1, "models": [{"id": "m", "version": "2.0.0", "filename": "m-v2.0.0.gguf", "sizeBytes": 1,
                  "sha256": "\#(SHA256Digest(hashing: weights).hex)", "downloadUrl": "m-v2.0.0.gguf"}]}
                """#.utf8))
        let preparer = Endless(only: "2.0.0")
        let manager = ModelManager(
            home: folder.path("home"),
            origins: [Origin(name: "test", manifestURL: folder.path("origin/models.json").url)],
            network: UnmonitoredNetwork(), deviceMemory: 8 << 30, preparer: preparer)
        let release = try await manager.store.install("m@1.0.0", weights: try folder.write("w.gguf", Data(count: 80)))
        try await manager.store.activate(release.identity)
        let models = LiveModels(manager: manager) { _ in ScriptedEngine([]) }
        let family = release.identity.family
        _ = try await models.model(family)
        await preparer.hasBegun()
        #expect(!marks(folder).isEmpty)
        await models.stop()
        #expect(marks(folder).isEmpty && preparer.ended.withLock(\.self) == 1)
        preparer.barrier.open()
        _ = try await models.model(family)
        await manager.finishBackgroundUpdates()
        #expect(preparer.ended.withLock(\.self) == 1, "no other begins")
        #expect(try await manager.availability(of: family).identity == release.identity)
    }

    @Test func nothingTakesNothing() async throws {
        let folder = try TemporaryFolder()
        let manager = ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 1)
        #expect(await manager.memoryEstimate(of: .none) == 0)
    }
}
