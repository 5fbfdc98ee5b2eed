#if Llama
    import HearthInference

    /// The requests of an engine, as everybody sees them: those that wait and those that are answered.
    struct RequestBoard {
        /// In the order in which they came.
        private(set) var waiting: [GenerationRequest] = []
        private(set) var running: [GenerationRequest] = []
        /// Somebody is on the way to the engine's thread to answer them, or there.
        private var isAnswered = false

        enum Answer {
            case refused(LLMError)
            /// `wakes`: somebody has to go and answer.
            case queued(wakes: Bool)
        }

        var all: [GenerationRequest] { running + waiting }

        /// - Parameter queue: the roles whose requests the same model answers, the request's own among them.
        mutating func add(_ request: GenerationRequest, _ admission: Admission, queue: [EngineRole]) -> Answer {
            // Who was cancelled waits only to be told so.
            let ahead = waiting.count { queue.contains($0.role) && !$0.signal.isCancelled }
            let busy = running.count { queue.contains($0.role) }
            if let refusal = admission.refusal(waiting: ahead, running: busy) { return .refused(refusal) }
            waiting.append(request)
            defer { isAnswered = true }
            return .queued(wakes: !isAnswered)
        }

        /// A request waits no longer.
        mutating func begin(_ request: GenerationRequest) {
            waiting.removeAll { $0.isSame(as: request) }
            running.append(request)
        }

        /// Requests have ended.
        mutating func remove(_ ended: [GenerationRequest]) {
            waiting.removeAll { one in ended.contains { $0.isSame(as: one) } }
            running.removeAll { one in ended.contains { $0.isSame(as: one) } }
        }

        func contains(anyOf some: [GenerationRequest]) -> Bool {
            all.contains { one in some.contains { $0.isSame(as: one) } }
        }

        /// Whether there is somebody to answer; if not, the next request has to wake somebody.
        /// - Parameter held: roles whose model is not there yet, and whose requests wait for it.
        mutating func goesOn(without held: [EngineRole] = []) -> Bool {
            let goesOn = !running.isEmpty || waiting.contains { !held.contains($0.role) || $0.signal.isCancelled }
            // A step beside something else brings nobody onto the way: who is told meanwhile to stop waiting wakes somebody.
            isAnswered = isAnswered && goesOn
            return goesOn
        }

        /// Whether somebody has to go and answer, or tell, those who waited for something else than their turn.
        mutating func wakes() -> Bool {
            guard !isAnswered, !all.isEmpty else { return false }
            isAnswered = true
            return true
        }

        /// The signals of what runs and waits for these roles.
        func signals(of roles: [EngineRole]) -> [StopSignal] {
            all.filter { roles.contains($0.role) }.map(\.signal)
        }
    }
#endif
