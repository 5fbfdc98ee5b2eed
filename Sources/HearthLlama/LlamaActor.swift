#if Llama
    import Foundation
    import HearthBase
    import HearthInference

    /// A model run by llama.cpp, on a thread of its own.
    ///
    /// ```swift
    /// let engine = try await LlamaActor.load(Path("model.gguf"))
    /// let session = LanguageModelSession(model: engine)
    /// ```
    /// Each role has a model of its own. What the last prompt and answer left in memory is reused as far as the next prompt
    /// begins with the same tokens.
    public actor LlamaActor: InferenceEngine {
        private let executor = ThreadExecutor(name: "hearth.llama")
        private let configuration: LlamaConfiguration
        private let time: TimeSource
        /// What everybody may know, from any thread, without waiting for an answer under way.
        let facts = Locked<[EngineRole: Facts]>([:])
        private let requests = Locked(Requests())
        private var models: [EngineRole: LoadedModel] = [:]

        public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        /// An engine without a model yet.
        public init(configuration: LlamaConfiguration = LlamaConfiguration(), time: TimeSource = .system) {
            self.configuration = configuration
            self.time = time
        }

        deinit {
            // Giving gigabytes back takes a while, and the last reference may be let go of anywhere.
            guard !models.isEmpty else { return }
            let models = self.models
            Thread.detachNewThread { for model in models.values { model.conversations.saveAll(model) } }
        }

        /// An engine with a model loaded; see ``load(_:role:configuration:supportsVision:progress:)``.
        public static func load(
            _ path: Path, configuration: LlamaConfiguration = LlamaConfiguration(), time: TimeSource = .system,
            progress: @escaping @Sendable (Float) -> Void = { _ in }
        ) async throws -> LlamaActor {
            let engine = LlamaActor(configuration: configuration, time: time)
            try await engine.load(path, progress: progress)
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

        /// Whether the model loaded for text answers questions about pictures too, so that none need be loaded for vision.
        public nonisolated var textModelSupportsVision: Bool {
            facts.withLock { $0[.text]?.supportsVision ?? false }
        }

        /// Loads a model in place of the role's present one, which is given back first, and warms it up.
        ///
        /// On a device of less than 6 GiB (whole GiB) loading one for vision gives back the one for text first.
        /// - Parameters:
        ///   - path: a GGUF file.
        ///   - role: what it is for.
        ///   - configuration: in place of the engine's own.
        ///   - supportsVision: a model for text that answers questions about pictures too.
        ///   - progress: 0...1, called on the engine's thread.
        /// - Throws: `cannot-load-model`, with what llama.cpp found; `chat-template-failed`; `CancellationError`. What was
        ///   given back for it stays unloaded.
        public nonisolated func load(
            _ path: Path, role: EngineRole = .text, configuration: LlamaConfiguration? = nil,
            supportsVision: Bool = false,
            progress: @escaping @Sendable (Float) -> Void = { _ in }
        ) async throws {
            let signal = StopSignal()
            try await withTaskCancellationHandler {
                try await replaceModel(path, role, configuration, supportsVision, signal, progress)
            } onCancel: {
                signal.cancel()
            }
        }

        /// Stops what runs and gives the memory of all models back. What was computed for conversations is written to the
        /// configuration's `stateFolder` before, if there is one.
        public nonisolated func unload() async {
            stop()
            await closeModels(EngineRole.allCases)
        }

        /// Stops what this role's model is doing or is to do, and gives its memory back.
        public nonisolated func unload(_ role: EngineRole) async {
            let facts = facts.withLock { $0 }
            let served = EngineRole.allCases.filter { Self.answering($0, facts) == role }
            for signal in requests.withLock({ $0.signals(of: served) }) { signal.cancel() }
            await closeModels([role])
        }

        /// Stops the generations under way and those that wait; their streams throw `CancellationError`.
        public nonisolated func stop() {
            for signal in requests.withLock({ $0.signals(of: EngineRole.allCases) }) { signal.cancel() }
        }

        public nonisolated func generate(
            _ messages: [ChatMessage], options: GenerationOptions
        ) -> AsyncThrowingStream<GenerationEvent, any Error> {
            generate(messages, options: options, role: .text)
        }

        /// Answers with the model of a role; see ``InferenceEngine/generate(_:options:)``.
        public nonisolated func generate(
            _ messages: [ChatMessage], options: GenerationOptions, role: EngineRole
        ) -> AsyncThrowingStream<GenerationEvent, any Error> {
            let stopwatch = time.stopwatch()
            // No bound that would lose text: there are at most as many events as prompt chunks and new tokens.
            return AsyncThrowingStream { continuation in
                let signal = StopSignal()
                continuation.onTermination = { if case .cancelled = $0 { signal.cancel() } }
                let request = Request(
                    role: role, messages: messages, options: options, signal: signal, stopwatch: stopwatch,
                    continuation: continuation)
                // Queued here, because tasks may reach the engine's thread in another order than they were made.
                requests.withLock { $0.waiting.append(request) }
                Task { await self.answerNext() }
            }
        }

        /// Makes vectors with the model for text; see ``TextEmbedding``.
        func embed(_ texts: [String], _ signal: StopSignal) throws -> [[Float]] {
            if signal.isSet { throw CancellationError() }
            return try model(.text).embedder().embed(texts, signal: signal)
        }

        private func replaceModel(
            _ path: Path, _ role: EngineRole, _ configuration: LlamaConfiguration?, _ supportsVision: Bool,
            _ signal: StopSignal, _ progress: @Sendable (Float) -> Void
        ) throws {
            let configuration = configuration ?? self.configuration
            let plan = RolePlan(deviceMemory: configuration.deviceMemory)
            closeModels(plan.unloadedFirst(loading: role, loaded: Set(models.keys)))
            let loaded = try withoutActuallyEscaping(progress) { progress in
                try LoadedModel(path: path, configuration: configuration, supportsVision: supportsVision) { value in
                    progress(value)
                    return !signal.isSet
                }
            }
            models[role] = loaded
            let fact = Facts(
                information: loaded.information, weights: loaded.weights,
                supportsVision: role == .text && supportsVision)
            facts.withLock { $0[role] = fact }
        }

        private func closeModels(_ roles: [EngineRole]) {
            for role in roles {
                _ = facts.withLock { $0.removeValue(forKey: role) }
                if let model = models.removeValue(forKey: role) { model.conversations.saveAll(model) }
            }
        }

        private func model(_ role: EngineRole) throws -> LoadedModel {
            let answering = RolePlan.answering(
                role, loaded: Set(models.keys), textModelSupportsVision: models[.text]?.supportsVision ?? false)
            guard let model = answering.flatMap({ models[$0] }) else { throw Self.notLoaded }
            return model
        }

        /// What is known of a loaded model outside the engine's thread.
        struct Facts: Sendable {
            let information: ModelInformation
            let weights: ModelWeights
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

        /// A generation asked for.
        private struct Request: Sendable {
            let role: EngineRole
            let messages: [ChatMessage]
            let options: GenerationOptions
            let signal: StopSignal
            let stopwatch: Stopwatch
            let continuation: AsyncThrowingStream<GenerationEvent, any Error>.Continuation
        }

        private struct Requests {
            var current: Request?
            var waiting: [Request] = []

            mutating func begin() -> Request? {
                guard !waiting.isEmpty else { return nil }
                current = waiting.removeFirst()
                return current
            }

            /// The signals of what runs and waits for these roles.
            func signals(of roles: [EngineRole]) -> [StopSignal] {
                ([current].compactMap { $0 } + waiting).filter { roles.contains($0.role) }.map(\.signal)
            }
        }

        private func answerNext() {
            guard let request = requests.withLock({ $0.begin() }) else { return }
            defer { requests.withLock { $0.current = nil } }
            let continuation = request.continuation
            do {
                if request.signal.isCancelled { throw CancellationError() }
                let model = try model(request.role)
                let generation = Generation(
                    model: model, options: request.options, signal: request.signal, request: request.stopwatch,
                    time: time,
                    yield: { continuation.yield($0) })
                let summary = try request.signal.expiring(after: request.options.timeout, time) {
                    try generation.run(request.messages)
                }
                continuation.yield(.finish(summary))
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }

        private static var notLoaded: LLMError {
            LLMError(.modelNotLoaded, "no model is loaded", context: ErrorContext(remedy: "Load a model first."))
        }
    }
#endif
