import Foundation

/// Runs `body`, which may block in a system call, on a thread outside the cooperative pool.
///
/// The body is not interrupted when the calling task is cancelled: it must be short or check a flag. At most 64 bodies
/// run at once; further ones wait.
/// - Throws: errors of `body`.
package func blocking<Result: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Result
) async throws(Failure) -> Result {
    // The result is passed through a lock, which the thread sanitizer understands; it does not always see what a
    // continuation passes.
    let result = Locked<Swift.Result<Result, Failure>?>(nil)
    await withCheckedContinuation { continuation in
        BlockingPool.shared.run {
            let made = Swift.Result(catching: body)
            result.withLock { $0 = made }
            continuation.resume()
        }
    }
    guard let made = result.withLock({ $0 }) else { preconditionFailure("a body ended without a result") }
    return try made.get()
}

/// Threads for blocking bodies. Idle threads are kept for some time.
///
/// Not a dispatch queue: on Linux its threads and those of Swift's own tasks come from one pool that needs a second to
/// notice each blocked thread. So four blocked bodies on two cores would stop every task of the process for two
/// seconds.
final class BlockingPool: Sendable {
    static let shared = BlockingPool(maximumThreads: 64, idleSeconds: 10)

    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var idle = 0
        var threads = 0
    }

    // `NSCondition` and not `Locked`, because idle threads wait on it. The state is used only while it is locked.
    private let condition = NSCondition()
    private nonisolated(unsafe) var state = State()
    private let maximumThreads: Int
    private let idleSeconds: TimeInterval

    init(maximumThreads: Int, idleSeconds: TimeInterval) {
        self.maximumThreads = maximumThreads
        self.idleSeconds = idleSeconds
    }

    /// The number of threads.
    var threadCount: Int {
        condition.lock()
        defer { condition.unlock() }
        return state.threads
    }

    func run(_ body: @escaping @Sendable () -> Void) {
        condition.lock()
        defer { condition.unlock() }
        state.waiting.append(body)
        // An idle thread that was signalled but has not woken up still counts as idle, hence the comparison.
        if state.idle >= state.waiting.count {
            condition.signal()
        } else if state.threads < maximumThreads {
            state.threads += 1
            Thread { self.work() }.start()
        }
    }

    private func work() {
        ThreadName.current = "hearth.blocking"
        condition.lock()
        while true {
            if !state.waiting.isEmpty {
                let body = state.waiting.removeFirst()
                condition.unlock()
                body()
                condition.lock()
                continue
            }
            state.idle += 1
            let isSignalled = condition.wait(until: Date(timeIntervalSinceNow: idleSeconds))
            state.idle -= 1
            if !isSignalled && state.waiting.isEmpty { break }
        }
        state.threads -= 1
        condition.unlock()
    }
}
