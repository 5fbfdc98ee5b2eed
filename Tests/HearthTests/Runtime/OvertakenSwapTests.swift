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

/// A release becomes live while the swap to the one before is still being prepared.
@Suite(.timeLimit(.minutes(10))) struct OvertakenSwapTests {
    /// Makes nothing of any release, and takes its time to say so once.
    private final class SlowPreparer: ReleasePreparer {
        private let held = Locked<AsyncStream<Never>?>(nil)
        private let reach: AsyncStream<Void>.Continuation
        /// Hears when it takes its time.
        let reached: AsyncStream<Void>

        init() { (reached, reach) = AsyncStream.makeStream() }

        /// Has the next answer wait until `gate` is finished.
        func hold(_ gate: AsyncStream<Never>) { held.withLock { $0 = gate } }

        func recipe(for release: InstalledRelease) async -> Recipe? {
            let gate = held.withLock { held in
                defer { held = nil }
                return held
            }
            guard let gate else { return nil }
            reach.yield()
            for await _ in gate {}
            return nil
        }

        func build(
            _ recipe: Recipe, of release: InstalledRelease, at target: Path,
            progress: @escaping @Sendable (Double) -> Void
        ) {}
    }

    @Test func whatIsLiveAnswersWhicheverSwapComesLast() async throws {
        let folder = try TemporaryFolder()
        let preparer = SlowPreparer()
        let manager = ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 1 << 40,
            preparer: preparer)
        var releases: [ReleaseIdentity] = []
        for version in ["1.0.0", "2.0.0", "3.0.0"] {
            let weights = try folder.write(version, Data(version.utf8))
            releases.append(try await manager.store.install("m@\(version)", weights: weights).identity)
        }
        let (held, gate) = AsyncStream<Never>.makeStream()
        let second = releases[1]
        // Before the swap, which asks how much it is going to take.
        await manager.onActivation { if $0.identity == second { preparer.hold(held) } }
        let models = LiveModels(manager: manager) { _ in ScriptedEngine([]) }
        try await manager.activate(releases[0])
        let model = try await models.model(second.family, policy: .localOnly)
        try await model.lease().end()
        let overtaken = Task { try await manager.activate(second) }
        for await _ in preparer.reached { break }
        let third = releases[2]
        let last = Task { try await manager.activate(third) }
        gate.finish()
        _ = try await (overtaken.value, last.value)
        let lease = try await model.lease()
        #expect(lease.release == releases[2])
        lease.end()
    }

    /// Hides which release is live while a test wants it.
    private final class FailingLinks: ForwardingFileSystem {
        let base: any FileSystem = LocalFileSystem()
        let fails = Locked(false)

        func readLink(_ path: Path) throws -> String {
            if fails.withLock({ $0 }) { throw FileError(errno: EIO, doing: "read", path: path) }
            return try base.readLink(path)
        }
    }

    /// It answers by then, whatever a second look at the disk says.
    @Test func aLookThatFailsAfterTheSwapIsNoFailedSwap() async throws {
        let folder = try TemporaryFolder()
        let disk = FailingLinks()
        let manager = ModelManager(
            home: folder.path("home"), origins: [], fileSystem: disk, network: UnmonitoredNetwork(),
            deviceMemory: 1 << 40)
        var releases: [ReleaseIdentity] = []
        for version in ["1.0.0", "2.0.0"] {
            let weights = try folder.write(version, Data(version.utf8))
            releases.append(try await manager.store.install("m@\(version)", weights: weights).identity)
        }
        let models = LiveModels(manager: manager) { files in
            let version = try String(contentsOf: files.weights.url, encoding: .utf8)
            disk.fails.withLock { $0 = version == "2.0.0" }
            return ScriptedEngine([])
        }
        try await manager.activate(releases[0])
        let model = try await models.model(releases[0].family, policy: .localOnly)
        try await model.lease().end()
        let ready = Locked<[ReleaseIdentity?]>([])
        await manager.onReady { model in ready.withLock { $0.append(model.identity) } }
        var events = manager.events().makeAsyncIterator()
        try await manager.activate(releases[1])
        guard case .activated(let release)? = await events.next() else {
            Issue.record("it was not told that it is live")
            return
        }
        #expect(release.identity == releases[1] && ready.withLock { $0 } == [releases[1]])
        let lease = try await model.lease()
        #expect(lease.release == releases[1])
        lease.end()
    }
}
