import Dispatch
import Foundation

/// A serial executor that owns one thread: where an actor's blocking C calls run without occupying the cooperative pool.
///
/// ```swift
/// actor Engine {
///     private let executor = ThreadExecutor(name: "hearth.llama")
///     nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
/// }
/// ```
/// A waiting or running job keeps the executor alive. The thread ends once the executor is released, which may well
/// happen in its own last job.
public final class ThreadExecutor: SerialExecutor {
    private let queue: JobQueue
    private let name: String

    /// Starts the thread; `name` shows in debuggers (the first 15 bytes on Linux).
    public init(name: String, stackSize: Int = 8 << 20) {
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

    public func enqueue(_ job: consuming ExecutorJob) { queue.push(UnownedJob(job), executor: self) }

    public func checkIsolated() {
        precondition(queue.isCurrent, "\(name): called from another thread")
    }

    public func isIsolatingCurrentContext() -> Bool? { queue.isCurrent }
}

/// The jobs waiting for the one thread.
private final class JobQueue: Sendable {
    /// Holds the executor strongly: the runtime's own reference is unowned, and the actor that owns the executor may go
    /// away while its last job is running.
    private struct Entry: Sendable {
        let job: UnownedJob
        let executor: ThreadExecutor
    }

    private struct State {
        var entries: [Entry] = []
        var isClosed = false
        var owner: pthread_t?
    }

    private let state = Locked(State())
    private let wakeUps = DispatchSemaphore(value: 0)

    var isCurrent: Bool {
        state.withLock { state in state.owner.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    func push(_ job: UnownedJob, executor: ThreadExecutor) {
        state.withLock { $0.entries.append(Entry(job: job, executor: executor)) }
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
                autoreleasepool { drain() }
            #else
                drain()
            #endif
        }
    }

    private func drain() {
        let entries = state.withLock { state in
            defer { state.entries = [] }
            return state.entries
        }
        for entry in entries { entry.job.runSynchronously(on: entry.executor.asUnownedSerialExecutor()) }
    }

    private func hasEnded() -> Bool {
        state.withLock { state in
            guard state.isClosed && state.entries.isEmpty else { return false }
            // The system may give the identifier of an ended thread to a new one.
            state.owner = nil
            return true
        }
    }
}
