import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Refuses to put one file in its place, once.
private final class RefusingDisk: ForwardingFileSystem {
    let base: any FileSystem = LocalFileSystem()
    private let refused = Locked<String?>(nil)

    func refuse(_ name: String) { refused.withLock { $0 = name } }

    func rename(_ source: Path, to target: Path) throws {
        let isRefused = refused.withLock { name in
            defer { if name == target.lastComponent { name = nil } }
            return name == target.lastComponent
        }
        if isRefused { throw FileError(errno: ENOSPC, doing: "write", path: target) }
        try base.rename(source, to: target)
    }
}

/// A decision on what is live that the disk did not take, in a process that goes on: whatever is decided after it is what
/// counts, at the next start as well.
@Suite(.timeLimit(.minutes(10))) struct OvertakenDecisionTests {
    private let one: ReleaseIdentity
    private let two: ReleaseIdentity
    private let three: ReleaseIdentity
    private let disk = RefusingDisk()
    private let fixture: StoreFixture

    init() async throws {
        one = try StoreFixture.identity("1.0.0")
        two = try StoreFixture.identity("2.0.0")
        three = try StoreFixture.identity("3.0.0")
        fixture = try StoreFixture()
        try await fixture.install(one, activate: true)
        for release in [two, three] { try await fixture.install(release) }
    }

    /// Both halves of a switch.
    private static let halves = ["active", "state.json"]

    private var manager: ModelManager { fixture.manager(fileSystem: disk) }

    private func state() async throws -> ReleaseState { try await fixture.anotherStore().state(of: one.family) }

    /// The next start, when every process of now has ended.
    private func start() async throws -> ReleaseState {
        let store = fixture.anotherStore()
        #expect(try await store.recover { _ in false }.isEmpty)
        #expect(try fixture.marks().isEmpty)
        return try await store.state(of: one.family)
    }

    private func failToActivate(_ half: String) async throws {
        disk.refuse(half)
        await #expect(throws: FileError.self) { try await manager.activate(two) }
        #expect(try fixture.marks() == ["commit"])
    }

    private func failToGoBack(_ half: String) async throws {
        try await manager.activate(two)
        disk.refuse(half)
        await #expect(throws: FileError.self) { try await manager.rollback(one.family) }
        #expect(try fixture.marks() == ["rollback"])
    }

    @Test(arguments: halves) func aLaterVersionStaysLive(_ half: String) async throws {
        try await failToActivate(half)
        try await manager.activate(two)
        #expect(try fixture.marks().isEmpty)
        try await manager.activate(three)
        let next = try await start()
        #expect(next.active == three && next.previous == two && next.probation?.release == three)
    }

    @Test(arguments: halves) func anEarlierVersionThatIsAskedForStaysLive(_ half: String) async throws {
        try await failToActivate(half)
        try await manager.activate(one)
        #expect(try fixture.marks().isEmpty)
        #expect(try await start().active == one)
    }

    /// The store alone makes a release live without a mark of its own.
    @Test(arguments: halves) func whatTheStoreMakesLiveStaysLive(_ half: String) async throws {
        try await failToActivate(half)
        try await fixture.anotherStore().activate(three)
        #expect(try fixture.marks().isEmpty)
        let next = try await start()
        #expect(next.active == three && next.probation == nil)
    }

    /// Its link may lead to it already: that is no proof.
    @Test(arguments: halves) func whatIsTriedAgainIsOnProbation(_ half: String) async throws {
        try await failToActivate(half)
        try await manager.activate(two)
        #expect(try await state().probation?.release == two)
        let next = try await start()
        #expect(next.active == two && next.previous == one && next.probation?.release == two)
    }

    @Test(arguments: halves) func nothingElseDecidedItIsFinished(_ half: String) async throws {
        try await failToActivate(half)
        let next = try await start()
        #expect(next.active == two && next.previous == one && next.probation?.release == two)
    }

    /// By another process, while the one that failed goes on.
    @Test(arguments: [true, false]) func whatWasRolledBackSinceStaysSo(_ isRetried: Bool) async throws {
        try await failToActivate("state.json")
        if isRetried { try await manager.activate(two) }
        try await fixture.manager().rollback(one.family)
        #expect(try fixture.marks().isEmpty)
        let next = try await start()
        #expect(next.active == one && next.isHeldBack(two))
    }

    /// Even where the mark of it is still there.
    @Test func aMarkOfWhatIsHeldBackMakesNothingLive() async throws {
        try await manager.activate(two)
        try await manager.rollback(one.family)
        try fixture.leave(.commit, two)
        let next = try await start()
        #expect(next.active == one && next.isHeldBack(two))
    }

    @Test(arguments: halves) func aRollbackIsOvertakenByItsUndoing(_ half: String) async throws {
        try await failToGoBack(half)
        try await manager.activate(two)
        #expect(try fixture.marks().isEmpty)
        let next = try await start()
        #expect(next.active == two && next.previous == one && !next.isHeldBack(two))
    }

    /// And not back from where it led.
    @Test(arguments: halves) func aRollbackThatIsTriedAgainGoesTheSameWay(_ half: String) async throws {
        try await failToGoBack(half)
        let rollback = try await manager.rollback(one.family)
        #expect(rollback.from == two && rollback.to?.identity == one)
        #expect(try fixture.marks().isEmpty)
        let next = try await start()
        #expect(next.active == one && next.previous == nil && next.isHeldBack(two) && !next.isHeldBack(one))
    }

    /// Another process may have taken it away while this one waited for its turn.
    @Test func theMarkIsThereAgainBeforeTheSwitch() async throws {
        let token = ActivityMark.token()
        _ = try await fixture.store.commit(two, token: token)
        #expect(try fixture.marks() == ["commit"])
        try await fixture.store.unmark(two, token: token)
        #expect(try await state().active == two)
    }

    /// Whoever holds on to another release since has decided otherwise, unless the link has come to it already.
    @Test(arguments: halves, [true, false])
    func aPinStaysTrue(_ half: String, _ isPinnedBefore: Bool) async throws {
        if isPinnedBefore { try await manager.pin(one) }
        try await failToActivate(half)
        try await manager.pin(one)
        let next = try await start()
        #expect(next.pinned == one)
        #expect(next.active == (half == "active" ? one : two))
        #expect(next.probation?.release == (half == "active" ? nil : two))
    }

    @Test(arguments: halves) func aPinOnTheSameReleaseFinishesIt(_ half: String) async throws {
        try await failToActivate(half)
        try await manager.pin(two)
        let next = try await start()
        #expect(next.pinned == two && next.active == two && next.probation?.release == two)
    }

    // MARK: - The power goes

    enum Deed: CaseIterable, Sendable { case later, rollback, undo }

    /// Whenever it goes, one of both decisions is there as a whole.
    @Test(arguments: Deed.allCases) func everyPowerCutLeavesOneDecision(_ deed: Deed) async throws {
        if deed == .undo { try await failToGoBack("state.json") } else { try await failToActivate("state.json") }
        let cut = try PowerCutDisk(root: fixture.folder.path)
        let manager = ModelManager(
            home: cut.root.appending("home"), origins: [], fileSystem: cut, time: fixture.time,
            network: UnmonitoredNetwork(), deviceMemory: 1 << 40)
        switch deed {
        case .later: try await manager.activate(three)
        case .rollback: try await manager.rollback(one.family)
        case .undo: try await manager.activate(two)
        }
        #expect(cut.operationCount > 10)
        var generator = SeededGenerator(seed: 9)
        for operation in 0...cut.operationCount {
            let isLast = operation == cut.operationCount
            guard isLast || TestExtent.includes(oneIn: 6, using: &generator) else { continue }
            for policy in PowerCutDisk.Policy.allCases {
                let note = "\(deed), cut after \(cut.operations.prefix(operation).last ?? "nothing"), \(policy)"
                let after = try TemporaryFolder()
                try cut.rebuild(after: operation, policy: policy, into: after.path)
                let store = ModelStore(home: after.path.appending("home"), time: fixture.time)
                try await store.recover { _ in false }
                let state = try await store.state(of: one.family)
                let live = try #require(state.active, "\(note)")
                #expect(try await store.verify(live).isIntact, "\(note)")
                // Held back and live by itself, or on probation and ready to go back.
                let isBack = live == one && state.isHeldBack(two) && state.probation == nil && state.previous == nil
                let isNew = state.probation?.release == live && !state.isHeldBack(live) && state.previous != nil
                switch deed {
                case .later: #expect(isNew && [two, three].contains(live), "\(note): \(state)")
                case .rollback, .undo: #expect(live == two ? isNew : isBack, "\(note): \(state)")
                }
                if isLast {
                    #expect(live == (deed == .later ? three : deed == .undo ? two : one), "\(note)")
                }
            }
        }
    }
}
