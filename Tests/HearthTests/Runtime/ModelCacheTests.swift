import HearthBase
import HearthCatalog
import HearthDelivery
import HearthStore
import HearthTestSupport
import HearthTransfer
import Testing

@testable import Hearth

/// Engines are loaded once, kept while they are of use, and given up when memory gets short.
@Suite(.timeLimit(.minutes(10))) struct ModelCacheTests {
    private let engines = TrackedEngines()

    private func release(_ version: Int) throws -> ReleaseIdentity { try TrackedEngines.release("\(version).0.0") }

    @Test func manyAskAndOneLoads() async throws {
        let one = try release(1)
        let cache = engines.makeCache()
        let gate = engines.hold(one)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await cache.lease(one, bytes: 10).engine.number } }
            gate.finish()
            for try await number in group { #expect(number == 1) }
        }
        #expect(engines.now.loads == 1)
    }

    @Test func aFailureIsEverybodysAndTheNextOneTriesAgain() async throws {
        let one = try release(1)
        let cache = engines.makeCache()
        engines.fail(one)
        #expect(await code { try await cache.lease(one, bytes: 10) } == "release-damaged")
        engines.fail(one, false)
        #expect(try await cache.lease(one, bytes: 10).engine.use() == one)
    }

    @Test func theLastOneOutCancelsTheLoad() async throws {
        let one = try release(1)
        let cache = engines.makeCache()
        let gate = engines.hold(one)
        let callers = (0..<3).map { _ in Task { try await cache.lease(one, bytes: 10) } }
        for caller in callers { caller.cancel() }
        for caller in callers { await #expect(throws: CancellationError.self) { try await caller.value } }
        // The gate is still shut: the load ended by its cancellation.
        try await cache.drop(one)
        #expect(engines.now.loads == 0)
        gate.finish()
        #expect(try await cache.lease(one, bytes: 10).engine.use() == one)
    }

    @Test func whoNoLongerWantsItGoneLeavesItThere() async throws {
        let one = try release(1)
        let cache = engines.makeCache()
        let lease = try await cache.lease(one, bytes: 10)
        let dropping = Task { try await cache.drop(one) }
        // Time enough to begin to wait for the lease's end; cancelled before that, it would not have asked at all.
        for _ in 0..<1000 { await Task.yield() }
        dropping.cancel()
        await #expect(throws: CancellationError.self) { try await dropping.value }
        lease.end()
        #expect(cache.loaded == [one])
        try await cache.drop(one)
        #expect(engines.now.loads == 1 && engines.now.unloads == 1)
    }

    @Test func whoTakesItMeanwhileDoesNotKeepItForEver() async throws {
        let one = try release(1)
        let cache = engines.makeCache()
        let first = try await cache.lease(one, bytes: 10)
        let dropping = Task { try await cache.drop(one) }
        // Time enough to begin to wait for the lease's end.
        for _ in 0..<1000 { await Task.yield() }
        let second = try await cache.lease(one, bytes: 10)
        first.end()
        #expect(second.engine.use() == one)
        second.end()
        try await dropping.value
        #expect(engines.now.loads == 1 && engines.now.unloads == 1 && engines.now.usesAfterEnd == 0)
    }

    @Test func idleOnesStayWithinTheBudget() async throws {
        let cache = engines.makeCache(budget: 25)
        for number in 1...3 { try await cache.lease(try release(number), bytes: 10).end() }
        #expect(cache.usedBytes <= 25)
        #expect(cache.loaded == [try release(2), try release(3)])
        #expect(cache.freeBytes == 5)
    }

    @Test func memoryPressureTakesIdleOnesAndNoOther() async throws {
        let source = ScriptedMemory()
        let cache = engines.makeCache()
        let held = try await cache.lease(try release(1), bytes: 10)
        for number in 2...4 { try await cache.lease(try release(number), bytes: 10).end() }
        #expect(await cache.relieve(source) == .seconds(2))
        #expect(cache.loaded.count == 4, "there is enough")

        source.reading.withLock { $0 = MemoryReading(availableBytes: 85, totalBytes: 1000) }
        _ = await cache.relieve(source)
        #expect(cache.loaded == [try release(1), try release(4)], "15 bytes are wanted: the two longest unused")

        source.reading.withLock { $0 = MemoryReading(availableBytes: 0, totalBytes: 1000, stalledShare: 0.5) }
        _ = await cache.relieve(source)
        #expect(cache.loaded == [try release(1)], "one in use stays, however short memory is")
        #expect(held.engine.use() == (try release(1)))
    }

    @Test func aDroppedCacheGivesItsEnginesBack() async throws {
        var cache: ModelCache? = engines.makeCache()
        try await cache?.lease(try release(1), bytes: 10).end()
        cache = nil
        while engines.now.unloads == 0 { await Task.yield() }
        #expect(engines.now.secondUnloads == 0)
    }

    @Test(
        arguments: [
            (nil, nil, nil, 0), (100, 1000, 0, 0), (99, 1000, 0, 1), (0, 1000, 0.09, 100), (1000, 1000, 0.1, .max),
            (nil, 1000, 0, 0), (50, nil, nil, 0), (.max, .max, nil, 0),
        ] as [(UInt64?, UInt64?, Double?, UInt64)])
    func howMuchIsShort(_ available: UInt64?, _ total: UInt64?, _ stalled: Double?, _ shortage: UInt64) {
        let reading = MemoryReading(availableBytes: available, totalBytes: total, stalledShare: stalled)
        #expect(reading.shortage == shortage)
    }

    private func read(_ files: [String: String]) -> MemoryReading { SystemMemoryPressure { files[$0] }.read() }

    @Test func readsWhatLinuxSays() {
        let machine = [
            "/proc/meminfo": "MemTotal:        1000 kB\nMemFree: 5 kB\nMemAvailable:    400 kB\n",
            "/proc/pressure/memory": "some avg10=12.50 avg60=0.00 avg300=0.00 total=1\nfull avg10=1.00 total=0\n",
        ]
        #expect(
            read(machine)
                == MemoryReading(availableBytes: 400 << 10, totalBytes: 1000 << 10, stalledShare: 0.125))
        var group = machine
        group["/proc/self/cgroup"] = "0::/app\n"
        group["/sys/fs/cgroup/app/memory.max"] = "\(500 << 10)\n"
        group["/sys/fs/cgroup/app/memory.current"] = "\(450 << 10)\n"
        group["/sys/fs/cgroup/app/memory.stat"] = "anon 1\ninactive_file \(100 << 10)\n"
        #expect(
            read(group)
                == MemoryReading(availableBytes: 150 << 10, totalBytes: 500 << 10, stalledShare: 0.125))
        group["/sys/fs/cgroup/app/memory.current"] = "99999999999"
        #expect(read(group).availableBytes == 0)
        // A system that says nothing, or nonsense, has no shortage.
        #expect(SystemMemoryPressure { _ in nil }.read() == MemoryReading())
        for text in ["", "some", "some avg10=", "some avg10=nan", "some avg10=1e9", "MemAvailable: -1 kB"] {
            let reading = SystemMemoryPressure { _ in text }.read()
            #expect(reading.shortage == 0 && reading.stalledShare == nil)
        }
        #expect(SystemMemoryPressure.available() != nil, "this machine says it")
    }
}

/// Memory as a test wants it.
final class ScriptedMemory: MemoryPressureSource {
    let reading = Locked(MemoryReading(availableBytes: 1000, totalBytes: 1000, stalledShare: 0))
    func read() -> MemoryReading { reading.withLock { $0 } }
}
