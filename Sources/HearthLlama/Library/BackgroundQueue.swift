import Dispatch
import Foundation
import HearthBase

/// Runs jobs one after the other on a background thread, which exists only while there are jobs.
final class BackgroundQueue: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State {
        var jobs: [Job] = []
        var isRunning = false

        mutating func next() -> Job? {
            isRunning = !jobs.isEmpty
            return isRunning ? jobs.removeFirst() : nil
        }
    }

    private let state = Locked(State())

    /// Adds a job, which runs after all earlier jobs.
    func add(_ job: @escaping Job) {
        let starts = state.withLock { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { Thread.detachNewThread { while let job = self.state.withLock({ $0.next() }) { job() } } }
    }

    /// Blocks until all earlier jobs have ended.
    func settle() {
        let ended = DispatchSemaphore(value: 0)
        add { ended.signal() }
        ended.wait()
    }
}
