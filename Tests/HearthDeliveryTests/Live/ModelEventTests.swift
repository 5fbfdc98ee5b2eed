import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Every listener gets every event in order; one that does not read keeps the newest 256.
@Suite(.timeLimit(.minutes(10))) struct ModelEventTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func manager() -> ModelManager {
        ModelManager(
            home: fixture.home, origins: [], http: UnreachableClient(), network: UnmonitoredNetwork(),
            deviceMemory: 1 << 40)
    }

    @Test func unreadEventsComeInOrder() async throws {
        let one = try await fixture.install(try StoreFixture.identity("1.0.0"))
        let family = one.identity.family
        let hub = EventHub()
        var events = hub.stream().makeAsyncIterator()
        for _ in 0..<2 {
            hub.post(.installed(one))
            hub.post(.activated(one))
            hub.post(.checkFailed(nil, CancellationError()))
            hub.post(.noUpdate(family, .upToDate))
        }
        var seen: [String] = []
        while seen.count < 8, let event = await events.next() { seen.append(event.summary) }
        let once = ["installed tiny@1.0.0:q4", "activated tiny@1.0.0:q4", "check failed all", "up to date tiny"]
        #expect(seen == once + once)
    }

    @Test func aListenerThatDoesNotReadLosesTheOldestBeyond256() async throws {
        var hub: EventHub? = EventHub()
        let events = try #require(hub?.stream())
        for number in 0..<1000 { hub?.post(.removed(try StoreFixture.identity("1.0.\(number)"))) }
        hub = nil
        var seen: [String] = []
        for await event in events { seen.append(event.summary) }
        #expect(seen.count == 256)
        #expect(seen.first == "removed tiny@1.0.744:q4" && seen.last == "removed tiny@1.0.999:q4")
    }

    @Test func everyListenerHears() async throws {
        let hub = EventHub()
        let family = try #require(Family("tiny"))
        let streams = (0..<3).map { _ in hub.stream() }
        #expect(hub.listenerCount == 3)
        hub.post(.noUpdate(family, .upToDate))
        for stream in streams {
            var iterator = stream.makeAsyncIterator()
            let event = await iterator.next()
            #expect(event?.family == family)
        }
        // One that waits already hears as well.
        let late = hub.stream()
        async let first = late.first { _ in true }
        hub.post(.noUpdate(family, .upToDate))
        #expect(await first?.family == family)
    }

    @Test func listenersEnd() async throws {
        let family = try #require(Family("tiny"))
        var hub: EventHub? = EventHub()
        let cancelled = try #require(hub?.stream())
        let reader = Task { for await _ in cancelled {} }
        reader.cancel()
        await reader.value
        do {
            let forgotten = hub?.stream()
            #expect(forgotten != nil && hub?.listenerCount == 1)
        }
        #expect(hub?.listenerCount == 0, "a cancelled and a forgotten stream are no listeners")
        let last = try #require(hub?.stream())
        hub?.post(.noUpdate(family, .upToDate))
        hub = nil
        var count = 0
        for await _ in last { count += 1 }
        #expect(count == 1, "what was posted is heard, then the stream ends with the hub")
    }

    @Test func swapsComeBeforeTheNewsAndTheNewsBeforeReady() async throws {
        let one = try StoreFixture.identity("1.0.0")
        let two = try StoreFixture.identity("2.0.0")
        try await fixture.install(one)
        try await fixture.install(two)
        let manager = manager()
        let log = Locked<[String]>([])
        @Sendable func note(_ line: String) { log.withLock { $0.append(line) } }
        await manager.onActivation { release in
            note("swap \(release.identity?.version.name ?? "")")
            await Task.yield()
            note("swapped \(release.identity?.version.name ?? "")")
        }
        await manager.onReady { release in
            MainActor.assertIsolated()
            note("ready \(release.identity?.version.name ?? "")")
        }
        await manager.onReady { _ in note("ready too") }
        var events = manager.events().makeAsyncIterator()
        for identity in [one, two, two, one] {
            _ = try await manager.use(identity.family, version: identity.version, variant: identity.variant)
        }
        let once = { (version: String) in ["swap \(version)", "swapped \(version)", "ready \(version)", "ready too"] }
        #expect(log.withLock { $0 } == once("1.0.0") + once("2.0.0") + once("1.0.0"), "once for each activation")
        let event = await events.next()
        #expect(event?.summary == "activated tiny@1.0.0:q4")
    }

    /// Whoever removes a model, this process or another, and by whatever way: it is ready again when it is here again.
    @Test(arguments: [false, true])
    func whatWasRemovedIsNewsWhenItComesBack(_ isFoundAtAStart: Bool) async throws {
        let identity = try StoreFixture.identity()
        let manager = manager()
        let ready = Locked(0)
        await manager.onReady { _ in ready.withLock { $0 += 1 } }
        var events = manager.events().makeAsyncIterator()
        for count in 1...3 {
            if isFoundAtAStart {
                try await fixture.install(identity, activate: true)
                await manager.loadStored()
            } else {
                try await fixture.install(identity)
                try await manager.activate(identity)
            }
            #expect(ready.withLock { $0 } == count)
            #expect(await events.next()?.summary == "activated tiny@1.0.0:q4")
            try await fixture.anotherStore().remove(identity.family, version: nil, variant: nil)
            if isFoundAtAStart { await manager.loadStored() }
        }
    }

    /// An update comes, or the model goes, while the start is still busy with another family.
    @Test(arguments: ["updated", "removed"])
    func aStartSaysNothingThatIsOutOfDate(change: String) async throws {
        let first = try StoreFixture.identity(family: "aaa")
        let one = try StoreFixture.identity("1.0.0")
        let two = try StoreFixture.identity("2.0.0")
        try await fixture.install(first, activate: true)
        try await fixture.install(one, activate: true)
        try await fixture.install(two)
        let manager = manager()
        let (begun, source) = AsyncStream<Void>.makeStream()
        let (held, gate) = AsyncStream<Never>.makeStream()
        let swaps = Locked<[ReleaseIdentity?]>([])
        await manager.onActivation { model in
            swaps.withLock { $0.append(model.identity) }
            guard model.identity == first else { return }
            source.yield()
            for await _ in held {}
        }
        let ready = Locked<[ReleaseIdentity?]>([])
        await manager.onReady { model in ready.withLock { $0.append(model.identity) } }
        let start = Task { await manager.loadStored() }
        for await _ in begun { break }
        if change == "updated" {
            try await manager.activate(two)
        } else {
            try await manager.remove(one.family)
        }
        gate.finish()
        #expect(await start.value.models.count == 2)
        #expect(swaps.withLock { $0 } == (change == "updated" ? [first, two] : [first]))
        #expect(ready.withLock { $0 } == (change == "updated" ? [two, first] : [first]))
    }

    private func next(_ count: Int, of events: AsyncStream<ModelEvent>) async -> [String] {
        var iterator = events.makeAsyncIterator()
        var seen: [String] = []
        while seen.count < count, let event = await iterator.next() { seen.append(event.summary) }
        return seen
    }

    /// By hand, by a budget, and because a newer one has taken its place.
    @Test func whatGoesIsTold() async throws {
        let versions = try ["1.0.0", "2.0.0", "3.0.0", "4.0.0"].map { try StoreFixture.identity($0) }
        let manager = manager()
        let events = manager.events()
        for version in versions.prefix(3) {
            try await fixture.install(version)
            try await manager.activate(version)
        }
        #expect(
            await next(4, of: events) == [
                "activated tiny@1.0.0:q4", "activated tiny@2.0.0:q4", "removed tiny@1.0.0:q4",
                "activated tiny@3.0.0:q4",
            ])
        try await manager.remove(versions[2].family, version: versions[2].version)
        #expect(await next(2, of: events) == ["removed tiny@3.0.0:q4", "activated tiny@2.0.0:q4"])
        try await fixture.install(versions[3])
        let gone = try await manager.collect(try await manager.collectionPlan(budget: 0))
        #expect(gone.map(\.item) == [.release(versions[3])])
        #expect(await next(1, of: events) == ["removed tiny@4.0.0:q4"])
        // The same again is news again.
        try await manager.remove(versions[1].family)
        try await fixture.install(versions[1])
        try await manager.activate(versions[1])
        #expect(await next(2, of: events) == ["removed tiny@2.0.0:q4", "activated tiny@2.0.0:q4"])
    }

    /// Because it failed when it was tried, or because two processes ended in that.
    @Test func whatIsHeldBackIsTold() async throws {
        let (live, next) = (try StoreFixture.identity("1.0.0"), try StoreFixture.identity("2.0.0"))
        try await fixture.install(live, activate: true)
        try await fixture.install(next)
        let failing = fixture.manager(
            probe: ScriptedProbe { _ in throw StoreError(.releaseDamaged, "it says nothing") })
        let first = failing.events()
        #expect(await code { try await failing.activate(next) } == "probe-failed")
        #expect(await self.next(1, of: first) == ["held back tiny@2.0.0:q4"])
        // What is live is not held back, and so nothing is told.
        #expect(await code { try await failing.activate(live) } == "probe-failed")
        try await fixture.manager().activate(next)
        try await fixture.manager().rollback(next.family)

        let other = try StoreFixture.identity("3.0.0")
        try await fixture.install(other)
        for process in [Int32(1), 2] { try fixture.leave(.probe, other, process: process) }
        let starting = manager()
        let second = starting.events()
        #expect(try await starting.recover().isEmpty)
        var iterator = second.makeAsyncIterator()
        guard case .heldBack(other, let reason)? = await iterator.next() else {
            Issue.record("nothing was told")
            return
        }
        #expect(reason == "the program ended 2 times while the model was tried")
    }

    @Test func whatWasOvertakenWhileItWasLoadedIsNoNews() async throws {
        let one = try StoreFixture.identity("1.0.0")
        let two = try StoreFixture.identity("2.0.0")
        try await fixture.install(one)
        try await fixture.install(two)
        let manager = manager()
        let (begun, source) = AsyncStream<Void>.makeStream()
        let (held, gate) = AsyncStream<Never>.makeStream()
        await manager.onActivation { model in
            guard model.identity == one else { return }
            source.yield()
            for await _ in held {}
        }
        let ready = Locked<[String]>([])
        await manager.onReady { model in ready.withLock { $0.append(model.identity?.version.name ?? "none") } }
        let first = Task { try await manager.activate(one) }
        for await _ in begun { break }
        try await manager.activate(two)
        gate.finish()
        _ = try await first.value
        #expect(ready.withLock { $0 } == ["2.0.0"])
    }

    @Test func whatCannotBeLoadedIsNotReady() async throws {
        let identity = try StoreFixture.identity()
        try await fixture.install(identity)
        let manager = manager()
        let fails = Locked(true)
        let ready = Locked(0)
        await manager.onActivation { _ in
            if fails.withLock({ $0 }) { throw StoreError(.releaseDamaged, "no engine takes it") }
        }
        await manager.onReady { _ in ready.withLock { $0 += 1 } }
        var events = manager.events().makeAsyncIterator()
        _ = try await manager.use(identity.family, version: nil, variant: nil)
        #expect(await events.next()?.summary == "swap failed tiny@1.0.0:q4")
        #expect(ready.withLock { $0 } == 0)
        fails.withLock { $0 = false }
        _ = try await manager.use(identity.family, version: nil, variant: nil)
        #expect(await events.next()?.summary == "activated tiny@1.0.0:q4")
        #expect(ready.withLock { $0 } == 1)
    }
}

extension ModelEvent {
    /// The event in a few words.
    var summary: String {
        switch self {
        case .installed(let release): "installed \(release.identity)"
        case .activated(let release): "activated \(release.identity)"
        case .removed(let identity): "removed \(identity)"
        case .heldBack(let identity, _): "held back \(identity)"
        case .rolledBack(let from, let to, _): "rolled back \(from) to \(to?.description ?? "nothing")"
        case .swapFailed(let release, _): "swap failed \(release.identity)"
        case .updateFound(let finding): "update \(finding.family)"
        case .noUpdate(let family, let reason): "\(reason.reason) \(family)"
        case .checkFailed(let family, _): "check failed \(family?.name ?? "all")"
        }
    }
}
