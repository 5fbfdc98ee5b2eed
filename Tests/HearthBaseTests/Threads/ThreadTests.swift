import Dispatch
import Foundation
import HearthTestSupport
import Testing

@testable import HearthBase

private actor Worker {
    private let executor: ThreadExecutor
    private let onEnd: @Sendable () -> Void
    private var count = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    nonisolated var isOnItsThread: Bool { executor.isIsolatingCurrentContext() == true }

    init(onEnd: @escaping @Sendable () -> Void = {}) {
        executor = ThreadExecutor(name: "test.executor")
        self.onEnd = onEnd
    }

    deinit { onEnd() }

    func work() -> (thread: UInt, isOnItsThread: Bool, isMain: Bool) {
        count += 1
        preconditionIsolated()
        return (UInt(pthread_self()), isOnItsThread, Thread.isMainThread)
    }

    func total() -> Int { count }
    func threadName() -> String { ThreadName.current }
    nonisolated func assumedTotal() -> Int { assumeIsolated { $0.count } }
    func totalByAssumption() -> Int { assumedTotal() }
}

struct ThreadExecutorTests {
    @Test func runsEveryJobOnItsOneThread() async {
        let worker = Worker()
        let places = await withTaskGroup(of: (UInt, Bool, Bool).self) { group in
            for _ in 0..<500 { group.addTask { await worker.work() } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(places.map(\.0)).count == 1)
        #expect(places.allSatisfy { $0.1 && !$0.2 })
        #expect(await worker.total() == 500)
        #expect(await worker.totalByAssumption() == 500)
        #expect(!worker.isOnItsThread)
        #expect(await worker.threadName() == "test.executor")
        let other = Worker()
        #expect(await other.work().thread != places.first?.0)
    }

    /// The last reference goes away while a job runs or right after: on the executor's own thread.
    @Test(.timeLimit(.minutes(10))) func mayBeReleasedByItsOwnLastJob() async {
        for _ in 0..<300 {
            await withCheckedContinuation { continuation in
                let worker = Worker { continuation.resume() }
                Task { await worker.work() }
                Task { await worker.total() }
            }
        }
    }
}

struct ThreadNameTests {
    @Test func keepsWhatTheSystemTakes() async throws {
        let kept = ["test.thread": "test.thread", "a name of many characters": "a name of many ", "": ""]
        for (name, kept) in kept {
            let seen = await blocking {
                let before = ThreadName.current
                defer { ThreadName.current = before }
                ThreadName.current = name
                return ThreadName.current
            }
            #if os(Linux)
            #expect(seen == kept)
            #else
            #expect(seen == name)
            #endif
        }
    }
}

struct BlockingTests {
    @Test func runsOutsideThePoolAndHandsOnErrors() async throws {
        let name = await blocking { ThreadName.current }
        #expect(name == "hearth.blocking")
        await #expect(throws: CancellationError.self) { try await blocking { throw CancellationError() } }
    }

    /// Far more blocked bodies than processors, and the tasks of the process still run.
    @Test(.timeLimit(.minutes(10))) func blockedBodiesStallNoTask() async {
        let count = 100
        // Of the test's own: the shared one is left to the tests beside this one.
        let pool = BlockingPool(maximumThreads: count, idleSeconds: 10)
        let gate = DispatchSemaphore(value: 0)
        let (started, report) = AsyncStream.makeStream(of: Void.self)
        let elapsed = await ContinuousClock().measure {
            for _ in 0..<count {
                pool.run {
                    report.yield()
                    gate.wait()
                }
            }
            var iterator = started.makeAsyncIterator()
            for _ in 0..<count { await iterator.next() }
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<100 { group.addTask { await Task.yield() } }
            }
        }
        for _ in 0..<count { gate.signal() }
        // Where blocking bodies took threads of the tasks, this took a second for each of them.
        #expect(elapsed < .seconds(60))
    }

    @Test(.timeLimit(.minutes(10))) func thePoolHasNoMoreThreadsThanItMay() async {
        let pool = BlockingPool(maximumThreads: 3, idleSeconds: 10)
        let running = Locked((now: 0, most: 0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        pool.run {
                            running.withLock {
                                $0.now += 1
                                $0.most = max($0.most, $0.now)
                            }
                            sched_yield()
                            running.withLock { $0.now -= 1 }
                            continuation.resume()
                        }
                    }
                }
            }
        }
        #expect(running.withLock { (1...3).contains($0.most) && $0.now == 0 })
        // None, if the machine is so slow that the idle ones have gone home already.
        #expect((0...3).contains(pool.threadCount))
    }
}

struct LockedTests {
    private struct Refusal: Error {}

    @Test func countsFromManyThreads() async {
        let count = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<16 { group.addTask { for _ in 0..<5000 { count.withLock { $0 += 1 } } } }
        }
        #expect(count.withLock { $0 } == 80_000)
    }

    @Test func isFreeAfterAnError() {
        let value = Locked([1])
        #expect(throws: Refusal.self) {
            try value.withLock { state throws(Refusal) in
                state.append(2)
                throw Refusal()
            }
        }
        #expect(value.withLock { $0 } == [1, 2])
    }
}
