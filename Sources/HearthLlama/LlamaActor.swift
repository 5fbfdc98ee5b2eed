#if Llama
    import Foundation
    import HearthBase
    import HearthInference

    /// A model run by llama.cpp, on a thread of its own.
    ///
    /// ```swift
    /// let engine = try await LlamaActor.load(Path("model.gguf"))
    /// let chat = ChatSession(engine: engine)
    /// ```
    /// One context, one conversation's state: what the last prompt and answer left in memory is reused as far as the next
    /// prompt begins with the same tokens.
    public actor LlamaActor: InferenceEngine {
        private let executor = ThreadExecutor(name: "hearth.llama")
        private let configuration: LlamaConfiguration
        private let time: TimeSource
        private let facts = Locked<ModelInformation?>(nil)
        private let requests = Locked(Requests())
        private var model: LoadedModel?

        public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        /// An engine without a model yet.
        public init(configuration: LlamaConfiguration = LlamaConfiguration(), time: TimeSource = .system) {
            self.configuration = configuration
            self.time = time
        }

        deinit {
            // Giving gigabytes back takes a while, and the last reference may be let go of anywhere.
            guard let model else { return }
            Thread.detachNewThread { model.close() }
        }

        /// An engine with a model loaded; see ``load(_:progress:)``.
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

        /// What is loaded; answers at once, also while a generation runs.
        public nonisolated var modelInformation: ModelInformation {
            get throws {
                guard let information = facts.withLock({ $0 }) else { throw Self.notLoaded }
                return information
            }
        }

        /// Loads a model in place of the one loaded now, which is given back first, and warms it up.
        ///
        /// - Parameters:
        ///   - path: a GGUF file.
        ///   - progress: 0...1, called on the engine's thread.
        /// - Throws: `cannot-load-model`, with what llama.cpp found; `chat-template-failed`; `CancellationError`.
        public nonisolated func load(_ path: Path, progress: @escaping @Sendable (Float) -> Void = { _ in })
            async throws
        {
            let signal = StopSignal()
            try await withTaskCancellationHandler {
                try await replaceModel(path, signal, progress)
            } onCancel: {
                signal.cancel()
            }
        }

        /// Stops what runs and gives the model's memory back.
        public nonisolated func unload() async {
            stop()
            await closeModel()
        }

        /// Stops the generations under way and those that wait; their streams throw `CancellationError`.
        public nonisolated func stop() {
            let signals = requests.withLock { [$0.current].compactMap { $0 } + $0.waiting.map(\.signal) }
            for signal in signals { signal.cancel() }
        }

        public nonisolated func generate(
            _ messages: [ChatMessage], options: GenerationOptions
        ) -> AsyncThrowingStream<GenerationEvent, any Error> {
            let stopwatch = time.stopwatch()
            // No bound that would lose text: there are at most as many events as prompt chunks and new tokens.
            return AsyncThrowingStream { continuation in
                let signal = StopSignal()
                continuation.onTermination = { if case .cancelled = $0 { signal.cancel() } }
                let request = Request(
                    messages: messages, options: options, signal: signal, stopwatch: stopwatch,
                    continuation: continuation)
                // Queued here, because tasks may reach the engine's thread in another order than they were made.
                requests.withLock { $0.waiting.append(request) }
                Task { await self.answerNext() }
            }
        }

        private func replaceModel(
            _ path: Path, _ signal: StopSignal, _ progress: @Sendable (Float) -> Void
        ) throws {
            closeModel()
            let loaded = try withoutActuallyEscaping(progress) { progress in
                try LoadedModel(path: path, configuration: configuration) { value in
                    progress(value)
                    return !signal.isSet
                }
            }
            model = loaded
            facts.withLock { $0 = loaded.information }
        }

        private func closeModel() {
            facts.withLock { $0 = nil }
            model?.close()
            model = nil
        }

        /// A generation asked for.
        private struct Request: Sendable {
            let messages: [ChatMessage]
            let options: GenerationOptions
            let signal: StopSignal
            let stopwatch: Stopwatch
            let continuation: AsyncThrowingStream<GenerationEvent, any Error>.Continuation
        }

        private struct Requests {
            var current: StopSignal?
            var waiting: [Request] = []

            mutating func begin() -> Request? {
                guard !waiting.isEmpty else { return nil }
                let request = waiting.removeFirst()
                current = request.signal
                return request
            }
        }

        private func answerNext() {
            guard let request = requests.withLock({ $0.begin() }) else { return }
            defer { requests.withLock { $0.current = nil } }
            let continuation = request.continuation
            do {
                if request.signal.isCancelled { throw CancellationError() }
                guard let model else { throw Self.notLoaded }
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
