import HearthBase

/// What has arrived of one body and has not been taken yet: the rules of back-pressure, as a value.
struct BodyBuffer: Sendable {
    /// What a consumer gets.
    enum Taken: Sendable {
        /// Bytes, and whether the producer waits to be told that there is room again.
        case chunk([UInt8], resume: Bool)
        case end
        case failure(any Error)
        /// Nothing yet.
        case nothing
    }

    /// The bytes after which the producer has to wait; the piece that reaches this many still goes in whole.
    private let capacity: Int
    private var bytes: [UInt8] = []
    private var outcome: Result<Void, any Error>?
    private(set) var isPaused = false

    init(capacity: Int = 2 << 20) { self.capacity = max(1, capacity) }

    var hasEnded: Bool { outcome != nil }
    /// Whether ``take()`` would return something.
    var hasNews: Bool { !bytes.isEmpty || outcome != nil }

    /// Whether the producer has to wait until somebody takes what is there.
    var isFull: Bool { outcome == nil && bytes.count >= capacity }

    /// Takes bytes in.
    ///
    /// - Parameter expected: the bytes still to come, these included, if that is known; so that one allocation serves.
    mutating func append(_ chunk: UnsafeRawBufferPointer, expected: UInt64?) {
        guard outcome == nil else { return }
        if bytes.isEmpty {
            let likely = Int(clamping: expected ?? 0)
            bytes.reserveCapacity(max(chunk.count, min(likely, capacity + chunk.count)))
        }
        bytes.append(contentsOf: chunk)
    }

    /// Notes that the producer waits, if it has to; whoever takes what is there is told to let it go on.
    /// - Returns: whether it has to.
    mutating func pauseIfFull() -> Bool {
        isPaused = isFull
        return isPaused
    }

    /// No byte follows; what is there is still handed out first. The first outcome counts.
    mutating func finish(_ result: Result<Void, any Error>) {
        if outcome == nil { outcome = result }
    }

    /// Drops what is there and ends with `error`, whatever the end was before.
    mutating func abandon(_ error: any Error) {
        bytes = []
        isPaused = false
        outcome = .failure(error)
    }

    /// Hands out everything that is there.
    mutating func take() -> Taken {
        if !bytes.isEmpty {
            let chunk = bytes
            bytes = []
            defer { isPaused = false }
            return .chunk(chunk, resume: isPaused)
        }
        switch outcome {
        case .success: return .end
        case .failure(let error): return .failure(error)
        case nil: return .nothing
        }
    }
}
