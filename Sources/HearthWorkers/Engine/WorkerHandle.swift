/// How a worker's process ended.
package struct WorkerEnding: Sendable, Hashable {
    /// In words: the signal or status.
    package var reason: String
    /// The end of what it wrote to its standard error; empty if it wrote nothing.
    package var lastWords: String
    /// Whether the system ended it for want of memory.
    package var isOutOfMemory: Bool
    /// Whether the worker itself, or what it used, is the reason: not the signal of another process.
    package var isOwnDoing: Bool

    package init(
        reason: String, lastWords: String = "", isOutOfMemory: Bool = false, isOwnDoing: Bool = true
    ) {
        self.isOwnDoing = isOwnDoing
        self.reason = reason
        self.lastWords = lastWords
        self.isOutOfMemory = isOutOfMemory
    }
}

/// A started worker: its channel and its process.
package protocol WorkerHandle: Sendable {
    var channel: FrameChannel { get }
    /// The number of the process.
    var process: Int32 { get }
    /// Ends the process at once.
    func kill()
    /// Ends what is left of a process whose channel has ended.
    func reap()
    /// Returns when the process has ended.
    func ending() async -> WorkerEnding
}
