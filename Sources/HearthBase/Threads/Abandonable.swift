/// Performs `body` in a task of its own. A caller that is cancelled stops waiting for it at once: `body` goes on, in a task that is
/// cancelled, and what comes of it is dropped.
///
/// For waits that nothing can end, such as that for another's thread.
/// - Parameter body: calls ``Abandonment/begin()`` before it does something that its caller has to wait for.
/// - Throws: what `body` throws; `CancellationError`.
package func abandonable<Result: Sendable>(
    _ body: @escaping @Sendable (Abandonment) async throws -> Result
) async throws -> Result {
    try Task.checkCancellation()
    let abandonment = Abandonment()
    let outcome = Outcome<Result>()
    let task = Task {
        do { outcome.settle(.success(try await body(abandonment))) } catch { outcome.settle(.failure(error)) }
    }
    return try await withTaskCancellationHandler {
        try await outcome.value
    } onCancel: {
        task.cancel()
        if abandonment.abandon() { outcome.settle(.failure(CancellationError())) }
    }
}

/// Whether the caller of a piece of work may still leave it alone.
package final class Abandonment: Sendable {
    private enum State { case open, begun, abandoned }

    private let state = Locked(State.open)

    fileprivate init() {}

    /// From now on the caller waits to the end, also when it is cancelled.
    /// - Throws: `CancellationError` when it is gone already; nothing is to be done for it then.
    package func begin() throws {
        let isAbandoned = state.withLock { state in
            if state == .open { state = .begun }
            return state == .abandoned
        }
        if isAbandoned { throw CancellationError() }
    }

    /// - Returns: whether the caller may go.
    fileprivate func abandon() -> Bool {
        state.withLock { state in
            if state == .open { state = .abandoned }
            return state == .abandoned
        }
    }
}

/// What comes of a piece of work: the first that is settled counts. One waits for it.
private final class Outcome<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, any Error>?
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    func settle(_ result: Result<Value, any Error>) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.result == nil else { return nil }
            state.result = result
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    var value: Value {
        get async throws {
            // Through the lock, as in `blocking`.
            await withCheckedContinuation { continuation in
                let isSettled = state.withLock { state in
                    if state.result == nil { state.waiter = continuation }
                    return state.result != nil
                }
                if isSettled { continuation.resume() }
            }
            guard let result = state.withLock({ $0.result }) else { preconditionFailure("nothing came of it") }
            return try result.get()
        }
    }
}
