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

    /// The bytes after which the producer has to wait.
    private let capacity: Int
    private var bytes: [UInt8] = []
    private var outcome: Result<Void, any Error>?
    private(set) var isPaused = false

    init(capacity: Int = 2 << 20) { self.capacity = max(1, capacity) }

    var hasEnded: Bool { outcome != nil }
    /// Whether ``take()`` would return something.
    var hasNews: Bool { !bytes.isEmpty || outcome != nil }

    /// Takes bytes in; `false` when there is no room: the producer keeps them and waits.
    ///
    /// - Parameter expected: the bytes still to come, these included, if that is known; so that one allocation serves.
    mutating func offer(_ chunk: UnsafeRawBufferPointer, expected: UInt64?) -> Bool {
        guard outcome == nil else { return true }
        guard bytes.isEmpty || bytes.count + chunk.count <= capacity else {
            isPaused = true
            return false
        }
        if bytes.isEmpty {
            let likely = Int(clamping: expected ?? 0)
            bytes.reserveCapacity(max(chunk.count, min(likely, capacity / 2 + chunk.count)))
        }
        bytes.append(contentsOf: chunk)
        return true
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
