/// Lets one at a time do what takes several awaits, in the order in which they came.
package final class TurnQueue: Sendable {
    private struct Waiter {
        let number: UInt64
        /// Resumed with whether its turn has come.
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var isTaken = false
        var waiting: [Waiter] = []
        var lastNumber: UInt64 = 0
    }

    private let state = Locked(State())

    /// No turn is taken.
    package init() {}

    /// How many wait for their turn.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Performs `body` once those before have done so. Waits on in a task that was cancelled.
    package func turn<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        _ = await enter(orGiveUp: false)
        defer { leave() }
        return try await body()
    }

    /// Performs `body` once those before have done so. A task that is cancelled gives its place up at once.
    /// - Throws: what `body` throws; `CancellationError` before its turn, and `body` is not performed then.
    package func turnUnlessCancelled<Result>(_ body: () async throws -> Result) async throws -> Result {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let hasEntered = await withTaskCancellationHandler {
            await enter(number, orGiveUp: true)
        } onCancel: {
            giveUp(number)
        }
        guard hasEntered else { throw CancellationError() }
        defer { leave() }
        // Cancelled in the moment in which the turn came.
        try Task.checkCancellation()
        return try await body()
    }

    /// - Parameter orGiveUp: whether to leave the turn to others in a task that was cancelled.
    /// - Returns: whether it is the caller's turn.
    private func enter(_ number: UInt64 = 0, orGiveUp: Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            let isMine = state.withLock { state -> Bool? in
                // Who is cancelled from here on is found waiting.
                if orGiveUp, Task.isCancelled { return false }
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                state.waiting.append(Waiter(number: number, continuation: continuation))
                return nil
            }
            if let isMine { continuation.resume(returning: isMine) }
        }
    }

    private func giveUp(_ number: UInt64) {
        let waiter = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
        }
        waiter?.continuation.resume(returning: false)
    }

    private func leave() {
        let next = state.withLock { state -> Waiter? in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.continuation.resume(returning: true)
    }
}
