import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@testable import Hearth

/// Every transition of a swap, as a table.
@Suite struct SwapStateTests {
    private enum Step {
        case ask(UInt64)
        case entered(String)
        case withdraw(UInt64)
        case swap(UInt64, String)
        case decided(SwapOrder)
        case emptied(UInt64)
        case loaded
        case failed
        case cancelled
        case cancel(UInt64)
    }

    private func release(_ version: String) throws -> ReleaseIdentity { try TrackedEngines.release(version) }

    private func run(live: String? = "1", _ table: [(Step, String)], line: Int = #line) throws {
        var state = SwapState(live: try live.map(release))
        for (index, (step, expected)) in table.enumerated() {
            let found: String
            switch step {
            case .ask(let caller):
                switch state.ask(caller) {
                case .enter(let release): found = "enters \(release.version)"
                case .waits: found = "waits"
                case .nothing: found = "nothing"
                }
            case .entered(let version): found = text(state.entered(try release(version)))
            case .withdraw(let caller): found = state.withdraw(caller) ? "left" : "not waiting"
            case .swap(let id, let version): found = text(state.swap(.init(id: id, target: try release(version))))
            case .decided(let order): found = text(state.decided(order))
            case .emptied(let id): found = text(state.emptied(for: id))
            case .loaded: found = text(state.loaded())
            case .failed: found = text(state.loadFailed())
            case .cancelled: found = text(state.loadFailed(isCancelled: true))
            case .cancel(let id): found = text(state.cancel(id))
            }
            #expect(found == expected, "step \(index + 1) of the table at line \(line)")
        }
    }

    private func text(_ effects: [SwapState.Effect]) -> String { effects.map(text).joined(separator: ", ") }

    private func text(_ effect: SwapState.Effect) -> String {
        switch effect {
        case .decide(let swap): "decide \(swap.id)"
        case .load(let release): "load \(release.version)"
        case .cancelLoad: "cancel load"
        case .empty(let release, let id): "empty \(release.version) for \(id)"
        case .cancelEmptying: "cancel emptying"
        case .retire(let release): "retire \(release.version)"
        case .admit(let callers, let release):
            "\(callers.map(String.init).joined(separator: "+")) to \(release.version)"
        case .finish(let id, let outcome): "\(id) \(outcome)"
        }
    }

    @Test func theNewOneIsLoadedBesideTheOld() throws {
        try run([
            (.ask(1), "enters 1"), (.entered("1"), ""),
            (.swap(1, "2"), "decide 1"),
            (.decided(.loadThenDrop), "load 2"),
            // Nobody waits meanwhile.
            (.ask(2), "enters 1"), (.entered("1"), ""),
            (.loaded, "retire 1, 1 swapped"),
            (.ask(3), "enters 2"), (.entered("2"), ""),
            (.loaded, ""), (.failed, ""), (.emptied(1), ""), (.decided(.dropThenLoad), ""),
        ])
    }

    @Test func theOldOneStaysForWhoIsOnTheWayIn() throws {
        try run([
            (.ask(1), "enters 1"), (.ask(2), "enters 1"),
            (.swap(1, "2"), "decide 1"), (.decided(.loadThenDrop), "load 2"),
            (.loaded, "1 swapped"),
            (.entered("1"), ""),
            (.entered("1"), "retire 1"),
            (.entered("1"), ""),
        ])
        // It comes back before it went: it is not retired any more.
        try run([
            (.ask(1), "enters 1"),
            (.swap(1, "2"), "decide 1"), (.decided(.loadThenDrop), "load 2"), (.loaded, "1 swapped"),
            (.swap(2, "1"), "decide 2"), (.decided(.loadThenDrop), "load 1"), (.loaded, "retire 2, 2 swapped"),
            (.entered("1"), ""),
        ])
    }

