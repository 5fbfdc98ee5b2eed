#if Llama
    import HearthInference

    /// The requests of an engine: filled from any thread, drained by the engine's thread between two steps.
    struct Mailbox {
        /// The generations that have not begun, in the order of their arrival.
        private(set) var waiting: [GenerationRequest] = []
        private(set) var running: [GenerationRequest] = []
        /// The texts to embed; the first ones are computed.
        private(set) var vectors: [VectorRequest] = []
        /// A job that takes the steps is enqueued or runs.
        private var isServed = false

        var generations: [GenerationRequest] { running + waiting }

        /// Adds a generation, unless the queue is full.
        /// - Parameter queue: the roles whose requests the same model answers, the request's own among them.
        /// - Returns: why it is refused.
        mutating func add(_ request: GenerationRequest, _ admission: Admission, queue: [EngineRole]) -> LLMError? {
            // A cancelled request only waits to be removed.
            let ahead = waiting.count { queue.contains($0.role) && !$0.signal.isCancelled }
            let busy = running.count { queue.contains($0.role) }
            if let refusal = admission.refusal(waiting: ahead, running: busy) { return refusal }
            waiting.append(request)
            return nil
        }

        mutating func add(_ request: VectorRequest) { vectors.append(request) }

        /// Moves a request from those that wait to those that run.
        mutating func begin(_ request: GenerationRequest) {
            waiting.removeAll { $0 === request }
            running.append(request)
        }

        mutating func remove(_ ended: [GenerationRequest]) {
            waiting.removeAll { one in ended.contains { $0 === one } }
            running.removeAll { one in ended.contains { $0 === one } }
        }

        /// After a text: the next caller's texts follow, and a request that has ended leaves.
        mutating func rotateVectors(removing isEnded: Bool) {
            let first = vectors.removeFirst()
            if !isEnded { vectors.append(first) }
        }

        /// After a step: whether there is another step to take. If not, the next request enqueues a job.
        /// - Parameters:
        ///   - held: generations that wait for something else than a step: a model that is read, or a saved state.
        ///   - holdsVectors: the model that makes vectors is being read.
        mutating func hasWork(except held: [GenerationRequest] = [], holdsVectors: Bool = false) -> Bool {
            let hasWork =
                !running.isEmpty || !vectors.isEmpty && !holdsVectors
                || waiting.contains { one in one.signal.isSet || !held.contains { $0 === one } }
            isServed = isServed && hasWork
            return hasWork
        }

        /// Whether a job has to be enqueued that takes the steps: there are requests, and no such job.
        mutating func startsServing() -> Bool {
            guard !isServed, !(running.isEmpty && waiting.isEmpty && vectors.isEmpty) else { return false }
            isServed = true
            return true
        }
    }
#endif
