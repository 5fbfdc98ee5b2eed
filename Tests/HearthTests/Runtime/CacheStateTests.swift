import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@testable import Hearth

/// Every way an engine comes, is used and goes, as a table.
@Suite struct CacheStateTests {
    private enum Step {
        case take(String, UInt64, bytes: UInt64 = 10)
        case withdraw(UInt64)
        case giveBack(UInt64)
        case loaded(UInt64, bytes: UInt64 = 10)
        case failed(UInt64)
        case ended(UInt64)
        case retire(String)
        case retireAll
        case keep(String)
        case watch(String, UInt64)
        case unwatch(UInt64)
        case relieve(UInt64)
    }

    private func release(_ version: String) throws -> ReleaseIdentity { try TrackedEngines.release(version) }

    /// Runs steps, each with the effects it must have, written as people would.
    private func run(budget: UInt64 = 100, _ table: [(Step, String)], line: Int = #line) throws {
        var state = CacheState(budget: budget)
        for (index, (step, expected)) in table.enumerated() {
            let found: String
            switch step {
            case .take(let version, let waiter, let bytes):
                let (answer, effects) = state.take(try release(version), bytes: bytes, for: waiter)
                switch answer {
                case .granted(let slot): found = (["has \(slot)"] + effects.map(text)).joined(separator: ", ")
                case .waits: found = (["waits"] + effects.map(text)).joined(separator: ", ")
                }
            case .withdraw(let waiter): found = text(state.withdraw(waiter))
            case .giveBack(let slot): found = text(state.giveBack(slot))
            case .loaded(let slot, let bytes): found = text(state.loaded(slot, bytes: bytes))
            case .failed(let slot): found = text(state.failed(slot))
            case .ended(let slot): found = text(state.ended(slot))
            case .retire(let version): found = text(state.retire(try release(version)))
            case .retireAll: found = text(state.retireAll())
            case .unwatch(let watcher): found = state.unwatch(watcher) ? "watched" : "did not"
            case .keep(let version):
                state.keep(try release(version))
                found = ""
            case .watch(let version, let watcher): found = state.watch(try release(version), watcher) ? "gone" : ""
            case .relieve(let bytes): found = text(state.relieve(bytes))
            }
            #expect(found == expected, "step \(index + 1) of the table at line \(line)")
        }
    }

    private func text(_ effects: [CacheState.Effect]?) -> String {
        effects.map { $0.map(text).joined(separator: ", ") } ?? "nobody"
    }

    private func text(_ effect: CacheState.Effect) -> String {
        switch effect {
        case .load(let release, let slot): "load \(release.version.name) as \(slot)"
        case .cancelLoad(let slot): "cancel \(slot)"
        case .unload(let slot): "unload \(slot)"
        case .grant(let waiters, let slot): "\(slot) for \(waiters.map(String.init).joined(separator: "+"))"
        case .fail(let waiters, let slot): "\(slot) fails for \(waiters.map(String.init).joined(separator: "+"))"
        case .gone(let watchers): "gone for \(watchers.map(String.init).joined(separator: "+"))"
        }
    }

    @Test func oneLoadServesAllWhoWait() throws {
        try run([
            (.take("1", 1), "waits, load 1 as 1"),
            (.take("1", 2), "waits"),
            (.loaded(1), "1 for 1+2"),
            (.take("1", 3), "has 1"),
            (.giveBack(1), ""),
            (.giveBack(1), ""),
            (.giveBack(1), ""),
            (.giveBack(1), ""),
            (.take("1", 4), "has 1"),
        ])
    }

    @Test func aFailedLoadFailsForAllAndTheNextOneTriesAgain() throws {
        try run([
            (.take("1", 1), "waits, load 1 as 1"),
            (.take("1", 2), "waits"),
            (.failed(1), "1 fails for 1+2"),
            (.loaded(1), ""),
            (.take("1", 3), "waits, load 1 as 2"),
            (.loaded(2), "2 for 3"),
        ])
    }

    @Test func theLastOneOutCancelsTheLoad() throws {
        try run([
            (.take("1", 1), "waits, load 1 as 1"),
            (.take("1", 2), "waits"),
            (.withdraw(1), ""),
            (.withdraw(1), "nobody"),
            (.withdraw(2), "cancel 1"),
            (.failed(1), ""),
            (.take("1", 3), "waits, load 1 as 2"),
            // Somebody comes while the cancelled load has not heard of it yet: it begins again, or is taken as it is.
            (.withdraw(3), "cancel 2"),
            (.take("1", 4), "waits"),
            (.failed(2), "load 1 as 3"),
            (.withdraw(4), "cancel 3"),
            (.take("1", 5), "waits"),
            (.loaded(3), "3 for 5"),
            (.giveBack(3), ""),
            // Nobody wants what a cancelled load brought after all.
            (.retire("1"), "unload 3"),
            (.ended(3), ""),
            (.take("1", 6), "waits, load 1 as 4"),
            (.withdraw(6), "cancel 4"),
            (.loaded(4), "unload 4"),
            (.ended(4), ""),
            (.ended(4), ""),
        ])
    }

