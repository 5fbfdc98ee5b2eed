import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

/// What an event of a manager has a library look up again.
@Suite(.timeLimit(.minutes(10))) struct LibraryChangeTests {
    private struct RefusingProbe: ReleaseProbe {
        func probe(_ candidate: ProbeCandidate) async throws -> ProbeReport? {
            throw StoreError(.releaseDamaged, "it says nothing")
        }
    }

    private let folder: TemporaryFolder
    private let manager: ModelManager
    private var releases: [ReleaseIdentity] = []

    init() async throws {
        folder = try TemporaryFolder()
        manager = ModelManager(
            home: folder.path("home"), origins: [], network: UnmonitoredNetwork(), deviceMemory: 1 << 40,
            probe: RefusingProbe())
        for version in ["1.0.0", "2.0.0"] {
            let weights = try folder.write(version, Data(version.utf8))
            releases.append(try await manager.store.install("m@\(version)", weights: weights).identity)
        }
        var untried = ActivationOptions()
        untried.probes = false
        try await manager.activate(releases[0], options: untried)
    }

    /// Nobody is to be offered again what has just been refused.
    @Test func whatIsHeldBackIsLookedUpInTheOffersToo() async throws {
        var changes = manager.changes().makeAsyncIterator()
        let error = await #expect(throws: StoreError.self) { try await manager.activate(releases[1]) }
        #expect(error?.code == .probeFailed)
        try await manager.remove(releases[1].family, version: releases[1].version)
        var seen: [LibraryChange] = []
        while seen.count < 2, let change = await changes.next() { seen.append(change) }
        #expect(seen == [.local, .objections])
    }

    @Test func aRollbackHoldsBackAsWell() async throws {
        var untried = ActivationOptions()
        untried.probes = false
        try await manager.activate(releases[1], options: untried)
        var changes = manager.changes().makeAsyncIterator()
        try await manager.rollback(releases[1].family)
        // What is live now is told before, unless nobody has listened by then.
        while let change = await changes.next() { if change == .objections { return } }
        Issue.record("the offers are as before")
    }

    /// An app that is used without a network asks nobody because something was held back.
    @MainActor @Test func objectionsAreLookedUpWhereTheSourcesWereAsked() async {
        let delivery = ScriptedDelivery()
        let library = ModelLibrary(delivery: delivery, defaultModel: MemorySetting().setting)
        await library.refreshLocal()
        delivery.tell(.objections)
        delivery.have(LocalModel(Models.text))
        delivery.tell(.local)
        await until { library.rows.map(\.state) == [.downloaded] }
        #expect(delivery.journal.all.isEmpty)
        await library.refreshOffers()
        delivery.offer(OfferedModel(Models.text.at("2.0.0"), isUpdate: true))
        delivery.tell(.objections)
        await until { library.rows.first?.update != nil }
    }
}
