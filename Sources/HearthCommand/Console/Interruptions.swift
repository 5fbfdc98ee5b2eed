import Foundation
import HearthBase

/// Turns signals that ask the program to end into calls.
///
/// SIGTERM cancels the running command, and so does SIGHUP without a handler. SIGINT goes to the newest handler: an interactive chat uses
/// it to stop one answer. A second signal a while after the first ends the process at once: the user repeats a signal
/// to avoid waiting.
final class Interruptions: Sendable {
    /// The kind of signal.
    enum Signal: Sendable, Hashable { case interrupt, terminate, hangUp }

    private struct State {
        var cancel: (@Sendable () -> Void)?
        var handlers: [Signal: @Sendable () -> Void] = [:]
        /// The time since the first signal that ends the command.
        var ending: Stopwatch?
    }

    /// Signals within this time count as one: a terminal, a shell and `timeout` may each forward the same signal.
    static let together = Duration.milliseconds(500)

    private let state = Locked(State())
    private let time: TimeSource

    init(time: TimeSource = .system) { self.time = time }

    /// Handles the process's signals. SIGHUP stays ignored in a process started by `nohup`.
    func listen() {
        signal(SIGPIPE, SIG_IGN)
        Signals.handle(SIGINT) { self.deliver(.interrupt) }
        Signals.handle(SIGTERM) { self.deliver(.terminate) }
        Signals.handle(SIGHUP, evenIfIgnored: false) { self.deliver(.hangUp) }
    }

    /// Handles a signal.
    func deliver(_ signal: Signal) {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            if let handler = state.handlers[signal] { return handler }
            if let ending = state.ending {
                if ending.elapsed < Self.together { return nil }
                return {
                    DescriptorTerminal.giveBackAtTheEnd()
                    _exit(130)
                }
            }
            state.ending = time.stopwatch()
            return state.cancel
        }
        action?()
    }

    /// Runs the command; a signal cancels it.
    func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let task = Task { try await body() }
        let isEnding = state.withLock { state in
            state.cancel = { task.cancel() }
            return state.ending != nil
        }
        if isEnding { task.cancel() }
        try await task.value
    }

    /// Calls `handler` for a signal, which is not the end then, while `body` runs.
    func handling<Result>(
        _ signal: Signal, with handler: @escaping @Sendable () -> Void, _ body: () async throws -> Result
    ) async rethrows -> Result {
        state.withLock { $0.handlers[signal] = handler }
        defer { state.withLock { $0.handlers[signal] = nil } }
        return try await body()
    }
}

/// Waits until the task is cancelled.
func untilCancelled() async {
    let (never, source) = AsyncStream<Never>.makeStream()
    for await _ in never {}
    source.finish()
}
