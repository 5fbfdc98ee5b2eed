import HearthBase
import HearthInference

/// Lets a number of requests through at once; others wait in the order of their arrival.
final class UpstreamSlots: Sendable {
    private struct State {
        var running = 0
        var waiting: [(id: UInt64, continuation: CheckedContinuation<Void, any Error>)] = []
        /// Requests that were cancelled before they waited.
        var cancelled: Set<UInt64> = []
        var lastID: UInt64 = 0
    }

    /// The most requests that wait.
    static let maximumWaiting = 1024

    private let limit: Int
    private let name: String
    private let state = Locked(State())

    /// - Parameters:
    ///   - limit: the requests at once; `nil` for any number.
    ///   - name: the upstream, for messages.
    init(_ limit: Int?, of name: String) {
        self.limit = limit ?? .max
        self.name = name
    }

    /// The requests under way and those that wait.
    var load: (running: Int, waiting: Int) { state.withLock { ($0.running, $0.waiting.count) } }

    /// Waits for a slot. ``giveBack()`` follows.
    /// - Throws: ``LLMError`` with `busy` if too many wait, with `timed-out` after the time; `CancellationError`.
    func take(within limit: Duration, of time: TimeSource) async throws {
        if takeNow() { return }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { [self] in
                try await take()
                return true
            }
            group.addTask {
                try await time.sleep(for: limit)
                return false
            }
            let first = await group.nextResult()
            group.cancelAll()
            let second = await group.nextResult()
            // A slot may come at the moment at which the wait ends.
            // An error is no slot; it is thrown below.
            let hasSlot = [first, second].contains { (try? $0?.get()) == true }
            if hasSlot, !Task.isCancelled { return }
            if hasSlot { giveBack() }
            try Task.checkCancellation()
            _ = try first?.get()
            throw late
        }
    }

    private func takeNow() -> Bool {
        state.withLock { state in
            guard state.running < limit else { return false }
            state.running += 1
            return true
        }
    }

    /// The error of a request that got no slot in its time.
    var late: LLMError {
        LLMError(
            .timedOut, "the upstream \(name) had no room for the request in its time",
            context: ErrorContext(remedy: "Try again later."), disposition: .tryLater)
    }

    /// Waits for a slot. ``giveBack()`` follows.
    /// - Throws: ``LLMError`` with `busy` if too many wait; `CancellationError`.
    func take() async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        defer { _ = state.withLock { $0.cancelled.remove(id) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if let outcome = enter(id, continuation) { continuation.resume(with: outcome) }
            }
        } onCancel: {
            leave(id)?.resume(throwing: CancellationError())
        }
    }

    /// The outcome of a request that does not wait; `nil` for one that does.
    private func enter(
        _ id: UInt64, _ continuation: CheckedContinuation<Void, any Error>
    ) -> Result<Void, any Error>? {
        state.withLock { state in
            if state.cancelled.contains(id) { return .failure(CancellationError()) }
            if state.running < limit {
                state.running += 1
                return .success(())
            }
            guard state.waiting.count < Self.maximumWaiting else { return .failure(full) }
            state.waiting.append((id, continuation))
            return nil
        }
    }

    private func leave(_ id: UInt64) -> CheckedContinuation<Void, any Error>? {
        state.withLock { state in
            guard let place = state.waiting.firstIndex(where: { $0.id == id }) else {
                state.cancelled.insert(id)
                return nil
            }
            return state.waiting.remove(at: place).continuation
        }
    }

    /// Gives the slot to the next request.
    func giveBack() {
        let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard !state.waiting.isEmpty else {
                state.running -= 1
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume()
    }

    private var full: LLMError {
        var context = ErrorContext(remedy: "Try again later.")
        context.retryAfterSeconds = 1
        return LLMError(
            .busy, "\(Self.maximumWaiting) requests wait for the upstream \(name)", context: context,
            disposition: .tryLater)
    }
}
