import Foundation

/// A value with a mutual-exclusion lock, for critical sections of a few instructions.
///
/// Built on `pthread_mutex_t`, which the thread sanitizer understands. It does not see the futex calls of
/// `Synchronization.Mutex` and would report races that do not exist.
package final class Locked<State>: @unchecked Sendable {
    // Used only while `mutex` is locked.
    private var state: State
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// Guards `state`.
    package init(_ state: sending State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
    }

    /// Runs `body` with the lock held. The body must not call foreign code or take another lock.
    package func withLock<Result: Sendable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }
}
