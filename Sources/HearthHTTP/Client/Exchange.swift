import Foundation
import HearthBase

/// One request and its response, shared by the curl thread and the consumer's task.
///
/// The curl thread calls `receive…`, `flush` and `finish`; the consumer calls `head`, `next` and `cancel`.
/// Continuations are resumed after the lock is released.
final class Exchange: Sendable {
    /// The parameters of the exchange for the curl thread.
    struct Plan: Sendable {
        let hop: Hop
        let connectTimeout: Duration
        let idleTimeout: Duration
        /// The remaining time for the whole exchange.
        let totalTimeout: Duration?
        let maximumBodySize: UInt64?
        var bodyBufferSize = 2 << 20
        /// The most bytes that libcurl reads at once: a third of the buffer, from 64 to 512 KiB.
        var pieceSize: Int { min(512 << 10, max(64 << 10, bodyBufferSize / 3)) }
    }

    private struct State {
        var head: ResponseHead?
        var body: BodyBuffer
        var isCancelled = false
        var headWaiter: CheckedContinuation<ResponseHead, any Error>?
        var chunkWaiter: CheckedContinuation<[UInt8]?, any Error>?
    }

    let id: UInt64
    let plan: Plan
    private let state: Locked<State>
    /// Tells the curl thread to continue a paused transfer.
    private let resume: @Sendable (UInt64) -> Void

    init(id: UInt64, plan: Plan, resume: @escaping @Sendable (UInt64) -> Void) {
        self.id = id
        self.plan = plan
        // Leave room for one piece, because the piece that fills the buffer is accepted whole.
        state = Locked(State(body: BodyBuffer(capacity: plan.bodyBufferSize - plan.pieceSize)))
        self.resume = resume
    }

    // MARK: Called by the consumer

    /// Waits for the head of the response.
    func head() async throws -> ResponseHead {
        try await withCheckedThrowingContinuation { continuation in
            let outcome = state.withLock { state -> Result<ResponseHead, any Error>? in
                if state.isCancelled { return .failure(CancellationError()) }
                if let head = state.head { return .success(head) }
                switch state.body.take() {
                case .failure(let error): return .failure(error)
                case .end: return .failure(HTTPError.noHead(plan.hop.address))
                case .nothing, .chunk: break
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
            let taken = state.body.take().outcome
            if taken.outcome == nil { state.chunkWaiter = continuation }
            return taken
        }
        if mustResume { resume(id) }
        return outcome
    }

    /// Ends the exchange for the consumer at once. Returns whether the curl thread must be told.
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

    // MARK: Called by the curl thread

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

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
            let taken = state.body.take().outcome
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
            case .success: waiter.resume(throwing: HTTPError.noHead(plan.hop.address))
            case .failure(let error): waiter.resume(throwing: error)
            }
        }
        flush()
    }
}

extension BodyBuffer.Taken {
    /// The result for a waiting consumer (`nil` for nothing yet), and whether the producer waits for room.
    fileprivate var outcome: (outcome: Result<[UInt8]?, any Error>?, mustResume: Bool) {
        switch self {
        case .chunk(let bytes, let resume): (.success(bytes), resume)
        case .end: (.success(nil), false)
        case .failure(let error): (.failure(error), false)
        case .nothing: (nil, false)
        }
    }
}
