import Foundation

/// Runs tasks on threads that may block, so that tests may use plain sockets without taking the shared pool away
/// from other tests.
final class BlockingExecutor: TaskExecutor {
    private static let shared = BlockingExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // A thread each, and no dispatch queue: its threads come from that shared pool on Linux.
        Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Runs `body` there.
    static func run(_ body: @Sendable () async throws -> Void) async throws {
        try await withTaskExecutorPreference(shared) { try await body() }
    }
}