    @Test func nothingGoesThatIsInUse() throws {
        try run([
            (.take("1", 1), "waits, load 1 as 1"),
            (.loaded(1), "1 for 1"),
            (.retire("1"), ""),
            (.relieve(.max), ""),
            (.watch("1", 9), ""),
            (.giveBack(1), "unload 1"),
            (.giveBack(1), ""),
            (.ended(1), "gone for 9"),
            (.watch("1", 9), "gone"),
            (.retire("1"), ""),
        ])
    }

    @Test func whoTakesARetiredOneKeepsIt() throws {
        try run([
            (.take("1", 1), "waits, load 1 as 1"),
            (.loaded(1), "1 for 1"),
            (.retire("1"), ""),
            (.take("1", 2), "has 1"),
            (.giveBack(1), ""),
            (.giveBack(1), ""),
            (.take("1", 3), "has 1"),
            (.retire("1"), ""),
            (.keep("1"), ""),
            (.giveBack(1), ""),
            (.retire("1"), "unload 1"),
            // Too late: it is loaded anew.
            (.take("1", 4), "waits"),
            (.ended(1), "load 1 as 2"),
            (.loaded(2), "2 for 4"),
        ])
    }

    /// Whoever waits for its end is not kept from it by those who take it meanwhile.
    @Test func whoTakesAWatchedOneOnlyPutsItsEndOff() throws {
        let taken: [(Step, String)] = [
            (.take("1", 1), "waits, load 1 as 1"), (.loaded(1), "1 for 1"),
            (.watch("1", 8), ""), (.watch("1", 9), ""), (.retire("1"), ""), (.take("1", 2), "has 1"),
            (.giveBack(1), ""),
        ]
        try run(taken + [(.giveBack(1), "unload 1"), (.ended(1), "gone for 8+9")])
        try run(taken + [(.unwatch(8), "watched"), (.keep("1"), ""), (.giveBack(1), "unload 1")])
        // Nobody waits any more.
        try run(taken + [(.unwatch(8), "watched"), (.unwatch(9), "watched"), (.giveBack(1), "")])
        // Taken while it is loaded, which was for nobody else.
        try run([
            (.take("1", 1), "waits, load 1 as 1"), (.watch("1", 9), ""), (.retire("1"), ""), (.take("1", 2), "waits"),
            (.loaded(1), "1 for 1+2"), (.giveBack(1), ""), (.giveBack(1), "unload 1"), (.ended(1), "gone for 9"),
        ])
    }

    @Test func theLongestUnusedMakesRoom() throws {
        try run(
            budget: 25,
            [
                (.take("1", 1), "waits, load 1 as 1"),
                (.loaded(1), "1 for 1"),
                (.take("2", 2), "waits, load 2 as 2"),
                (.loaded(2), "2 for 2"),
                (.giveBack(2), ""),
                (.giveBack(1), ""),
                // 2 was given back first, and goes before the load begins.
                (.take("3", 3), "waits, unload 2"),
                (.ended(2), "load 3 as 3"),
                (.loaded(3), "3 for 3"),
                (.take("2", 4), "waits, unload 1"),
                (.withdraw(4), ""),
                (.ended(1), ""),
                // In use, both of them: a third is loaded beside them rather than never.
                (.take("1", 5), "waits, load 1 as 5"),
                (.loaded(5), "5 for 5"),
                (.take("2", 6), "waits, load 2 as 6"),
                (.loaded(6), "6 for 6"),
                // Back within the budget as soon as one is idle that was not the last one used.
                (.giveBack(6), ""),
                (.giveBack(5), "unload 6"),
            ])
    }

    @Test func anEngineLargerThanTheBudgetStaysWhileItIsTheLastOneUsed() throws {
        try run(
            budget: 5,
            [
                (.take("1", 1), "waits, load 1 as 1"),
                (.loaded(1), "1 for 1"),
                (.giveBack(1), ""),
                (.take("1", 2), "has 1"),
                (.giveBack(1), ""),
                (.take("2", 3), "waits, unload 1"),
                (.ended(1), "load 2 as 2"),
            ])
    }

    @Test func pressureTakesIdleOnesUntilThereIsEnough() throws {
        try run([
            (.take("1", 1), "waits, load 1 as 1"), (.loaded(1), "1 for 1"),
            (.take("2", 2), "waits, load 2 as 2"), (.loaded(2), "2 for 2"),
            (.take("3", 3), "waits, load 3 as 3"), (.loaded(3), "3 for 3"),
            (.giveBack(2), ""), (.giveBack(1), ""),
            (.relieve(0), ""),
            (.relieve(1), "unload 2"),
            (.relieve(.max), "unload 1"),
            (.relieve(.max), ""),
        ])
    }

