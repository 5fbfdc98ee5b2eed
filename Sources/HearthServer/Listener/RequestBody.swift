import HearthBase

/// The body of a request, as it arrives. One consumer reads it once, in chunks or with ``collect(limit:)``.
///
/// A consumer that does not read stops the client: at most ``window`` bytes wait in memory.
package final class RequestBody: AsyncSequence, Sendable {
    package typealias Element = [UInt8]

    /// The most bytes that wait for the consumer before the connection is suspended.
    package static let window = 256 << 10

    private struct State {
        var chunks: [[UInt8]] = []
        var waiting = 0
        var end: Result<Void, any Error>?
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// The declared length; `nil` for a chunked body.
    package let declaredLength: UInt64?
    private let state: Locked<State>
    /// Called after the consumer has made room.
    private let drained: @Sendable () -> Void

    /// A body that a connection fills.
    init(declaredLength: UInt64?, drained: @escaping @Sendable () -> Void) {
        self.declaredLength = declaredLength
        self.drained = drained
        state = Locked(State())
    }

    /// A body from memory.
    package init(_ bytes: [UInt8] = []) {
        declaredLength = UInt64(bytes.count)
        drained = {}
        state = Locked(State(chunks: bytes.isEmpty ? [] : [bytes], waiting: bytes.count, end: .success(())))
    }

    // MARK: The connection's side

    /// Adds bytes.
    /// - Returns: whether the connection must wait until the consumer has read some.
    func append(_ bytes: [UInt8]) -> Bool {
        let (isFull, waiter) = state.withLock { state in
            if state.end == nil {
                state.chunks.append(bytes)
                state.waiting += bytes.count
            }
            defer { state.waiter = nil }
            return (state.end == nil && state.waiting >= Self.window, state.waiter)
        }
        waiter?.resume()
        return isFull
    }

    /// Whether the connection must wait.
    var isFull: Bool { state.withLock { $0.end == nil && $0.waiting >= Self.window } }

    /// Ends the body; only the first end counts. After a failure the consumer gets no further chunk.
    func finish(_ end: Result<Void, any Error> = .success(())) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.end == nil else { return nil }
            state.end = end
            if case .failure = end { (state.chunks, state.waiting) = ([], 0) }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    // MARK: The consumer's side

    package func makeAsyncIterator() -> Iterator { Iterator(body: self) }

    /// Iterates over the chunks.
    package struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate let body: RequestBody

        package mutating func next() async throws -> [UInt8]? { try await body.next() }
    }

    /// Reads the whole body into memory.
    /// - Throws: ``ServerError`` with `body-too-large` above `limit` bytes, and `client-left` if the client leaves
    ///   before the end; `CancellationError`.
    package func collect(limit: Int) async throws -> [UInt8] {
        if let declaredLength, declaredLength > UInt64(limit) { throw ServerError.bodyTooLarge(limit: limit) }
        var bytes: [UInt8] = []
        while let chunk = try await next() {
            guard bytes.count + chunk.count <= limit else { throw ServerError.bodyTooLarge(limit: limit) }
            bytes += chunk
        }
        return bytes
    }

    private enum Step {
        case chunk([UInt8])
        case end(Result<Void, any Error>)
        case wait
    }

    private func next() async throws -> [UInt8]? {
        while true {
            try Task.checkCancellation()
            switch take() {
            case .chunk(let bytes):
                drained()
                return bytes
            case .end(let result):
                try result.get()
                return nil
            case .wait:
                await waitForMore()
            }
        }
    }

    private func take() -> Step {
        state.withLock { state in
            if !state.chunks.isEmpty {
                let bytes = state.chunks.removeFirst()
                state.waiting -= bytes.count
                return .chunk(bytes)
            }
            return state.end.map(Step.end) ?? .wait
        }
    }

    private func waitForMore() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    let mustWait = state.chunks.isEmpty && state.end == nil && !Task.isCancelled
                    if mustWait { state.waiter = continuation }
                    return mustWait
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }
    }
}
