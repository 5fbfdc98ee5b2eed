import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@testable import Hearth

/// Versions change places under those who use them.
@Suite(.timeLimit(.minutes(10))) struct ActiveModelTests {
    private let engines = TrackedEngines()

    private func release(_ version: Int) throws -> ReleaseIdentity { try TrackedEngines.release("\(version).0.0") }

    /// Room for both, or not.
    private func model(live: ReleaseIdentity?, free: UInt64 = .max) -> ActiveModel<TrackedEngines.Engine> {
        ActiveModel(cache: engines.makeCache(), live: live, bytes: 10) { free }
    }

    private func settled(_ model: ActiveModel<TrackedEngines.Engine>) async throws {
        // Also what nobody waits for any more and is still on its way in.
        repeat {
            for release in model.cache.loaded { try await model.cache.drop(release) }
            await Task.yield()
        } while model.cache.usedBytes > 0
    }

    @Test func nothingIsLoadedBeforeSomebodyAsks() async throws {
        let one = try release(1)
        let model = model(live: one)
        #expect(engines.now.loads == 0)
        let lease = try await model.lease()
        #expect(lease.release == one && lease.engine.use() == one)
        lease.end()
        lease.end()
        #expect(model.cache.loaded == [one], "an idle engine stays for the next one")
        let empty = self.model(live: nil)
        #expect(await code { try await empty.lease() } == "no-active-release")
    }

    @Test func whoIsUnderWayFinishesOnTheOldOne() async throws {
        let (one, two) = (try release(1), try release(2))
        let model = model(live: one)
        let old = try await model.lease()
        #expect(try await model.swap(to: two, bytes: 10) == .swapped)
        #expect(try await model.swap(to: two, bytes: 10) == .unchanged)
        let new = try await model.lease()
        #expect(new.engine.use() == two && old.engine.use() == one)
        #expect(engines.now.unloads == 0, "the old one is in use")
        old.end()
        try await model.cache.drop(one)
        #expect(engines.now.unloads == 1 && model.cache.loaded == [two])
        #expect(new.engine.use() == two)
    }

    @Test func whereMemoryIsShortTheOldOneGoesFirst() async throws {
        let (one, two) = (try release(1), try release(2))
        let model = model(live: one, free: 10)
        let old = try await model.lease()
        let swap = Task { try await model.swap(to: two, bytes: 10) }
        // The swap waits for the lease; whoever comes now waits for the swap.
        while await model.isSwapping == false { await Task.yield() }
        let late = Task { try await model.lease() }
        while await model.waitingCount == 0 { await Task.yield() }
        #expect(engines.now.loads == 1)
        #expect(old.engine.use() == one)
        old.end()
        #expect(try await swap.value == .swapped)
        let lease = try await late.value
        #expect(lease.engine.use() == two)
        #expect(engines.now.mostLoaded == 1, "never both at once")
    }

    @Test(arguments: [UInt64.max, 10]) func aLoadThatFailsLeavesTheOldOneServing(free: UInt64) async throws {
        let (one, two) = (try release(1), try release(2))
        let model = model(live: one, free: free)
        let before = try await model.lease()
        before.end()
        engines.fail(two)
        #expect(await code { try await model.swap(to: two, bytes: 10) } == "release-damaged")
        #expect(await model.live == one)
        let lease = try await model.lease()
        #expect(lease.engine.use() == one)
        #expect(engines.now.mostLoaded == 1)
        engines.fail(two, false)
        lease.end()
        #expect(try await model.swap(to: two, bytes: 10) == .swapped)
    }

    @Test func neitherCanBeLoaded() async throws {
        let (one, two) = (try release(1), try release(2))
        let model = model(live: one, free: 10)
        try await model.lease().end()
        engines.fail(one)
        engines.fail(two)
        #expect(await code { try await model.swap(to: two, bytes: 10) } == "release-damaged")
        #expect(await code { try await model.lease() } == "release-damaged")
        engines.fail(one, false)
        #expect(try await model.lease().engine.use() == one, "nothing is lost: the next one who asks has it")
    }

    @Test func aCancelledCallerLeavesTheOthers() async throws {
        let (one, two) = (try release(1), try release(2))
        let model = model(live: one, free: 10)
        let old = try await model.lease()
        let swap = Task { try await model.swap(to: two, bytes: 10) }
        while await model.isSwapping == false { await Task.yield() }
        let callers = (0..<5).map { _ in Task { try await model.lease() } }
        while await model.waitingCount < 5 { await Task.yield() }
        callers[2].cancel()
        await #expect(throws: CancellationError.self) { try await callers[2].value }
        old.end()
        _ = try await swap.value
        for index in [0, 1, 3, 4] { #expect(try await callers[index].value.engine.use() == two) }
    }

    @Test(arguments: [UInt64.max, 10]) func aCancelledSwapLeavesTheOldOneServing(free: UInt64) async throws {
        let (one, two) = (try release(1), try release(2))
        let model = model(live: one, free: free)
        try await model.lease().end()
        let gate = engines.hold(two)
        let swap = Task { try await model.swap(to: two, bytes: 10) }
        while await model.isSwapping == false { await Task.yield() }
        swap.cancel()
        await #expect(throws: CancellationError.self) { try await swap.value }
        gate.finish()
        #expect(await model.live == one)
        #expect(try await model.lease().engine.use() == one)
        #expect(try await model.swap(to: two, bytes: 10) == .swapped)
    }

    @Test func ofThoseThatWaitTheNewestIsNext() async throws {
        let releases = try (1...4).map(release)
        let model = model(live: releases[0])
        let gate = engines.hold(releases[1])
        let first = Task { try await model.swap(to: releases[1], bytes: 10) }
        while await model.isSwapping == false { await Task.yield() }
        let second = Task { try await model.swap(to: releases[2], bytes: 10) }
        while await model.nextTarget != releases[2] { await Task.yield() }
        let third = Task { try await model.swap(to: releases[3], bytes: 10) }
        #expect(try await second.value == .superseded)
        gate.finish()
        #expect(try await first.value == .swapped)
        #expect(try await third.value == .swapped)
        #expect(await model.live == releases[3])
    }

    /// Swaps under eight tasks that take leases all the time, 10,000 in full: every engine is unloaded once, none is used after that, and what
    /// a lease names is what it holds.
    @Test(arguments: [UInt64.max, 10]) func manySwapsUnderLeases(free: UInt64) async throws {
        let swaps = TestExtent.isFull ? 10_000 : 500
        let releases = try (1...5).map(release)
        let model = model(live: releases[0], free: free)
        let engines = engines
        let done = Locked(false)
        let leases = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(number))
                    var round = 0
                    while !done.withLock({ $0 }) {
                        round += 1
                        // Some give up before they have an answer.
                        if round % 17 == 0 {
                            let task = Task { try await model.lease() }
                            task.cancel()
                            if case .success(let lease) = await task.result { _ = lease.engine.use() }
                            continue
                        }
                        let lease = try await model.lease()
                        #expect(lease.engine.use() == lease.release)
                        for _ in 0..<Int.random(in: 0...2, using: &random) { await Task.yield() }
                        #expect(lease.engine.use() == lease.release)
                        // Some end it themselves, others let go of it.
                        if round % 2 == 0 { lease.end() }
                        leases.withLock { $0 += 1 }
                    }
                }
            }
            group.addTask {
                defer { done.withLock { $0 = true } }
                for number in 1...swaps {
                    let outcome = try await model.swap(to: releases[number % releases.count], bytes: 10)
                    #expect(outcome == .swapped)
                }
            }
            try await group.waitForAll()
        }
        try await settled(model)
        let counts = engines.now
        #expect(counts.usesAfterEnd == 0)
        #expect(counts.secondUnloads == 0)
        #expect(counts.loads == counts.unloads)
        // One that comes back before it has gone is not loaded again.
        #expect(counts.loads > swaps / 2)
        #expect(leases.withLock { $0 } > swaps / 10)
        if free == 10 { #expect(counts.mostLoaded == 1) }
        print(
            "10,000 swaps: \(counts.loads) loads, \(leases.withLock { $0 }) leases, at most \(counts.mostLoaded) loaded"
        )
    }
}

extension ActiveModel {
    var isSwapping: Bool { swapState.running != nil }
    var waitingCount: Int { swapState.waiting.count }
    var nextTarget: ReleaseIdentity? { swapState.next?.target }
}
