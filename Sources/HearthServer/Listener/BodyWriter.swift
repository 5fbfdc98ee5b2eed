import HearthBase

/// Takes the body of a streamed reply from the code that makes it, and hands it to the connection.
///
/// A client that reads slowly suspends ``write(_:)`` while ``window`` bytes wait.
package final class BodyWriter: Sendable {
    /// The most bytes that wait for the client before ``write(_:)`` suspends.
    package static let window = 256 << 10

    /// What the connection finds when it asks for bytes.
    enum Step: Sendable {
        case bytes([UInt8])
        case end
        case failed
        /// Nothing waits; `wake` is called later.
        case wait
    }

    private struct State {
        /// Bytes from `offset` on are not sent yet.
        var pending: [UInt8] = []
        var offset = 0
        var isEnded = false
        var hasFailed = false
        var hasLeft = false
        /// More than one: a stream and the comments between its events.
        var writers: [CheckedContinuation<Void, Never>] = []

        var waiting: Int { pending.count - offset }

        mutating func takeWriters() -> [CheckedContinuation<Void, Never>] {
            defer { writers = [] }
            return writers
        }
    }

    private let state = Locked(State())
    /// Called after there is something new for the connection.
    private let wake: @Sendable () -> Void

    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    /// Sends bytes; returns when less than ``window`` bytes wait for the client.
    /// - Throws: `CancellationError` when the client has left or the task is cancelled.
    package func write(_ bytes: [UInt8]) async throws {
        try Task.checkCancellation()
        let (hasLeft, isFull) = state.withLock { state in
            if !state.hasLeft && !state.isEnded { state.pending += bytes }
            return (state.hasLeft, state.waiting >= Self.window)
        }
        if hasLeft { throw CancellationError() }
        wake()
        if isFull { try await waitForRoom() }
    }

    /// Sends text as UTF-8.
    package func write(_ text: String) async throws { try await write(Array(text.utf8)) }

    /// Adds the end of a reply whose task was cancelled: neither waits nor throws.
    package func writeLast(_ bytes: [UInt8]) {
        state.withLock { state in
            if !state.hasLeft && !state.isEnded { state.pending += bytes }
        }
        wake()
    }

    /// Whether the client has left.
    package var hasLeft: Bool { state.withLock { $0.hasLeft } }

    private func waitForRoom() async throws {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    let mustWait = state.waiting >= Self.window && !state.hasLeft && !Task.isCancelled
                    if mustWait { state.writers.append(continuation) }
                    return mustWait
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            for writer in state.withLock({ $0.takeWriters() }) { writer.resume() }
        }
        try Task.checkCancellation()
        if hasLeft { throw CancellationError() }
    }

    // MARK: The connection's side

    /// Ends the body; with a failure the connection breaks, so that the client notices.
    func finish(hasFailed: Bool) {
        state.withLock { state in
            state.isEnded = true
            state.hasFailed = state.hasFailed || hasFailed
        }
        wake()
    }

    /// Records that the client has left, and drops what waits.
    func leave() {
        let writers = state.withLock { state in
            state.hasLeft = true
            (state.pending, state.offset) = ([], 0)
            return state.takeWriters()
        }
        for writer in writers { writer.resume() }
    }

    /// Takes up to `limit` bytes.
    func take(upTo limit: Int) -> Step {
        let (step, writers) = state.withLock { state -> (Step, [CheckedContinuation<Void, Never>]) in
            guard state.waiting > 0 else {
                if state.hasFailed || state.hasLeft { return (.failed, []) }
                return (state.isEnded ? .end : .wait, [])
            }
            let count = min(limit, state.waiting)
            let bytes = Array(state.pending[state.offset..<(state.offset + count)])
            state.offset += count
            if state.offset == state.pending.count {
                // A buffer that once was large is given back.
                state.pending.removeAll(keepingCapacity: state.pending.capacity <= 16 << 10)
                state.offset = 0
            }
            return (.bytes(bytes), state.waiting < Self.window ? state.takeWriters() : [])
        }
        for writer in writers { writer.resume() }
        return step
    }

    /// Whether the connection has something to do.
    var isReady: Bool { state.withLock { $0.waiting > 0 || $0.isEnded || $0.hasLeft } }
}
