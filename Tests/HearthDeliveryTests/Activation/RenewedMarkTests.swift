import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Work of hours is no crash in the eyes of another container, which cannot ask about the process.
@Suite(.timeLimit(.minutes(5))) struct RenewedMarkTests {
    private let fixture: StoreFixture
    private let clock = ManualClock()
    private let identity: ReleaseIdentity
    private let store: ModelStore

    init() async throws {
        fixture = try StoreFixture()
        identity = try StoreFixture.identity("2.0.0")
        try await fixture.install(try StoreFixture.identity("1.0.0"), activate: true)
        try await fixture.install(identity)
        store = ModelStore(
            home: fixture.home, fileSystem: LocalFileSystem(), time: clock.time, renewalTime: clock.time)
    }

    /// Lets two hours pass, and starts in another container.
    private func workLong() async throws {
        for _ in 0..<12 {
            await clock.sleepers(atLeast: 1)
            clock.advance(by: ClaimRenewal.interval)
        }
        await clock.sleepers(atLeast: 1)
        let marks = try store.marks.all(of: identity.family)
        #expect(!marks.isEmpty)
        for found in marks {
            #expect(found.mark?.isLeft(at: clock.time.now, isRunning: { _ in nil }) == false, "\(found)")
        }
        let other = ModelStore(home: fixture.home, fileSystem: LocalFileSystem(), time: clock.time)
        #expect(try await other.recover(isRunning: { _ in nil }).isEmpty)
        #expect(try store.marks.all(of: identity.family) == marks)
    }

    @Test(arguments: [GuardedStage.load, .generate]) func aLongUseIsNoCrash(_ stage: GuardedStage) async throws {
        try await fixture.manager().activate(identity)
        try await store.guarding(identity, stage) { try await workLong() }
        #expect(try store.marks.all(of: identity.family).isEmpty)
    }

    @Test func aLongProbeIsNoCrash() async throws {
        let probe = ScriptedProbe { _ in
            try await self.workLong()
            return ScriptedProbe.report()
        }
        let run = ActivationRun(
            store: store, preparer: nil, probe: probe, time: clock.time, identity: identity, rehashes: false,
            ignoresMemory: false, progress: { _ in })
        #expect(try await run.run().isActive)
        #expect(try store.marks.all(of: identity.family).isEmpty)
    }
}