    @Test func everythingGoesAsSoonAsItIsIdle() throws {
        try run([
            (.take("1", 1), "waits, load 1 as 1"), (.loaded(1), "1 for 1"),
            (.take("2", 2), "waits, load 2 as 2"), (.loaded(2), "2 for 2"),
            (.giveBack(1), ""),
            (.retireAll, "unload 1"),
            (.giveBack(2), "unload 2"),
        ])
    }

    @Test func whoNoLongerWatchesIsNotTold() throws {
        try run([
            (.take("1", 1), "waits, load 1 as 1"), (.loaded(1), "1 for 1"),
            (.watch("1", 7), ""), (.watch("1", 8), ""), (.watch("1", 9), ""),
            (.unwatch(8), "watched"), (.unwatch(8), "did not"),
            (.giveBack(1), "unload 1"), (.retire("1"), ""), (.ended(1), "gone for 7+9"),
        ])
        // Also of a load that fails.
        try run([
            (.take("1", 1), "waits, load 1 as 1"), (.watch("1", 7), ""), (.failed(1), "1 fails for 1, gone for 7"),
        ])
    }

    @Test func whatIsExactlyTheBudgetFits() throws {
        try run(
            budget: 20,
            [
                (.take("1", 1), "waits, load 1 as 1"), (.loaded(1), "1 for 1"), (.giveBack(1), ""),
                (.take("2", 2), "waits, load 2 as 2"), (.loaded(2), "2 for 2"), (.giveBack(2), ""),
                (.take("1", 3), "has 1"),
            ])
    }

    /// Before the load there is an estimate, after it the engine's own word.
    @Test func whatAnEngineReallyTakesCounts() throws {
        try run(
            budget: 25,
            [
                (.take("1", 1), "waits, load 1 as 1"), (.loaded(1, bytes: 20), "1 for 1"), (.giveBack(1), ""),
                (.take("2", 2), "waits, unload 1"),
            ])
    }

    @Test func roomIsGivenInTheOrderOfAsking() throws {
        try run(
            budget: 10,
            [
                (.take("1", 1), "waits, load 1 as 1"), (.loaded(1), "1 for 1"), (.giveBack(1), ""),
                (.take("3", 2), "waits, unload 1"), (.take("2", 3), "waits"),
                (.ended(1), "load 3 as 2, load 2 as 3"),
            ])
    }

    /// The one in use is the last one used, so an idle one beside it goes.
    @Test func takingIsUsing() throws {
        try run(
            budget: 15,
            [
                (.take("1", 1), "waits, load 1 as 1"), (.loaded(1), "1 for 1"),
                (.take("2", 2), "waits, load 2 as 2"), (.loaded(2), "2 for 2"), (.giveBack(2), ""),
                (.take("1", 3), "has 1"), (.retire("3"), ""), (.retire("1"), "unload 2"),
            ])
    }

    /// What has room begins, though something else is still on its way out.
    @Test func whatFitsDoesNotWait() throws {
        let idle = (1...4).flatMap { number -> [(Step, String)] in
            [
                (.take("\(number)", UInt64(number)), "waits, load \(number) as \(number)"),
                (.loaded(UInt64(number)), "\(number) for \(number)"), (.giveBack(UInt64(number)), ""),
            ]
        }
        try run(
            budget: 40,
            idle + [
                (.take("5", 5, bytes: 20), "waits, unload 1, unload 2"), (.retire("3"), "unload 3"), (.ended(1), ""),
                (.ended(2), "load 5 as 5"),
            ])
    }

    @Test func whatIsBeingLoadedTakesRoomToo() throws {
        try run(
            budget: 25,
            [
                (.take("1", 1), "waits, load 1 as 1"), (.loaded(1), "1 for 1"), (.giveBack(1), ""),
                (.take("2", 2), "waits, load 2 as 2"), (.take("3", 3), "waits, unload 1"),
            ])
    }

    @Test func everyLeaseCountsOnce() throws {
        try run([
            (.take("1", 1), "waits, load 1 as 1"), (.take("1", 2), "waits"), (.loaded(1), "1 for 1+2"),
            (.giveBack(1), ""), (.retire("1"), ""), (.giveBack(1), "unload 1"),
        ])
        // One that was given back twice.
        try run([
            (.take("1", 1), "waits, load 1 as 1"), (.loaded(1), "1 for 1"),
            (.giveBack(1), ""), (.giveBack(1), ""), (.retire("1"), "unload 1"),
        ])
    }
}
