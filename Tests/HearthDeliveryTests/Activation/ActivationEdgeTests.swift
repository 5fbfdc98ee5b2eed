import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// What an activation and a way back leave behind where something else happens at the same time.
@Suite(.timeLimit(.minutes(10))) struct ActivationEdgeTests {
    private let one: ReleaseIdentity
    private let two: ReleaseIdentity
    private let fixture: StoreFixture

    init() async throws {
        one = try StoreFixture.identity("1.0.0")
        two = try StoreFixture.identity("2.0.0")
        fixture = try StoreFixture()
        try await fixture.install(one, activate: true)
        try await fixture.install(two)
    }

    private func state() async throws -> ReleaseState { try await fixture.anotherStore().state(of: one.family) }

    // MARK: - The way there

    @Test func whatWasHashedJustNowIsNotReadAgain() async throws {
        let stages = Locked<[ActivationProgress]>([])
        var options = ActivationOptions()
        options.rehashes = false
        try await fixture.manager(probe: ScriptedProbe()).activate(two, options: options) { stage in
            stages.withLock { $0.append(stage) }
        }
        #expect(stages.withLock { $0 } == [.probing])
    }

    /// Only a disk that fails in the middle of the switch leaves a mark of it: nothing else has begun to switch.
    @Test func aReleaseThatGoesBeforeTheSwitchLeavesNoMark() async throws {
        let folder = fixture.layout.folder(of: two)
        let probe = ScriptedProbe { _ in
            try LocalFileSystem().removeTree(folder)
            return ScriptedProbe.report()
        }
        #expect(await code { try await fixture.manager(probe: probe).activate(two) } == "not-installed")
        #expect(try fixture.marks().isEmpty)
        #expect(try await state() == ReleaseState(active: one))
    }

    /// Whatever an engine says once it was told to stop, it was told to stop.
    @Test(arguments: [true, false]) func whatAnEngineSaysAfterItsCancellationCountsForNothing(_ answers: Bool)
        async throws
    {
        let (started, source) = AsyncStream<Void>.makeStream()
        let probe = ScriptedProbe { _ in
            source.yield()
            let (never, end) = AsyncStream<Never>.makeStream()
            for await _ in never {}
            end.finish()
            if answers { return ScriptedProbe.report() }
            throw StoreError(.releaseDamaged, "the load was stopped")
        }
        let manager = fixture.manager(probe: probe)
        let task = Task { [two] in try await manager.activate(two) }
        for await _ in started { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await state() == ReleaseState(active: one))
    }

    @Test func anEndInAProbeIsForgottenOnceTheReleaseIsLive() async throws {
        try fixture.leave(.probe, two)
        try await fixture.manager(probe: ScriptedProbe()).activate(two)
        #expect(try fixture.marks().isEmpty)
    }

    // MARK: - Probation

    @Test func anEndBeforeTheProofIsForgottenWithIt() async throws {
        try await fixture.manager().activate(two)
        try fixture.leave(.load, two)
        for _ in 0..<3 { try await fixture.store.recordAnswer(two, seconds: 1) }
        #expect(try fixture.marks().isEmpty)
    }

    /// However it ends, and an answer's own time is not counted with the answer again.
    @Test func aLoadAndAnAnswerCountAsUseOnce() async throws {
        try await fixture.manager().activate(two)
        let clock = ManualClock()
        let store = ModelStore(home: fixture.home, time: clock.time)
        for stage in [GuardedStage.load, .generate] {
            try await store.guarding(two, stage) { clock.advance(by: .seconds(7)) }
            await #expect(throws: ScriptedPreparer.Failure.self) {
                try await store.guarding(two, stage) {
                    clock.advance(by: .seconds(5))
                    throw ScriptedPreparer.Failure()
                }
            }
        }
        #expect(try await state().probation?.seconds == 24)
        try await store.recordAnswer(two)
        #expect(try await state().probation?.seconds == 24)
        #expect(try await state().probation?.answers == 1)
        // Where nobody has guarded it.
        try await store.recordAnswer(two, seconds: 3)
        #expect(try await state().probation?.seconds == 27)
    }

    /// Ten minutes of answers that a person stopped are ten minutes of use.
    @Test func aStoppedAnswerCountsAsUse() async throws {
        try await fixture.manager().activate(two)
        let clock = ManualClock()
        let store = ModelStore(home: fixture.home, time: clock.time)
        func stop() async {
            let (never, end) = AsyncStream<Never>.makeStream()
            let (begun, source) = AsyncStream<Void>.makeStream()
            let task = Task { [two] in
                try await store.guarding(two, .generate) {
                    source.yield()
                    for await _ in never {}
                    clock.advance(by: .seconds(300))
                    try Task.checkCancellation()
                }
            }
            for await _ in begun { break }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            end.finish()
        }
        await stop()
        #expect(try await state().probation?.seconds == 300)
        #expect(try fixture.marks().isEmpty)
        await stop()
        #expect(try await state().probation == nil)
        #expect(try await state().active == two)
    }

    /// It waits for nobody who changes the home folder just now, and counts all the same.
    @Test(.timeLimit(.minutes(10))) func aStoppedAnswerWaitsForNobody() async throws {
        try await fixture.manager().activate(two)
        let clock = ManualClock()
        let store = ModelStore(home: fixture.home, time: clock.time)
        let lock = try #require(try FileLock.tryAcquire(fixture.layout.lock))
        let (answering, ended) = AsyncStream<Never>.makeStream()
        let task = Task { [two] in
            defer { ended.finish() }
            try await store.guarding(two, .generate) { clock.advance(by: .seconds(5)) }
        }
        await clock.sleepers(atLeast: 1)
        task.cancel()
        // Ends with the time limit where the answer does not.
        for await _ in answering {}
        #expect(try await state().probation?.seconds == 0)
        lock.release()
        while try await state().probation?.seconds != 5 {
            clock.advance(by: .milliseconds(20))
            await Task.yield()
        }
        #expect(try fixture.marks().isEmpty)
    }

    // MARK: - The way back

    @Test func goingBackLeavesTheMarksOfOthers() async throws {
        try await fixture.manager().activate(two)
        try fixture.leave(.load, two)
        _ = try await fixture.store.rollBack(one.family, because: "r")
        #expect(try fixture.marks() == ["load"], "whose process may still load it")
        #expect(try await fixture.manager().recover().isEmpty)
        #expect(try fixture.marks().isEmpty)
    }

    @Test func aReleaseIsNotItsOwnWayBack() async throws {
        let files = ActivationFiles(layout: fixture.layout, fileSystem: LocalFileSystem())
        try files.write(ReleaseState(active: one, previous: one), of: one.family)
        #expect(await code { try await fixture.manager().rollback(one.family) } == "nothing-before")
        #expect(try await state().active == one)
    }

    // MARK: - After an interruption

    @Test func whatWasHalfMadeGoesWithTheNextStart() async throws {
        let half = try fixture.folder.write(
            "home/prepared/tiny/2.0.0~q4/.0123456789abcdef.tmp-abc/made.bin", Data("half".utf8))
        try fixture.leave(.prepare, two)
        try await fixture.manager().recover()
        #expect(try !fixture.exists(half) && fixture.temporaryNames().isEmpty)
        #expect(try fixture.marks().isEmpty)
    }
}
