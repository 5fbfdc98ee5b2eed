#if Llama
    import CLlamaShim
    import Foundation
    import HearthBase
    import HearthInference
    import Synchronization

    /// A model run by llama.cpp, on a thread of its own.
    ///
    /// ```swift
    /// let engine = try await LlamaActor.load(Path("model.gguf"))
    /// let session = LanguageModelSession(model: engine)
    /// ```
    /// Each role has a model of its own: the engine itself is the one for text, ``model(for:)`` gives the other. What the last
    /// prompt and answer left in memory is reused as far as the next prompt begins with the same tokens.
    public actor LlamaActor: InferenceEngine {
        private let executor = ThreadExecutor(name: "hearth.llama")
        let configuration: LlamaConfiguration
        nonisolated let time: TimeSource
        /// What everybody may know, from any thread, without waiting for an answer under way.
        let facts = Locked<[EngineRole: Facts]>([:])
        let requests = Locked(RequestBoard())
        /// Those who want the engine's thread for something else than answers: they get it between two steps.
        nonisolated let visitors = Atomic<Int>(0)
        /// Loads and unloads, of which each may count on the one before being over.
        let changes = TurnQueue()
        /// Those who count tokens, one after the other: who is cancelled leaves, and many take no more than one core from the answers.
        nonisolated let counts = TurnQueue()
        /// Those who want a vector, one text after the other: who loads or unloads waits for one of them and not for all.
        nonisolated let texts = TurnQueue()
        var loops: [EngineRole: GenerationLoop] = [:]
        /// What the models take of the memory.
        var memory = MemoryLedger()
        /// What is being read; who asks for it waits.
        var reading: LoadOrder?
        /// Models that give way to another once they have answered what they were asked before.
        var departure: Departure?
        /// Counts what the steps of all models, and of those that make vectors, take of the machine.
        let load = CoreLoad()

        public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        /// An engine without a model yet.
        public init(configuration: LlamaConfiguration = LlamaConfiguration(), time: TimeSource = .system) {
            self.configuration = configuration
            self.time = time
        }

        deinit {
            // Giving gigabytes back takes a while, and the last reference may be let go of anywhere.
            let models = Locked(loops.values.map(\.model))
            guard !loops.isEmpty else { return }
            Thread.detachNewThread {
                for model in models.withLock({ $0 }) { model.conversations.saveAll(model) }
                models.withLock { $0 = [] }
                hearth_memory_trim()
            }
        }

        /// An engine with a model loaded; see ``load(_:role:projector:configuration:supportsVision:progress:)``.
        public static func load(
            _ path: Path, projector: Path? = nil, configuration: LlamaConfiguration = LlamaConfiguration(),
            time: TimeSource = .system,
            progress: @escaping @Sendable (Float) -> Void = { _ in }
        ) async throws -> LlamaActor {
            let engine = LlamaActor(configuration: configuration, time: time)
            try await engine.load(path, projector: projector, progress: progress)
            return engine
        }

        /// The version of llama.cpp that runs the models.
        public nonisolated static var libraryVersion: String { LlamaLibrary.version }

        /// What is loaded for text; answers at once, also while a generation runs.
        public nonisolated var modelInformation: ModelInformation {
            get throws { try modelInformation(.text) }
        }

        /// What answers for a role; answers at once, also while a generation runs.
        /// - Throws: `model-not-loaded`.
        public nonisolated func modelInformation(_ role: EngineRole) throws -> ModelInformation {
            try answering(role).information
        }

        /// The abilities of the model loaded for text.
        /// - Throws: `model-not-loaded`; `CancellationError`.
        public nonisolated var capabilities: EngineCapabilities { get async throws { try await capabilities(.text) } }

        /// The abilities of the model of a role; waits for a model that is being read.
        nonisolated func capabilities(_ role: EngineRole) async throws -> EngineCapabilities {
            if let facts = try? answering(role) { return facts.capabilities }
            try await settle()
            return try answering(role).capabilities
        }

        /// Whether the model loaded for text answers questions about pictures too, so that none need be loaded for vision.
        public nonisolated var textModelSupportsVision: Bool {
            facts.withLock { $0[.text]?.supportsVision ?? false }
        }

        /// Stops the generations under way and those that wait; they throw `CancellationError`.
        public nonisolated func stop() { stop(EngineRole.allCases) }

        nonisolated func stop(_ roles: [EngineRole]) {
            for signal in requests.withLock({ $0.signals(of: roles) }) { signal.cancel() }
            // Who waits for a model that is being read need not wait to be told.
            wake()
        }

        public nonisolated func generate(
            _ messages: [ChatMessage], options: GenerationOptions,
            onEvent: @escaping @Sendable (GenerationEvent) -> Void
        ) async throws -> GenerationSummary {
            try await generate(messages, options: options, role: .text, onEvent: onEvent)
        }

        public nonisolated func prepare(_ messages: [ChatMessage], options: GenerationOptions) async throws {
            _ = try await generate(messages, options: options, role: .text, isPreparation: true) { _ in }
        }

        /// Answers with the model of a role; a request waits for a model that is being read.
        nonisolated func generate(
            _ messages: [ChatMessage], options: GenerationOptions, role: EngineRole, isPreparation: Bool = false,
            onEvent: @escaping @Sendable (GenerationEvent) -> Void
        ) async throws -> GenerationSummary {
            try Task.checkCancellation()
            let request = GenerationRequest(
                role: role, messages: messages, options: options, signal: StopSignal(), stopwatch: time.stopwatch(),
                reply: GenerationReply(onEvent), isPreparation: isPreparation)
            begin(request)
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    request.reply.onEnd { continuation.resume(with: $0) }
                }
            } onCancel: {
                request.signal.cancel()
                request.reply.finish(.failure(CancellationError()))
            }
        }

        /// Queues a request and wakes the engine's thread; the reply tells what becomes of it.
        nonisolated func begin(_ request: GenerationRequest) {
            let facts = facts.withLock { $0 }
            let model = Self.answering(request.role, facts)
            let admission =
                model.flatMap { facts[$0] }?.admission
                ?? Admission(sequences: 1, cells: 1, queueLimit: configuration.queueLimit)
            // One model may answer for both roles; all requests for it wait in one queue.
            let roles = EngineRole.allCases.filter {
                $0 == request.role || model != nil && Self.answering($0, facts) == model
            }
            // Queued here, because tasks may reach the engine's thread in another order than they were made.
            switch requests.withLock({ $0.add(request, admission, queue: roles) }) {
            case .refused(let error): request.reply.finish(.failure(error))
            case .queued(wakes: true): Task { await self.work() }
            case .queued(wakes: false): break
            }
        }

        /// Says that something else than answers is on its way to the engine's thread.
        nonisolated func knock() { visitors.add(1, ordering: .relaxed) }

        /// Makes the vector of one text; answers go on between two of its steps.
        /// - Parameters:
        ///   - mark: of the load whose model is to make it; `nil` for whichever is there.
        ///   - wait: of whoever wants it, for the engine's thread.
        func embed(
            _ text: String, _ index: Int, by mark: LoadMark?, _ signal: StopSignal, _ wait: Abandonment
        ) throws -> Vector {
            visitors.subtract(1, ordering: .relaxed)
            try wait.begin()
            if signal.isSet { throw CancellationError() }
            guard let loop = loop(.text) else {
                if isBeingRead(.text) { return .beingRead }
                throw Self.notLoaded
            }
            if let mark, loop.mark !== mark { return .replaced }
            // However many texts wait for the thread, a step of the answers comes between two of them.
            if isAnswering { _ = turn() }
            makeWay()
            let vector = try embedder(of: loop).embed(text, index, signal: signal) {
                _ = self.turn()
                self.makeWay()
            }
            return .made(vector, by: loop.mark)
        }

        /// Before vectors are computed: shows what the answers hold back, and lets their threads sleep.
        private func makeWay() {
            handOver()
            for loop in loops.values { loop.model.context.rest() }
        }

        /// What became of one text.
        enum Vector {
            case made([Float], by: LoadMark)
            /// Another model has taken the place of the one that is to make it.
            case replaced
            /// It is not there yet.
            case beingRead
        }

        /// Whether the model that is being read will answer for a role for which none does.
        private func isBeingRead(_ role: EngineRole) -> Bool {
            guard let reading, loop(role) == nil else { return false }
            let sees = reading.role == .text ? reading.sees : loops[.text]?.model.supportsVision ?? false
            return RolePlan.answering(
                role, loaded: Set(loops.keys).union([reading.role]), textModelSupportsVision: sees) == reading.role
        }

        /// Has somebody go and answer those who wait, unless somebody does.
        nonisolated func wake() {
            if requests.withLock({ $0.wakes() }) { Task { await self.work() } }
        }

        func loop(_ role: EngineRole) -> GenerationLoop? {
            RolePlan.answering(
                role, loaded: Set(loops.keys), textModelSupportsVision: loops[.text]?.model.supportsVision ?? false
            )
            .flatMap { loops[$0] }
        }

        /// What is known of a loaded model outside the engine's thread.
        struct Facts: Sendable {
            let information: ModelInformation
            let weights: ModelWeights
            let admission: Admission
            let projector: Projector?
            let supportsVision: Bool

            var capabilities: EngineCapabilities {
                var all: EngineCapabilities = [.tokenCounts]
                if information.embeddingLength > 0 { all.insert(.embeddings) }
                if information.isEncoderOnly { return all }
                all.formUnion([.schema, .grammar, .seed, .rawPrompt])
                if projector != nil { all.insert(.vision) }
                if weights.templateThinks { all.insert(.thinking) }
                if weights.callsTools { all.insert(.tools) }
                return all
            }
        }

        /// The facts of the model that answers for a role.
        nonisolated func answering(_ role: EngineRole) throws -> Facts {
            let facts = facts.withLock { $0 }
            guard let found = Self.answering(role, facts).flatMap({ facts[$0] }) else { throw Self.notLoaded }
            return found
        }

        static func answering(_ role: EngineRole, _ facts: [EngineRole: Facts]) -> EngineRole? {
            RolePlan.answering(
                role, loaded: Set(facts.keys), textModelSupportsVision: facts[.text]?.supportsVision ?? false)
        }

        // MARK: Answers

        /// Whether anybody waits for an answer.
        nonisolated var isAnswering: Bool { requests.withLock { !$0.all.isEmpty } }

        /// Whether anybody is on the way to the engine's thread for something else than answers.
        nonisolated var isVisited: Bool { visitors.load(ordering: .relaxed) > 0 }

        /// Answers until nobody asks any more, or until somebody else wants the thread for a moment.
        private func work() {
            while turn() {
                if isVisited {
                    handOver()
                    Task { self.work() }
                    return
                }
            }
        }

        /// Lets in who has room, and takes everybody who is in one step further.
        /// - Returns: whether there is more to do.
        private func turn() -> Bool {
            let waiting = requests.withLock { $0.waiting }
            if !waiting.isEmpty {
                handOver()
                // Who stops an answer and asks on goes on in its place.
                for loop in loops.values { forget(loop.endAsked().map(\.request)) }
            }
            admit(waiting)
            for loop in loops.values where !loop.runs.isEmpty {
                let isBesideOthers = loops.values.contains { $0 !== loop && !$0.runs.isEmpty }
                forget(loop.step(isBesideOthers: isBesideOthers).map(\.request))
            }
            if departure != nil { tellDeparture() }
            let held = EngineRole.allCases.filter(isBeingRead)
            return requests.withLock { $0.goesOn(without: held) }
        }

        /// Shows what the answers hold back for their next pieces, before something else has the thread.
        private func handOver() { for loop in loops.values { loop.handOver() } }

        private func admit(_ waiting: [GenerationRequest]) {
            // Nobody overtakes who waits for the same model.
            var full: [GenerationLoop] = []
            for request in waiting {
                if request.signal.isCancelled {
                    for loop in loops.values { loop.letGo(of: request) }
                    request.reply.finish(.failure(CancellationError()))
                    forget([request])
                    continue
                }
                if request.stopwatch.elapsed >= request.options.timeout {
                    for loop in loops.values { loop.letGo(of: request) }
                    request.reply.finish(.success(GenerationFacts(promptTokens: 0).summary(reason: .timedOut)))
                    forget([request])
                    continue
                }
                guard let loop = loop(request.role) else {
                    if isBeingRead(request.role) { continue }
                    request.reply.finish(.failure(Self.notLoaded))
                    forget([request])
                    continue
                }
                // Its prompt may have been made for a model that would have answered in place of this one.
                for other in loops.values where other !== loop { other.letGo(of: request) }
                if full.contains(where: { $0 === loop }) || isLeftToTheNext(request) { continue }
                switch loop.admit(request) {
                case .begun: requests.withLock { $0.begin(request) }
                case .ended: forget([request])
                case .mustWait: full.append(loop)
                }
            }
        }

        func forget(_ ended: [GenerationRequest]) {
            guard !ended.isEmpty else { return }
            requests.withLock { $0.remove(ended) }
        }

        private static var notLoaded: LLMError {
            LLMError(.modelNotLoaded, "no model is loaded", context: ErrorContext(remedy: "Load a model first."))
        }
    }
#endif
