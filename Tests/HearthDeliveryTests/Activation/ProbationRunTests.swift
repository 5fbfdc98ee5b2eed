import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Probation and recovery on a disk: answers end it, and unclean ends of processes bring the release before back.
@Suite(.timeLimit(.minutes(10))) struct ProbationRunTests {
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

    @Test func threeAnswersEndIt() async throws {
        let manager = fixture.manager()
        try await manager.activate(two)
        for _ in 0..<2 { try await manager.recordAnswer(two, seconds: 1.5) }
        #expect(try await state().probation?.answers == 2)
        #expect(try await state().probation?.seconds == 3)
        try await manager.recordAnswer(one, seconds: 1)
        try await manager.recordAnswer(two, seconds: 1)
        #expect(try await state().probation == nil)
    }

    @Test func onlyAReleaseOnProbationIsMarked() async throws {
        let disk = FaultyFileSystem()
        let store = ModelStore(home: fixture.home, fileSystem: disk, time: fixture.time)
        try await fixture.manager().activate(two)
        let inside = try await store.guarding(two, .generate) { try fixture.marks() }
        #expect(inside == ["generate"])
        #expect(try fixture.marks().isEmpty)
        for _ in 0..<3 { try await store.recordAnswer(two, seconds: 1) }
        let before = [FaultyFileSystem.Operation.write, .rename, .open, .synchronize].map { disk.callCount(of: $0) }
        #expect(try await store.guarding(two, .load) { try fixture.marks() }.isEmpty)
        #expect(try await store.guarding(one, .load) { try fixture.marks() }.isEmpty)
        let after = [FaultyFileSystem.Operation.write, .rename, .open, .synchronize].map { disk.callCount(of: $0) }
        #expect(before == after, "nothing was written")
    }

    /// What was begun in one process at once ends with it at once.
    @Test func aProcessThatAnswersSeveralPeopleEndsOnce() async throws {
        try await fixture.manager().activate(two)
        let store = fixture.store
        let (marks, rollbacks) = try await store.guarding(two, .generate) {
            try await store.guarding(two, .generate) {
                (try fixture.marks(), try await fixture.anotherStore().recover { _ in false })
            }
        }
        #expect(marks == ["generate", "generate"] && rollbacks.isEmpty)
        #expect(try await state().active == two)
    }

    @Test func anErrorIsNoUncleanEnd() async throws {
        try await fixture.manager().activate(two)
        for _ in 0..<3 {
            await #expect(throws: ScriptedPreparer.Failure.self) {
                try await fixture.store.guarding(two, .load) { throw ScriptedPreparer.Failure() }
            }
        }
        #expect(try fixture.marks().isEmpty)
        #expect(try await fixture.manager().recover().isEmpty)
        #expect(try await state().active == two)
    }

    @Test func twoEndsInsideBringTheReleaseBeforeBack() async throws {
        try await fixture.manager().activate(two)
        try fixture.leave(.load, two)
        #expect(try await fixture.manager().recover().isEmpty)
        #expect(try await state().active == two)
        // However many people it was answering.
        try fixture.leave(.generate, two)
        try fixture.leave(.generate, two)
        #expect(try await fixture.manager().recover().isEmpty)
        #expect(try await state().active == two)
        try fixture.leave(.generate, two, process: 2)
        let made = try await fixture.manager().recover()
        #expect(made.map(\.from) == [two] && made.map(\.to?.identity) == [one])
        let state = try await state()
        #expect(state.active == one && state.probation == nil)
        #expect(state.heldBack(two)?.reason == Probation.reason(uncleanEnds: 2))
        #expect(try fixture.marks().isEmpty)
        #expect(try await fixture.manager().recover().isEmpty)
    }

    @Test func aMarkOfALivingProcessDoesNotCount() async throws {
        try await fixture.manager().activate(two)
        try fixture.leave(.load, two)
        let rollbacks = try await fixture.store.guarding(two, .generate) { try await fixture.anotherStore().recover() }
        #expect(rollbacks.isEmpty)
        #expect(try await state().active == two)
    }

    @Test func endsBeforeAProbationHasPassedAreForgotten() async throws {
        try await fixture.manager().activate(two)
        try fixture.leave(.load, two)
        for _ in 0..<3 { try await fixture.store.recordAnswer(two, seconds: 1) }
        try fixture.leave(.load, two, process: 2)
        #expect(try await fixture.manager().recover().isEmpty)
        #expect(try await state().active == two)
    }

    // MARK: - Interrupted

    @Test func aSwitchIsFinishedByTheNextStart() async throws {
        try fixture.leave(.commit, two)
        #expect(try await fixture.manager().recover().isEmpty)
        let state = try await state()
        #expect(state.active == two && state.previous == one && state.probation?.release == two)
    }

    @Test func whatKillsTheProbeTwiceIsHeldBack() async throws {
        try fixture.leave(.probe, two)
        try await fixture.manager().recover()
        #expect(try await !state().isHeldBack(two))
        try fixture.leave(.probe, two)
        try await fixture.manager().recover()
        #expect(try await !state().isHeldBack(two), "one process ends once")
        try fixture.leave(.probe, two, process: 2)
        try await fixture.manager().recover()
        #expect(try await state().isHeldBack(two))
        #expect(try await state().active == one)
        #expect(try fixture.marks().isEmpty)
    }

    @Test func hostileMarksHarmNobody() async throws {
        let folder = fixture.layout.marksFolder(of: two)
        let token = ActivityMark.token()
        try fixture.folder.write("home/marks/tiny/2.0.0~q4/\(token)", Data("{".utf8))
        try fixture.folder.write("home/marks/tiny/../x", Data())
        try fixture.folder.write("home/marks/NOT A FAMILY/x/\(token)", Data("{}".utf8))
        try LocalFileSystem().makeLink(at: folder.joined(ActivityMark.token()), to: "/etc/passwd")
        try fixture.folder.write(
            "home/marks/tiny/2.0.0~q4/\(ActivityMark.token())", Data(repeating: 32, count: 100_000))
        #expect(try await fixture.manager().recover().isEmpty)
        #expect(try await state() == ReleaseState(active: one))
        #expect(try fixture.marks().isEmpty)
    }
}
