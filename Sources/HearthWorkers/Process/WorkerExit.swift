import Foundation

/// The end of a worker.
package struct WorkerExit: Sendable, Hashable {
    package enum Reason: Sendable, Hashable {
        /// The worker ended itself with this status.
        case status(Int32)
        /// This signal ended it: `SIGABRT` for a failed assertion, `SIGSYS` for a refused system call.
        case signal(Int32)
        /// The system did not report how it ended.
        case unknown
    }

    package let reason: Reason
    /// Whether the kernel ended the worker for lack of memory: `SIGKILL` that this process did not send, while the
    /// machine's count of such ends rose.
    package let isOutOfMemory: Bool
    /// The end of what the worker wrote to its standard error, at most 4 KB, without control characters. A hostile worker
    /// chooses its words.
    package let errorText: String

    /// Whether the worker itself is the reason, or the memory that it used.
    package var isOwnDoing: Bool { reason != .signal(SIGKILL) || isOutOfMemory }

    init(waitStatus: Int32?, isOutOfMemory: Bool, errorText: String) {
        // WIFSIGNALED and the others are macros that Swift does not import.
        reason =
            switch waitStatus {
            case nil: .unknown
            case let status? where status & 0x7F == 0: .status(status >> 8 & 0xFF)
            case let status?: .signal(status & 0x7F)
            }
        self.isOutOfMemory = isOutOfMemory && reason == .signal(SIGKILL)
        self.errorText = errorText
    }
}
