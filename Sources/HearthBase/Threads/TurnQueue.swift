/// Runs asynchronous operations one after the other: the smaller first, those of one size in the order of their calls.
package final class TurnQueue: Sendable {
    private struct Waiter {
        let number: UInt64
        let size: Int
        /// Resumed with `true` at the caller's turn, with `false` after a cancellation.
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

    /// The number of callers that wait for their turn.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Runs `body` after all earlier calls that are not larger. A cancelled task keeps waiting.
    package func turn<Result>(size: Int = 0, _ body: () async throws -> Result) async rethrows -> Result {
        _ = await enter(size: size, orGiveUp: false)
        defer { leave() }
        return try await body()
    }

    /// Runs `body` after all earlier calls that are not larger. A cancelled task leaves the queue at once.
    /// - Throws: errors of `body`; `CancellationError` before its turn, without running `body`.
    package func turnUnlessCancelled<Result>(
        size: Int = 0, _ body: () async throws -> Result
    ) async throws -> Result {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let hasEntered = await withTaskCancellationHandler {
            await enter(number, size: size, orGiveUp: true)
        } onCancel: {
            giveUp(number)
        }
        guard hasEntered else { throw CancellationError() }
        defer { leave() }
        // The task may be cancelled at the moment of its turn.
        try Task.checkCancellation()
        return try await body()
    }

    /// Waits for the caller's turn.
    /// - Parameter orGiveUp: whether a cancelled task leaves the queue.
    /// - Returns: whether it is the caller's turn.
    private func enter(_ number: UInt64 = 0, size: Int, orGiveUp: Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            let isMine = state.withLock { state -> Bool? in
                // A later cancellation finds the caller in the queue.
                if orGiveUp, Task.isCancelled { return false }
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                let place = state.waiting.firstIndex { $0.size > size } ?? state.waiting.endIndex
                state.waiting.insert(Waiter(number: number, size: size, continuation: continuation), at: place)
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
