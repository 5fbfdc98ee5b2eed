#if Llama
import HearthInference

/// The waiting requests of an engine. Any thread adds them; the engine's thread takes them between two steps.
struct Mailbox {
    /// The generations that have not begun, in the order of their arrival.
    private(set) var waiting: [GenerationRequest] = []
    private(set) var running: [GenerationRequest] = []
    /// The requests for vectors. The engine computes the first one's texts.
    private(set) var vectors: [VectorRequest] = []
    /// Whether a job that computes the steps is enqueued or runs.
    private var isServed = false

    var generations: [GenerationRequest] { running + waiting }

    /// Adds a generation, unless the queue is full. All but preparations end the preparations.
    /// - Parameter queue: the roles whose requests the same model answers, the request's own among them.
    /// - Returns: the reason of a refusal.
    mutating func add(_ request: GenerationRequest, _ admission: Admission, queue: [EngineRole]) -> LLMError? {
        if !request.isPreparation { endPreparations() }
        // A cancelled request is only waiting for its removal.
        let ahead = waiting.count { queue.contains($0.role) && !$0.signal.isCancelled }
        let busy = running.count { queue.contains($0.role) }
        if let refusal = admission.refusal(waiting: ahead, running: busy) { return refusal }
        waiting.append(request)
        return nil
    }

    mutating func add(_ request: VectorRequest) {
        endPreparations()
        vectors.append(request)
    }

    /// Whether there is other work than preparations.
    var hasAnswers: Bool { generations.contains { !$0.isPreparation && !$0.signal.isSet } || !vectors.isEmpty }

    /// Stops the preparations, because other work arrives. What they have computed stays.
    func endPreparations() { for request in generations where request.isPreparation { request.signal.cancel() } }

    /// Removes a request that begins from the waiting ones.
    mutating func begin(_ request: GenerationRequest) {
        waiting.removeAll { $0 === request }
        running.append(request)
    }

    mutating func remove(_ ended: [GenerationRequest]) {
        waiting.removeAll { one in ended.contains { $0 === one } }
        running.removeAll { one in ended.contains { $0 === one } }
    }

    /// Moves the first request for vectors to the end after each text, so that callers take turns, or removes it
    /// when it has ended.
    mutating func rotateVectors(removing isEnded: Bool) {
        let first = vectors.removeFirst()
        if !isEnded { vectors.append(first) }
    }

    /// Returns whether there is another step to compute. If not, the next request enqueues a job.
    /// - Parameters:
    ///   - held: generations that wait for a model or a saved state that is being read.
    ///   - holdsVectors: whether the model that makes vectors is being read.
    mutating func hasWork(except held: [GenerationRequest] = [], holdsVectors: Bool = false) -> Bool {
        let hasWork =
            !running.isEmpty || !vectors.isEmpty && !holdsVectors
            || waiting.contains { one in one.signal.isSet || !held.contains { $0 === one } }
        isServed = isServed && hasWork
        return hasWork
    }

    /// Returns whether a job must be enqueued: there are requests, and no job serves them.
    mutating func startsServing() -> Bool {
        guard !isServed, !(running.isEmpty && waiting.isEmpty && vectors.isEmpty) else { return false }
        isServed = true
        return true
    }
}
#endif
