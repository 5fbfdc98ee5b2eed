#if Llama
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
    /// Each role has a model of its own: the engine itself is the one for text, ``model(for:)`` gives the other. What the last prompt and answer left in memory is reused as far as the next prompt
    /// begins with the same tokens.
    public actor LlamaActor: InferenceEngine {
        private let executor = ThreadExecutor(name: "hearth.llama")
        private let configuration: LlamaConfiguration
        private let time: TimeSource
        /// What everybody may know, from any thread, without waiting for an answer under way.
        let facts = Locked<[EngineRole: Facts]>([:])
        private let requests = Locked(RequestBoard())
        /// Those who want the engine's thread for something else than answers: they get it between two steps.
        private let visitors = Atomic<Int>(0)
        /// Loads and unloads, of which each may count on the one before being over.
        private let changes = TurnQueue()
        private var loops: [EngineRole: GenerationLoop] = [:]
        /// What is being read; who asks for it waits.
        private var reading: LoadOrder?

        public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        /// An engine without a model yet.
        public init(configuration: LlamaConfiguration = LlamaConfiguration(), time: TimeSource = .system) {
            self.configuration = configuration
            self.time = time
        }

        deinit {
            // Giving gigabytes back takes a while, and the last reference may be let go of anywhere.
            let models = loops.values.map(\.model)
            guard !models.isEmpty else { return }
            Thread.detachNewThread { for model in models { model.conversations.saveAll(model) } }
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

        /// Whether the template of the model loaded for text knows tools, and its way of calling them can be followed.
        public nonisolated var callsTools: Bool { callsTools(.text) }

        /// The same of the model that answers for a role; `false` where none does.
        nonisolated func callsTools(_ role: EngineRole) -> Bool {
            // Without a model there is nothing to call.
            (try? answering(role))?.weights.callsTools ?? false
        }

        /// Whether the model loaded for text answers questions about pictures too, so that none need be loaded for vision.
        public nonisolated var textModelSupportsVision: Bool {
            facts.withLock { $0[.text]?.supportsVision ?? false }
        }

        /// Loads a model in place of the role's present one and warms it up.
        ///
        /// The files are looked at first: one that is not there, is no model or does not fit the memory leaves the present one and
        /// its answers alone. Then what that was asked is answered, and it is given back before the new one is read. On a device
        /// of less than 6 GiB (whole GiB) loading one for vision gives back the one for text too. What the other role's model takes
        /// counts unless it is given back. Where the configuration says nothing of the context, a shorter one is taken if only that fits.
        /// What is being read is read on a thread of its own: the other role's answers go on meanwhile. Loads come one after the other.
        /// - Parameters:
        ///   - path: a GGUF file.
        ///   - role: what it is for.
        ///   - configuration: in place of the engine's own.
        ///   - projector: the GGUF file (`mmproj`) that makes pictures readable for it; without one they are left out.
        ///   - supportsVision: a model for text that answers questions about pictures too, as one with a projector does.
        ///   - progress: 0...1, called on the thread that reads.
        /// - Throws: `model-does-not-fit` with both numbers, unless the configuration ignores that; `cannot-load-model`, with what
        ///   llama.cpp found; `chat-template-failed`; `CancellationError`, which leaves the present model where it is until the new
        ///   one is being read. What was given back for it stays unloaded.
        public nonisolated func load(
            _ path: Path, role: EngineRole = .text, projector: Path? = nil, configuration: LlamaConfiguration? = nil,
            supportsVision: Bool = false,
            progress: @escaping @Sendable (Float) -> Void = { _ in }
        ) async throws {
            let signal = StopSignal()
            let configuration = configuration ?? self.configuration
            try await withTaskCancellationHandler {
                let plan = try await blocking {
                    try ModelFile.check(path, as: .model)
                    if let projector { try ModelFile.check(projector, as: .projector) }
                    return LoadPlan(path, projector: projector, configuration: configuration)
                }
                let order = LoadOrder(
                    path: path, projector: projector, role: role, configuration: configuration, plan: plan,
                    supportsVision: supportsVision, signal: signal)
                try await changes.turn { try await load(order, progress) }
            } onCancel: {
                signal.cancel()
            }
        }

        /// Stops what runs and gives the memory of all models back. What was computed for conversations is written to the
        /// configuration's `stateFolder` before, if there is one.
        public nonisolated func unload() async {
            stop()
            await changes.turn {
                knock()
                await leave(EngineRole.allCases)
            }
        }

        /// Stops what this role's model is doing or is to do, and gives its memory back.
        public nonisolated func unload(_ role: EngineRole) async {
            let facts = facts.withLock { $0 }
            let served = EngineRole.allCases.filter { Self.answering($0, facts) == role }
            stop(served)
            await changes.turn {
                knock()
                await leave([role])
            }
        }

        /// Stops the generations under way and those that wait; their streams throw `CancellationError`.
        public nonisolated func stop() { stop(EngineRole.allCases) }

        private nonisolated func stop(_ roles: [EngineRole]) {
            for signal in requests.withLock({ $0.signals(of: roles) }) { signal.cancel() }
            // Who waits for a model that is being read need not wait to be told.
            wake()
        }

        public nonisolated func generate(
            _ messages: [ChatMessage], options: GenerationOptions
        ) -> AsyncThrowingStream<GenerationEvent, any Error> {
            generate(messages, options: options, role: .text)
        }

        /// Answers with the model of a role, while another takes its place with that one; see
        /// ``InferenceEngine/generate(_:options:)``.
        public nonisolated func generate(
            _ messages: [ChatMessage], options: GenerationOptions, role: EngineRole
        ) -> AsyncThrowingStream<GenerationEvent, any Error> {
            let stopwatch = time.stopwatch()
            let facts = facts.withLock { $0 }
            let model = Self.answering(role, facts)
            let admission =
                model.flatMap { facts[$0] }?.admission
                ?? Admission(
                    sequences: 1, cells: 1, queueLimit: configuration.queueLimit)
            // One model may answer for both roles; who waits for it waits in one queue.
            let roles = EngineRole.allCases.filter { $0 == role || model != nil && Self.answering($0, facts) == model }
            // No bound that would lose text: there are at most as many events as prompt chunks and new tokens.
            return AsyncThrowingStream { continuation in
                let signal = StopSignal()
                continuation.onTermination = { if case .cancelled = $0 { signal.cancel() } }
                let request = GenerationRequest(
                    role: role, messages: messages, options: options, signal: signal, stopwatch: stopwatch,
                    continuation: continuation)
                // Queued here, because tasks may reach the engine's thread in another order than they were made.
                switch requests.withLock({ $0.add(request, admission, queue: roles) }) {
                case .refused(let error): continuation.finish(throwing: error)
                case .queued(wakes: true): Task { await self.work() }
                case .queued(wakes: false): break
                }
            }
        }

        /// Says that something else than answers is on its way to the engine's thread.
        nonisolated func knock() { visitors.add(1, ordering: .relaxed) }

        /// Makes the vector of one text; answers go on between two of its steps.
        /// - Parameter mark: of the load whose model is to make it; `nil` for whichever is there.
        func embed(
            _ text: String, _ index: Int, by mark: LoadMark?, _ signal: StopSignal
        ) throws -> Vector {
            visitors.subtract(1, ordering: .relaxed)
            if signal.isSet { throw CancellationError() }
            guard let loop = loop(.text) else {
                if isBeingRead(.text) { return .beingRead }
                throw Self.notLoaded
            }
            if let mark, loop.mark !== mark { return .replaced }
            let vector = try loop.model.embedder().embed(text, index, signal: signal) { _ = self.turn() }
            return .made(vector, by: loop.mark)
        }

        /// What became of one text.
        enum Vector {
            case made([Float], by: LoadMark)
            /// Another model has taken the place of the one that is to make it.
            case replaced
            /// It is not there yet.
            case beingRead
        }

        /// Waits until what is being loaded or unloaded is.
        nonisolated func settle() async { await changes.turn {} }

        /// How many loads and unloads, and others who wait for them, wait for the one under way.
        nonisolated var waitingForChange: Int { changes.waitingCount }

        private nonisolated func load(
            _ order: LoadOrder, _ progress: @escaping @Sendable (Float) -> Void
        ) async throws {
            knock()
            let order = try await makeRoom(for: order)
            do {
                let loaded = try await ModelLoader().load(order, progress: progress)
                knock()
                await take(loaded, order)
            } catch {
                knock()
                await take(nil, order)
                throw error
            }
        }

        /// Gives back what is in the way of a model, once that has answered what it was asked.
        /// - Returns: the order with a plan that fits.
        private func makeRoom(for order: LoadOrder) throws -> LoadOrder {
            visitors.subtract(1, ordering: .relaxed)
            if order.signal.isSet { throw CancellationError() }
            let replaced = RolePlan(deviceMemory: order.configuration.deviceMemory)
                .unloadedFirst(loading: order.role, loaded: Set(loops.keys))
            var order = order
            try order.plan?.fit(
                beside: memory(without: replaced),
                gpu: LlamaFacts.hasGPU ? freeGPU(without: replaced) : .none)
            answerAll(asked: replaced, unless: order.signal)
            if order.signal.isSet { throw CancellationError() }
            closeModels(replaced)
            // Only now is the memory of what it replaces free.
            if LlamaFacts.hasGPU { order.place(on: LlamaFacts.read().devices) }
            reading = order
            return order
        }

        /// Lets a model that has been read answer; `nil` where nothing came of it.
        private func take(_ loaded: LoadedModel?, _ order: LoadOrder) {
            visitors.subtract(1, ordering: .relaxed)
            reading = nil
            if let loaded {
                loaded.moveHere()
                loops[order.role] = GenerationLoop(loaded, time: time)
                let fact = Facts(
                    information: loaded.information, weights: loaded.weights, admission: loaded.admission,
                    // Of a part of a split model no more is known than its weights.
                    memory: order.hostBytes ?? loaded.information.size,
                    gpuMemory: (order.plan?.estimate.total ?? 0) - (order.hostBytes ?? 0),
                    projector: loaded.projector, supportsVision: order.role == .text && loaded.supportsVision)
                facts.withLock { $0[order.role] = fact }
            }
            wake()
        }

        /// Whether the model that is being read will answer for a role for which none does.
        private func isBeingRead(_ role: EngineRole) -> Bool {
            guard let reading, loop(role) == nil else { return false }
            let sees = reading.role == .text ? reading.sees : loops[.text]?.model.supportsVision ?? false
            return RolePlan.answering(
                role, loaded: Set(loops.keys).union([reading.role]), textModelSupportsVision: sees) == reading.role
        }

        /// Has somebody go and answer those who wait, unless somebody does.
        private nonisolated func wake() {
            if requests.withLock({ $0.wakes() }) { Task { await self.work() } }
        }

        /// The bytes that the models take which stay loaded when some roles' are given back.
        private func memory(without roles: [EngineRole]) -> UInt64 {
            facts.withLock { $0.filter { !roles.contains($0.key) }.values.reduce(0) { $0 + min($1.memory, 1 << 60) } }
        }

        /// What the GPU has once some roles' models are given back.
        private func freeGPU(without roles: [EngineRole]) -> GPUMemory {
            guard var gpu = LlamaFacts.read().gpuMemory else { return .none }
            let theirs = facts.withLock { facts in roles.reduce(0) { $0 + min(facts[$1]?.gpuMemory ?? 0, 1 << 50) } }
            gpu.free += theirs
            return gpu
        }

        private func leave(_ roles: [EngineRole]) {
            visitors.subtract(1, ordering: .relaxed)
            closeModels(roles)
        }

        private func closeModels(_ roles: [EngineRole]) {
            for role in roles {
                _ = facts.withLock { $0.removeValue(forKey: role) }
                guard let loop = loops.removeValue(forKey: role) else { continue }
                forget(loop.end(throwing: CancellationError()).map(\.request))
                loop.model.conversations.saveAll(loop.model)
            }
        }

        private func loop(_ role: EngineRole) -> GenerationLoop? {
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
            /// The bytes it takes of the machine's memory, as planned.
            let memory: UInt64
            /// And of that of a GPU that has its own.
            let gpuMemory: UInt64
            let projector: Projector?
            let supportsVision: Bool
        }

        /// The facts of the model that answers for a role.
        nonisolated func answering(_ role: EngineRole) throws -> Facts {
            let facts = facts.withLock { $0 }
            guard let found = Self.answering(role, facts).flatMap({ facts[$0] }) else { throw Self.notLoaded }
            return found
        }

        private static func answering(_ role: EngineRole, _ facts: [EngineRole: Facts]) -> EngineRole? {
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
                    Task { self.work() }
                    return
                }
            }
        }

        /// Lets in who has room, and takes everybody who is in one step further.
        /// - Parameter mayBegin: whom to let in; the others wait on.
        /// - Returns: whether there is more to do.
        private func turn(_ mayBegin: (GenerationRequest) -> Bool = { _ in true }) -> Bool {
            admit(requests.withLock { $0.waiting }, mayBegin)
            for loop in loops.values where !loop.runs.isEmpty {
                let isBesideOthers = loops.values.contains { $0 !== loop && !$0.runs.isEmpty }
                forget(loop.step(isBesideOthers: isBesideOthers).map(\.request))
            }
            let held = EngineRole.allCases.filter(isBeingRead)
            return requests.withLock { $0.goesOn(without: held) }
        }

        private func admit(_ waiting: [GenerationRequest], _ mayBegin: (GenerationRequest) -> Bool) {
            // Nobody overtakes who waits for the same model.
            var full: [GenerationLoop] = []
            for request in waiting {
                if request.signal.isCancelled {
                    request.continuation.finish(throwing: CancellationError())
                    forget([request])
                    continue
                }
                guard let loop = loop(request.role) else {
                    if isBeingRead(request.role) { continue }
                    request.continuation.finish(throwing: Self.notLoaded)
                    forget([request])
                    continue
                }
                if full.contains(where: { $0 === loop }) || !mayBegin(request) { continue }
                switch loop.admit(request) {
                case .begun: requests.withLock { $0.begin(request) }
                case .ended: forget([request])
                case .mustWait: full.append(loop)
                }
            }
        }

        private func forget(_ ended: [GenerationRequest]) {
            guard !ended.isEmpty else { return }
            requests.withLock { $0.remove(ended) }
        }

        /// Answers what these roles' models have been asked until now.
        private func answerAll(asked roles: [EngineRole], unless signal: StopSignal) {
            func isConcerned(_ request: GenerationRequest) -> Bool {
                roles.contains { role in loop(request.role).map { $0 === loops[role] } ?? false }
            }
            let asked = requests.withLock { $0.all }.filter(isConcerned)
            // Who comes later waits for the new model: begun by the old one, they would be ended with it.
            func mayBegin(_ request: GenerationRequest) -> Bool {
                !isConcerned(request) || asked.contains { $0.isSame(as: request) }
            }
            while !signal.isSet, requests.withLock({ $0.contains(anyOf: asked) }), turn(mayBegin) {}
        }

        private static var notLoaded: LLMError {
            LLMError(.modelNotLoaded, "no model is loaded", context: ErrorContext(remedy: "Load a model first."))
        }
    }
#endif
