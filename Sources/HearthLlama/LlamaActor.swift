#if Llama
import HearthBase
import HearthInference

/// A model run by llama.cpp, on a thread of its own.
///
/// ```swift
/// let engine = try await LlamaActor.load(Path("model.gguf"))
/// let session = LanguageModelSession(model: engine)
/// ```
/// Each role has its own model: the engine itself is the model for text, ``model(for:)`` returns the other. If the
/// next prompt begins with the tokens of the last prompt and answer, their state is reused.
///
/// Requests are added to a ``Mailbox``. The engine's thread reads it between two steps, each of which computes one
/// batch for all requests of a model. Loads and unloads are jobs of the same thread, which run before the next
/// step.
public actor LlamaActor: InferenceEngine, TokenReader {
    nonisolated let executor = ThreadExecutor(name: "hearth.llama")
    let configuration: LlamaConfiguration
    nonisolated let time: TimeSource
    /// The file system of the saved conversation states.
    let fileSystem: any FileSystem
    /// Facts that any thread reads without waiting for the current answer.
    let facts = Locked<[EngineRole: Facts]>([:])
    nonisolated let mailbox = Locked(Mailbox())
    /// Orders loads and unloads, each of which takes several jobs.
    let changes = TurnQueue()
    /// Orders the work with texts beside the answers.
    nonisolated let texts = TextLanes()
    var loops: [EngineRole: GenerationLoop] = [:]
    /// The memory that the models use.
    var memory = MemoryLedger()
    /// The running load.
    var arrival: Arrival?
    /// Measures the cores that all steps of the engine use.
    let load = CoreLoad()

    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Makes an engine without a model.
    public init(configuration: LlamaConfiguration = LlamaConfiguration(), time: TimeSource = .system) {
        self.init(configuration: configuration, time: time, fileSystem: LocalFileSystem())
    }

    init(configuration: LlamaConfiguration, time: TimeSource = .system, fileSystem: any FileSystem) {
        self.configuration = configuration
        self.time = time
        self.fileSystem = fileSystem
    }

    deinit {
        if !loops.isEmpty { Self.retire(loops.values.map(\.model)) }
    }

    /// Makes an engine and loads a model; see ``load(_:role:projector:configuration:supportsVision:progress:)``.
    public static func load(
        _ path: Path, projector: Path? = nil, configuration: LlamaConfiguration = LlamaConfiguration(),
        time: TimeSource = .system,
        progress: @escaping @Sendable (Float) -> Void = { _ in }
    ) async throws -> LlamaActor {
        let engine = LlamaActor(configuration: configuration, time: time)
        try await engine.load(path, projector: projector, progress: progress)
        return engine
    }

    /// The version of llama.cpp.
    public nonisolated static var libraryVersion: String { LlamaLibrary.version }

    /// The model loaded for text. Returns at once, also while a generation runs.
    public nonisolated var modelInformation: ModelInformation {
        get throws { try modelInformation(.text) }
    }

    /// The model that answers for a role. Returns at once, also while a generation runs.
    /// - Throws: `model-not-loaded`.
    public nonisolated func modelInformation(_ role: EngineRole) throws -> ModelInformation {
        try answering(role).information
    }

    /// The abilities of the model loaded for text.
    /// - Throws: `model-not-loaded`; `CancellationError`.
    public nonisolated var capabilities: EngineCapabilities { get async throws { try await capabilities(.text) } }

    /// The abilities of the model of a role; waits for a model that is being read.
    nonisolated func capabilities(_ role: EngineRole) async throws -> EngineCapabilities {
        // Without a model, one may be on its way; the second look reports that there is none.
        if let facts = try? answering(role) { return facts.capabilities }
        try await settle()
        return try answering(role).capabilities
    }

    /// Whether the model loaded for text also answers questions about pictures, so that no separate vision model is
    /// needed.
    public nonisolated var textModelSupportsVision: Bool {
        facts.withLock { $0[.text]?.supportsVision ?? false }
    }

    /// Stops the running and waiting generations; they throw `CancellationError`.
    public nonisolated func stop() { stop(EngineRole.allCases) }

    nonisolated func stop(_ roles: [EngineRole]) {
        for request in mailbox.withLock({ $0.generations }) where roles.contains(request.role) {
            request.signal.cancel()
        }
        // Ends requests that wait for a model being read now.
        serve()
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

    /// Answers with the model of a role. A request waits for a model that is being read.
    nonisolated func generate(
        _ messages: [ChatMessage], options: GenerationOptions, role: EngineRole, isPreparation: Bool = false,
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        let request = GenerationRequest(
            role: role, messages: messages, options: options, stopwatch: time.stopwatch(),
            reply: GenerationReply(onEvent), isPreparation: isPreparation)
        return try await request.reply.value(cancelling: request.signal) { begin(request) }
    }

    /// Queues a request on the caller's thread, because tasks may reach the engine's thread in another order.
    nonisolated func begin(_ request: GenerationRequest) {
        let facts = facts.withLock { $0 }
        let model = Self.answering(request.role, facts)
        let admission =
            model.flatMap { facts[$0] }?.admission
            ?? Admission(sequences: 1, cells: 1, queueLimit: configuration.queueLimit)
        // One model may answer for both roles; then all its requests wait in one queue.
        let roles = EngineRole.allCases.filter {
            $0 == request.role || model != nil && Self.answering($0, facts) == model
        }
        request.startTimer(time) { [weak self] in self?.serve() }
        if model != nil { request.setMaking(.underWay) }
        if let refusal = mailbox.withLock({ $0.add(request, admission, queue: roles) }) {
            request.close()
            request.reply.finish(.failure(refusal))
        } else if model != nil {
            Task { await self.makePrompt(of: request) }
        }
        serve()
    }

    /// Makes the prompt of a waiting request outside the engine's thread, so that running answers do not wait for
    /// it.
    nonisolated func makePrompt(of request: GenerationRequest) async {
        let made: Result<MadePrompt, any Error>?
        do {
            try checkSize(of: request)
            made = .success(
                try await texts.turn(bytes: request.textBytes) {
                    // Read after the wait, because a waiting request must not keep a model in memory.
                    try self.answering(request.role).prompts.make(request)
                })
        } catch let error as LLMError where error.code == .modelNotLoaded {
            // The model is gone; the engine's thread decides whether another one comes.
            made = nil
        } catch {
            made = .failure(error)
        }
        request.setMaking(made.map { .made($0) } ?? .never)
        await serveNow()
    }

    /// Refuses a text that cannot fit before it waits for its turn.
    private nonisolated func checkSize(of request: GenerationRequest) throws {
        try answering(request.role).prompts.check(request)
    }

    /// Enqueues the job that computes the steps, unless it is enqueued already or there are no requests.
    nonisolated func serve() { if mailbox.withLock({ $0.startsServing() }) { Task { await self.work() } } }

    /// The model that answers for a role.
    func loop(_ role: EngineRole) -> GenerationLoop? {
        RolePlan.answering(
            role, loaded: Set(loops.keys), textModelSupportsVision: loops[.text]?.model.supportsVision ?? false
        )
        .flatMap { loops[$0] }
    }

    /// The facts of a loaded model that other threads read.
    struct Facts: Sendable {
        let information: ModelInformation
        let weights: ModelWeights
        let admission: Admission
        let projector: Projector?
        let supportsVision: Bool
        let prompts: PromptMaker

        var capabilities: EngineCapabilities {
            var all: EngineCapabilities = [.tokenCounts]
            if information.embeddingLength > 0 { all.insert(.embeddings) }
            if weights.ranksTexts { all.insert(.ranking) }
            if information.isEncoderOnly { return all }
            all.formUnion([.schema, .grammar, .seed, .rawPrompt, .logProbabilities, .logitBias, .promptText])
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

    static var notLoaded: LLMError {
        LLMError(.modelNotLoaded, "no model is loaded", context: ErrorContext(remedy: "Load a model first."))
    }

    // MARK: Steps

    /// Computes steps until no request needs one. Waiting jobs run before the next step.
    private func work() {
        while step() {
            guard executor.hasWaitingJobs else { continue }
            deliver()
            Task { self.work() }
            return
        }
    }
}
#endif
