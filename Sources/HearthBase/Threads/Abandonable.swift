/// Runs `body` in a separate task. A cancelled caller stops waiting at once; the task is cancelled too, continues
/// without the caller, and its result is dropped.
///
/// For waits that cannot be interrupted, such as for a thread of other code.
/// - Throws: errors of `body`; `CancellationError`.
package func abandonable<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try Task.checkCancellation()
    let outcome = Outcome<Result>()
    let task = Task {
        do { outcome.settle(.success(try await body())) } catch { outcome.settle(.failure(error)) }
    }
    return try await withTaskCancellationHandler {
        try await outcome.value
    } onCancel: {
        task.cancel()
        outcome.settle(.failure(CancellationError()))
    }
}

/// The result of some work, for one waiting caller. The first settled result counts.
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
            // The result is passed through the lock, as in `blocking`.
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
