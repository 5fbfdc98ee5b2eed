import HearthBase

/// Bytes of a body that arrived but were not taken yet, with the rules of back-pressure. A pure value.
struct BodyBuffer: Sendable {
    /// The number of bytes at which the producer must wait; the piece that reaches it is still accepted whole.
    private let capacity: Int
    private var bytes: [UInt8] = []
    private var outcome: Result<Void, any Error>?
    private(set) var isPaused = false

    init(capacity: Int = 2 << 20) { self.capacity = max(1, capacity) }

    var hasEnded: Bool { outcome != nil }
    /// Whether ``take()`` would return something.
    var hasNews: Bool { !bytes.isEmpty || outcome != nil }

    /// Whether the producer must wait until the consumer takes bytes.
    var isFull: Bool { outcome == nil && bytes.count >= capacity }

    /// Appends bytes.
    /// - Parameter expected: the number of bytes still to come, including these, if known; it saves reallocations.
    mutating func append(_ chunk: UnsafeRawBufferPointer, expected: UInt64?) {
        guard outcome == nil else { return }
        if bytes.isEmpty {
            let likely = Int(clamping: expected ?? 0)
            bytes.reserveCapacity(max(chunk.count, min(likely, capacity + chunk.count)))
        }
        bytes.append(contentsOf: chunk)
    }

    /// Pauses the producer if the buffer is full; the consumer that empties the buffer resumes it.
    /// - Returns: whether the producer must pause.
    mutating func pauseIfFull() -> Bool {
        isPaused = isFull
        return isPaused
    }

    /// Ends the body; buffered bytes can still be taken. The first outcome counts.
    mutating func finish(_ result: Result<Void, any Error>) {
        if outcome == nil { outcome = result }
    }

    /// Drops all bytes and ends with `error`, even after another outcome.
    mutating func abandon(_ error: any Error) {
        bytes = []
        isPaused = false
        outcome = .failure(error)
    }

    /// Takes all buffered bytes.
    /// - Returns: the bytes, or the end of the body, or `nil` if nothing has arrived; and whether the producer must be
    ///   told that there is room again.
    mutating func take() -> (outcome: Result<[UInt8]?, any Error>?, mustResume: Bool) {
        guard bytes.isEmpty else {
            defer { (bytes, isPaused) = ([], false) }
            return (.success(bytes), isPaused)
        }
        return (outcome?.map { _ in nil }, false)
    }
}
