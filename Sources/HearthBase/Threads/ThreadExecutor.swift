import Dispatch
import Foundation

/// A serial executor that owns one thread, for an actor's blocking C calls outside the cooperative pool.
///
/// ```swift
/// actor Engine {
///     private let executor = ThreadExecutor(name: "hearth.llama")
///     nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
/// }
/// ```
/// A waiting or running job keeps the executor in memory. The thread ends after the executor is released, which can
/// happen in its own last job.
package final class ThreadExecutor: SerialExecutor {
    private let queue: JobQueue
    private let name: String

    /// Starts the thread; debuggers show `name` (the first 15 bytes on Linux).
    package init(name: String, stackSize: Int = 8 << 20) {
        self.name = name
        let queue = JobQueue()
        self.queue = queue
        let thread = Thread {
            ThreadName.current = name
            queue.run()
        }
        thread.stackSize = stackSize
        thread.start()
    }

    deinit { queue.close() }

    package func enqueue(_ job: consuming ExecutorJob) { queue.push(UnownedJob(job), executor: self) }

    /// Whether further jobs wait while one runs: a long job should then end, and enqueue its rest behind them.
    package var hasWaitingJobs: Bool { queue.hasJobs }

    package func checkIsolated() {
        precondition(queue.isCurrent, "\(name): called from another thread")
    }

    package func isIsolatingCurrentContext() -> Bool? { queue.isCurrent }
}

/// The waiting jobs of the thread.
private final class JobQueue: Sendable {
    private struct State {
        /// With the executor, held strongly: the runtime's own reference is unowned, and the actor that owns the executor
        /// may be released while its last job runs.
        var jobs: [(job: UnownedJob, executor: ThreadExecutor)] = []
        var isClosed = false
        var owner: pthread_t?
    }

    private let state = Locked(State())
    private let wakeUps = DispatchSemaphore(value: 0)

    var isCurrent: Bool {
        state.withLock { state in state.owner.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    var hasJobs: Bool { state.withLock { !$0.jobs.isEmpty } }

    func push(_ job: UnownedJob, executor: ThreadExecutor) {
        state.withLock { $0.jobs.append((job, executor)) }
        wakeUps.signal()
    }

    func close() {
        state.withLock { $0.isClosed = true }
        wakeUps.signal()
    }

    func run() {
        state.withLock { $0.owner = pthread_self() }
        while !hasEnded() {
            wakeUps.wait()
            #if canImport(ObjectiveC)
            autoreleasepool { runNext() }
            #else
            runNext()
            #endif
        }
    }

    /// Runs one job; ``hasJobs`` includes the jobs that wait during it.
    private func runNext() {
        let next = state.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
        guard let next else { return }
        next.job.runSynchronously(on: next.executor.asUnownedSerialExecutor())
    }

    private func hasEnded() -> Bool {
        state.withLock { state in
            guard state.isClosed && state.jobs.isEmpty else { return false }
            // The system may give the identifier of an ended thread to a new one.
            state.owner = nil
            return true
        }
    }
}