    @Test func aLoadThatFailsLeavesTheOldOne() throws {
        try run([
            (.swap(1, "2"), "decide 1"), (.decided(.loadThenDrop), "load 2"),
            (.failed, "1 failed"),
            (.ask(1), "enters 1"),
            (.swap(2, "2"), "decide 2"), (.decided(.loadThenDrop), "load 2"), (.cancel(2), "cancel load"),
            (.cancelled, "2 cancelled"),
            (.ask(2), "enters 1"),
            // The load came to its end before it heard of the cancellation.
            (.swap(3, "2"), "decide 3"), (.decided(.loadThenDrop), "load 2"), (.cancel(3), "cancel load"),
            (.entered("1"), ""), (.entered("1"), ""),
            (.loaded, "retire 1, 3 swapped"),
        ])
    }

    @Test func theOldOneGoesFirstWhereMemoryIsShort() throws {
        try run([
            (.ask(1), "enters 1"), (.entered("1"), ""),
            (.swap(1, "2"), "decide 1"),
            (.decided(.dropThenLoad), "empty 1 for 1"),
            (.ask(2), "waits"), (.ask(3), "waits"), (.ask(4), "waits"),
            (.withdraw(3), "left"), (.withdraw(3), "not waiting"),
            (.emptied(7), ""),
            (.emptied(1), "load 2"),
            (.ask(5), "waits"),
            (.loaded, "2+4+5 to 2, 1 swapped"),
            (.withdraw(2), "not waiting"),
            (.entered("2"), ""), (.entered("2"), ""), (.entered("2"), ""),
            (.ask(6), "enters 2"),
        ])
    }

    @Test func theMemoryIsEmptiedOnlyWhenNobodyIsOnTheWayIn() throws {
        try run([
            (.ask(1), "enters 1"), (.ask(2), "enters 1"),
            (.swap(1, "2"), "decide 1"), (.decided(.dropThenLoad), ""),
            (.entered("1"), ""),
            (.entered("1"), "empty 1 for 1"),
            (.emptied(1), "load 2"), (.loaded, "1 swapped"),
        ])
    }

    @Test func aLoadThatFailsBringsTheOldOneBack() throws {
        try run([
            (.swap(1, "2"), "decide 1"), (.decided(.dropThenLoad), "empty 1 for 1"), (.ask(1), "waits"),
            (.emptied(1), "load 2"),
            (.failed, "load 1"), (.ask(2), "waits"),
            (.loaded, "1+2 to 1, 1 failed"),
            (.entered("1"), ""), (.entered("1"), ""),
            (.ask(3), "enters 1"),
        ])
        // Neither can be loaded: those who wait try the old one, and hear why it fails.
        try run([
            (.swap(1, "2"), "decide 1"), (.decided(.dropThenLoad), "empty 1 for 1"), (.ask(1), "waits"),
            (.emptied(1), "load 2"), (.failed, "load 1"), (.failed, "1 to 1, 1 failed"),
            (.entered("1"), ""),
            (.swap(2, "3"), "decide 2"),
        ])
    }

    @Test func aCancelledSwapLetsTheWaitingIn() throws {
        try run([
            (.swap(1, "2"), "decide 1"), (.decided(.dropThenLoad), "empty 1 for 1"), (.ask(1), "waits"),
            (.cancel(1), "cancel emptying, 1 to 1, 1 cancelled"),
            // What emptying had begun is no longer this swap's business, nor the next one's.
            (.swap(2, "2"), "decide 2"), (.entered("1"), ""), (.decided(.dropThenLoad), "empty 1 for 2"),
            (.emptied(1), ""), (.emptied(2), "load 2"),
            (.cancel(2), "cancel load"), (.cancelled, "load 1"), (.loaded, "2 failed"),
        ])
        try run([
            (.ask(1), "enters 1"),
            (.swap(1, "2"), "decide 1"), (.decided(.dropThenLoad), ""),
            (.cancel(1), "1 cancelled"),
            (.entered("1"), ""),
        ])
    }

    @Test func aSwapThatIsCancelledBeforeItBeginsGivesWay() throws {
        try run([
            (.swap(1, "2"), "decide 1"), (.swap(2, "3"), ""), (.cancel(1), "1 cancelled, decide 2"),
            (.decided(.dropThenLoad), "empty 1 for 2"), (.swap(3, "4"), ""), (.ask(1), "waits"),
            (.cancel(2), "cancel emptying, 1 to 1, 2 cancelled, decide 3"),
        ])
        // The last one was let in, so there is something to call back.
        try run([
            (.ask(1), "enters 1"), (.swap(1, "2"), "decide 1"), (.decided(.dropThenLoad), ""),
            (.entered("1"), "empty 1 for 1"), (.cancel(1), "cancel emptying, 1 cancelled"),
        ])
    }

