import Foundation
import Hearth
import HearthBase
import HearthDelivery
import HearthInference
import HearthTestSupport
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

        func recipe(for release: InstalledRelease) async -> PreparationRecipe? {
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
            _ recipe: PreparationRecipe, of release: InstalledRelease, at target: Path,
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
        try await manager.activate(releases[2])
        gate.finish()
        _ = try await overtaken.value
        let lease = try await model.lease()
        #expect(lease.release == releases[2])
        lease.end()
    }
}
