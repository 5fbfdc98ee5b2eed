import Foundation
import HearthBase

/// The signals that ask the program to end, turned into calls.
///
/// SIGTERM and hang-up always cancel the running command. SIGINT goes to the newest handler: an interactive chat takes it
/// to stop one answer. Another signal some time after the first ends the process at once: whoever repeats it does not want
/// to wait for an orderly end.
final class Interruptions: Sendable {
    /// What arrived.
    enum Signal: Sendable, Hashable { case interrupt, terminate }

    private struct State {
        var cancel: (@Sendable () -> Void)?
        var interruptHandler: (@Sendable () -> Void)?
        /// Runs since the first signal that ends the command.
        var ending: Stopwatch?
    }

    /// Signals that come together are one: a terminal, a shell and `timeout` may each pass the same one on.
    static let together = Duration.milliseconds(500)

    private let state = Locked(State())
    private let time: TimeSource

    init(time: TimeSource = .system) { self.time = time }

    /// Takes over the process's signals. SIGHUP stays ignored for a process started by `nohup`.
    func listen() {
        signal(SIGPIPE, SIG_IGN)
        Signals.handle(SIGINT) { self.deliver(.interrupt) }
        Signals.handle(SIGTERM) { self.deliver(.terminate) }
        Signals.handle(SIGHUP, evenIfIgnored: false) { self.deliver(.terminate) }
    }

    /// Does what a signal asks for.
    func deliver(_ signal: Signal) {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            if signal == .interrupt, let handler = state.interruptHandler { return handler }
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

    /// Gives SIGINT to `handler` while `body` runs.
    func handlingInterrupts<Result>(
        with handler: @escaping @Sendable () -> Void, _ body: () async throws -> Result
    ) async rethrows -> Result {
        state.withLock { $0.interruptHandler = handler }
        defer { state.withLock { $0.interruptHandler = nil } }
        return try await body()
    }
}