    /// Nothing of a cancelled swap is left for the next one.
    @Test func theNextSwapBeginsAfresh() throws {
        try run([
            (.ask(1), "enters 1"), (.swap(1, "2"), "decide 1"), (.decided(.dropThenLoad), ""),
            (.cancel(1), "1 cancelled"), (.entered("1"), ""),
            (.swap(2, "2"), "decide 2"), (.decided(.dropThenLoad), "empty 1 for 2"),
            (.cancel(2), "cancel emptying, 2 cancelled"),
        ])
    }

    /// Those who waited and were let in are on the way in like others.
    @Test func whoWasLetInIsWaitedFor() throws {
        try run([
            (.swap(1, "2"), "decide 1"), (.decided(.dropThenLoad), "empty 1 for 1"), (.ask(1), "waits"),
            (.emptied(1), "load 2"), (.loaded, "1 to 2, 1 swapped"),
            (.swap(2, "3"), "decide 2"), (.decided(.dropThenLoad), ""), (.entered("2"), "empty 2 for 2"),
        ])
    }

    /// Who is on the way in with a release of two swaps ago keeps that one, and nothing else.
    @Test func everyReleaseHasItsOwnOnTheWayIn() throws {
        try run([
            (.ask(1), "enters 1"), (.swap(1, "2"), "decide 1"), (.decided(.loadThenDrop), "load 2"),
            (.loaded, "1 swapped"), (.ask(2), "enters 2"),
            (.swap(2, "3"), "decide 2"), (.decided(.dropThenLoad), ""),
            (.entered("1"), "retire 1"), (.entered("2"), "empty 2 for 2"),
        ])
    }

    @Test func oneSwapWaitsAndTheNewestIsIt() throws {
        try run([
            (.swap(1, "2"), "decide 1"), (.decided(.loadThenDrop), "load 2"),
            (.swap(2, "3"), ""),
            (.swap(3, "4"), "2 superseded"),
            (.loaded, "retire 1, 1 swapped, decide 3"),
            (.decided(.loadThenDrop), "load 4"),
            (.swap(4, "4"), ""), (.cancel(4), "4 cancelled"), (.cancel(4), ""),
            (.swap(5, "4"), ""),
            (.loaded, "retire 2, 3 swapped, 5 unchanged"),
            (.swap(6, "4"), "6 unchanged"),
        ])
    }

    @Test func theFirstReleaseOfAll() throws {
        try run(
            live: nil,
            [
                (.ask(1), "nothing"),
                (.swap(1, "1"), "decide 1"), (.decided(.dropThenLoad), "load 1"),
                (.ask(2), "waits"), (.ask(3), "waits"), (.withdraw(3), "left"),
                (.loaded, "2 to 1, 1 swapped"),
                (.entered("1"), ""),
                (.ask(4), "enters 1"),
            ])
        try run(
            live: nil,
            [
                (.swap(1, "1"), "decide 1"), (.decided(.loadThenDrop), "load 1"), (.ask(1), "waits"),
                (.failed, "1 to 1, 1 failed"), (.entered("1"), ""),
                (.ask(2), "nothing"),
            ])
    }

    @Test(
        arguments: [
            (1000, nil, UInt64.max, SwapOrder.loadThenDrop), (1000, 1125, .max, .loadThenDrop),
            (1000, 1124, .max, .dropThenLoad), (1000, 1 << 40, 999, .dropThenLoad),
            (1000, 1 << 40, 1000, .loadThenDrop),
            (0, 0, 0, .loadThenDrop), (.max, .max, .max, .loadThenDrop), (.max, .max - 1, .max, .dropThenLoad),
        ] as [(UInt64, UInt64?, UInt64, SwapOrder)])
    func theOrderIsChosenByMemory(_ needed: UInt64, _ free: UInt64?, _ budget: UInt64, _ order: SwapOrder) {
        #expect(SwapPlan(neededBytes: needed, freeBytes: free, budgetBytes: budget).order == order)
    }
}
