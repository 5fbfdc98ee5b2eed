#if Server
    import Dispatch

    /// Runs tasks on threads that may block, so that tests may use plain sockets without taking the shared pool away
    /// from everybody else.
    final class BlockingExecutor: TaskExecutor {
        private static let shared = BlockingExecutor()
        private let queue = DispatchQueue(label: "hearth.tests.blocking", attributes: .concurrent)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }

        /// Runs `body` there.
        static func run(_ body: @Sendable () async throws -> Void) async throws {
            try await withTaskExecutorPreference(shared) { try await body() }
        }
    }
#endif
