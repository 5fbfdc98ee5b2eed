import Foundation
import HearthBase

/// One request and its response, shared by the transport and the consumer's task.
///
/// The transport (the curl thread, or the queue of URLSession's delegate) calls `receive…`, `flush` and `finish`; the consumer calls `head`, `next` and `cancel`.
/// Continuations are resumed after the lock is released.
final class Exchange: Sendable {
    private struct State {
        var head: ResponseHead?
        var body: BodyBuffer
        var isCancelled = false
        var headWaiter: CheckedContinuation<ResponseHead, any Error>?
        var chunkWaiter: CheckedContinuation<[UInt8]?, any Error>?
    }

    let id: UInt64
    /// The request, whose total timeout is the remaining time.
    let hop: Hop
    private let state: Locked<State>
    /// Tells the transport to continue a paused transfer.
    private let resume: @Sendable (UInt64) -> Void

    init(id: UInt64, hop: Hop, resume: @escaping @Sendable (UInt64) -> Void) {
        self.id = id
        self.hop = hop
        // Leave room for one piece, because the piece that fills the buffer is accepted whole.
        state = Locked(State(body: BodyBuffer(capacity: hop.bodyBufferSize - hop.pieceSize)))
        self.resume = resume
    }

    // MARK: Called by the consumer

    /// Waits for the head of the response.
    func head() async throws -> ResponseHead {
        try await withCheckedThrowingContinuation { continuation in
            let outcome = state.withLock { state -> Result<ResponseHead, any Error>? in
                if state.isCancelled { return .failure(CancellationError()) }
                if let head = state.head { return .success(head) }
                if let ended = state.body.take().outcome {
                    return ended.flatMap { _ in .failure(HTTPError.noHead(hop.address)) }
                }
                state.headWaiter = continuation
                return nil
            }
            if let outcome { continuation.resume(with: outcome) }
        }
    }

    /// Waits for the next bytes; `nil` at the end of the body.
    func next() async throws -> [UInt8]? {
        if let outcome = take() { return try outcome.get() }
        return try await withCheckedThrowingContinuation { continuation in
            if let outcome = take(orWaitWith: continuation) { continuation.resume(with: outcome) }
        }
    }

    private func take(
        orWaitWith continuation: CheckedContinuation<[UInt8]?, any Error>? = nil
    ) -> Result<[UInt8]?, any Error>? {
        let (outcome, mustResume) = state.withLock { state -> (Result<[UInt8]?, any Error>?, Bool) in
            if state.chunkWaiter != nil { return (.failure(HTTPError.bodyConsumed), false) }
            let taken = state.body.take()
            if taken.outcome == nil { state.chunkWaiter = continuation }
            return taken
        }
        if mustResume { resume(id) }
        return outcome
    }

    /// Ends the exchange for the consumer at once. Returns whether the transport must be told.
    func cancel() -> Bool {
        let (isNews, headWaiter, chunkWaiter) = state.withLock { state in
            let isNews = !state.isCancelled && !state.body.hasEnded
            state.isCancelled = true
            state.body.abandon(CancellationError())
            defer { (state.headWaiter, state.chunkWaiter) = (nil, nil) }
            return (isNews, state.headWaiter, state.chunkWaiter)
        }
        headWaiter?.resume(throwing: CancellationError())
        chunkWaiter?.resume(throwing: CancellationError())
        return isNews
    }

    // MARK: Called by the transport

    var isCancelled: Bool { state.withLock { $0.isCancelled } }
    /// Whether the transport must wait for ``resume``.
    var isPaused: Bool { state.withLock { $0.body.isPaused } }

    func receiveHead(_ head: ResponseHead) {
        let waiter = state.withLock { state in
            state.head = head
            defer { state.headWaiter = nil }
            return state.headWaiter
        }
        waiter?.resume(returning: head)
    }

    /// Buffers bytes of the body, and delivers them if the buffer is full.
    /// - Returns: whether more bytes may follow at once; otherwise ``resume`` is called later.
    func receive(_ bytes: UnsafeRawBufferPointer, expected: UInt64?) -> Bool {
        let isFull = state.withLock { state in
            state.body.append(bytes, expected: expected)
            return state.body.isFull
        }
        guard isFull else { return true }
        flush()
        return state.withLock { !$0.body.pauseIfFull() }
    }

    /// Delivers the buffered bytes to a waiting consumer. Called if no more bytes are ready, so that chunks are large.
    func flush() {
        let (waiter, outcome, mustResume) = state.withLock {
            state -> (CheckedContinuation<[UInt8]?, any Error>?, Result<[UInt8]?, any Error>?, Bool) in
            guard let waiter = state.chunkWaiter, state.body.hasNews else { return (nil, nil, false) }
            state.chunkWaiter = nil
            let taken = state.body.take()
            return (waiter, taken.outcome, taken.mustResume)
        }
        if mustResume { resume(id) }
        if let waiter, let outcome { waiter.resume(with: outcome) }
    }

    /// Ends the response, complete or failed.
    func finish(_ result: Result<Void, any Error>) {
        let waiter = state.withLock { state in
            state.body.finish(result)
            defer { state.headWaiter = nil }
            return state.headWaiter
        }
        if let waiter {
            switch result {
            case .success: waiter.resume(throwing: HTTPError.noHead(hop.address))
            case .failure(let error): waiter.resume(throwing: error)
            }
        }
        flush()
    }
}
