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

/// After an unload nothing of a family is in use here, wherever its engine was.
@Suite(.timeLimit(.minutes(10))) struct LiveModelsUnloadTests {
    /// Comes and goes when it is let.
    private struct SlowEngine: ForwardingEngine {
        let engine = ScriptedEngine([[.text("a"), .finish(.endOfGeneration)]])
        let leaving: Gate

        func unload() async { await leaving.pass() }
    }

    /// Something that takes until it is let.
    private struct Gate: Sendable {
        private let reached: AsyncStream<Void>
        private let reach: AsyncStream<Void>.Continuation
        private let held: AsyncStream<Never>
        private let gate: AsyncStream<Never>.Continuation

        init() {
            (reached, reach) = AsyncStream.makeStream()
            (held, gate) = AsyncStream.makeStream()
        }

        func pass() async {
            reach.yield()
            for await _ in held {}
        }

        /// Returns once somebody has come to it.
        func isReached() async { for await _ in reached { break } }

        func open() { gate.finish() }
    }

    private let folder: TemporaryFolder
    private let manager: ModelManager
    private let family: Family

    init() async throws {
        folder = try TemporaryFolder()
        manager = ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 1 << 40)
        let installed = try await manager.store.install(
            "slow@1.0.0", weights: try folder.write("x", Data("x".utf8)))
        family = try await manager.activate(installed.identity).identity.family
    }

    /// Models whose engines pass one gate on their way in, and one on their way out.
    private func liveModels(coming: Gate, leaving: Gate) -> LiveModels {
        LiveModels(manager: manager) { _ in
            await coming.pass()
            return SlowEngine(leaving: leaving)
        }
    }

    /// Has the family go from their memory and from the disk.
    private func removal(of models: LiveModels) -> Task<Void, any Error> {
        Task {
            await models.unload(family)
            try await manager.store.remove(family, version: nil, variant: nil)
        }
    }

    /// Time enough for what was begun to get as far as it can.
    private func settle() async { for _ in 0..<1000 { await Task.yield() } }

    @Test(arguments: ["on its way in", "in use", "on its way out"])
    func whatIsUnloadedCanBeRemoved(_ place: String) async throws {
        let (coming, leaving) = (Gate(), Gate())
        if place != "on its way in" { coming.open() }
        if place != "on its way out" { leaving.open() }
        let models = liveModels(coming: coming, leaving: leaving)
        let model = try await models.model(family, policy: .localOnly)
        let leasing = Task { try await model.lease() }
        if place == "on its way in" { await coming.isReached() } else { _ = try await leasing.value }
        if place == "on its way out" {
            try await leasing.value.end()
            models.pool.dropIdle()
            await leaving.isReached()
        }
        let removing = removal(of: models)
        // Time enough to begin to wait; whoever does not is refused.
        await settle()
        coming.open()
        leaving.open()
        try await leasing.value.end()
        try await removing.value
        #expect(try await manager.availability(of: family) == .none)
    }

    /// Else its next load would begin in the moment in which the files are free to go.
    @Test func whoAsksWhileItIsUnloadedIsRefused() async throws {
        let (coming, leaving) = (Gate(), Gate())
        coming.open()
        let models = liveModels(coming: coming, leaving: leaving)
        let model = try await models.model(family, policy: .localOnly)
        try await model.lease().end()
        models.pool.dropIdle()
        await leaving.isReached()
        let removing = removal(of: models)
        await settle()
        let error = await #expect(throws: DeliveryError.self) { try await model.lease().end() }
        #expect(error?.code == "model-unloading" && error?.disposition == .tryLater)
        leaving.open()
        try await removing.value
        #expect(try await manager.availability(of: family) == .none)
    }

    @Test func whoAskedBeforeIsServedFirst() async throws {
        let (coming, leaving) = (Gate(), Gate())
        coming.open()
        let models = liveModels(coming: coming, leaving: leaving)
        let model = try await models.model(family, policy: .localOnly)
        let first = try await model.lease()
        first.end()
        models.pool.dropIdle()
        await leaving.isReached()
        // Without a look at the disk before.
        let asking = Task { try await models.pool.lease(first.source) }
        await settle()
        let removing = removal(of: models)
        await settle()
        leaving.open()
        let lease = try await asking.value
        await settle()
        #expect(models.pool.loaded == [lease.source], "not before its answer has ended")
        lease.end()
        try await removing.value
    }

    /// What becomes live meanwhile is not loaded for nobody, and no failure is told.
    @Test func whatBecomesLiveWhileTheOneBeforeIsUnloadedWaitsForItsFirstUse() async throws {
        let (coming, leaving) = (Gate(), Gate())
        coming.open()
        leaving.open()
        let models = liveModels(coming: coming, leaving: leaving)
        let newer = try await manager.store.install("slow@2.0.0", weights: try folder.write("y", Data("y".utf8)))
        let model = try await models.model(family, policy: .localOnly)
        let lease = try await model.lease()
        let unloading = Task { await models.unload(family) }
        await settle()
        var events = manager.events().makeAsyncIterator()
        try await manager.activate(newer.identity)
        guard case .activated? = await events.next() else {
            Issue.record("it was not told that it is live")
            return
        }
        lease.end()
        await unloading.value
        #expect(models.pool.loaded.isEmpty)
        let next = try await model.lease()
        #expect(next.release == newer.identity)
        next.end()
    }

    /// What was wanted of it when somebody else took its place is not kept for nobody.
    @Test func whatIsRetiredOnItsWayInGoesWhenItIsIdle() async throws {
        let (coming, leaving) = (Gate(), Gate())
        let models = liveModels(coming: coming, leaving: leaving)
        let model = try await models.model(family, policy: .localOnly)
        let leasing = Task { try await model.lease() }
        await coming.isReached()
        models.retire(family)
        coming.open()
        let lease = try await leasing.value
        #expect(models.pool.loaded.count == 1, "in use")
        lease.end()
        #expect(models.pool.loaded.isEmpty)
        leaving.open()
    }
}
