#if Llama
import CLlamaShim
import Foundation
import HearthBase
import HearthInference

/// A running load: the replaced models answer the requests that came before it, then the new model is read.
struct Arrival {
    let order: LoadOrder
    /// The roles whose models are unloaded for the load.
    let replaced: [EngineRole]
    /// The requests that the replaced models still answer; later ones wait for the new model.
    let asked: [GenerationRequest]
    /// Whether the replaced models are unloaded and the new one is being read.
    var isReading = false
    /// Resumes the load after the replaced models have answered.
    var waiter: CheckedContinuation<Void, Never>?
}

extension LlamaActor {
    /// Loads a model in place of the role's present one and warms it up.
    ///
    /// The files are checked first: a file that is missing, is no model or does not fit the memory leaves the
    /// present model and its answers unchanged. Then the present model answers the requests that came before, and
    /// is unloaded before the new one is read. On a device of less than 6 GiB (whole GiB) a model for vision also
    /// unloads the one for text. The memory of the other role's model counts, with its context for vectors. Kept
    /// states and pictures are dropped if their memory is needed. If the configuration sets no context and only a
    /// shorter one fits, the shorter one is used. The file is read on its own thread, so that the other role's
    /// answers continue. Loads run one after the other.
    /// - Parameters:
    ///   - path: a GGUF file.
    ///   - role: the role of the model.
    ///   - configuration: replaces the engine's own for this model.
    ///   - projector: the GGUF file (`mmproj`) that encodes pictures for the model; without one, pictures are left
    ///     out.
    ///   - supportsVision: whether a model for text also answers questions about pictures, as one with a projector
    ///     does.
    ///   - progress: 0...1, called on the reading thread.
    /// - Throws: `not-enough-memory` with both numbers, unless the configuration ignores memory;
    ///   `cannot-load-model`, with llama.cpp's reason; `chat-template-failed`; `CancellationError`. A cancelled
    ///   load leaves the present model in place until the new one is being read; models that are already unloaded
    ///   stay unloaded. The error is thrown at once while the load waits for earlier loads, otherwise after the
    ///   current step or the current tensor.
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
            try await changes.turnUnlessCancelled { try await load(order, progress) }
        } onCancel: {
            signal.cancel()
        }
    }

    /// Stops all generations and frees the memory of all models. If the configuration sets a `stateFolder`, the
    /// computed states of conversations are written to it first.
    public nonisolated func unload() async {
        stop()
        await changes.turn { await leave(EngineRole.allCases) }
    }

    /// Stops the generations of this role's model, with those that wait for it, and frees its memory.
    public nonisolated func unload(_ role: EngineRole) async {
        let facts = facts.withLock { $0 }
        stop(EngineRole.allCases.filter { (Self.answering($0, facts) ?? $0) == role })
        await changes.turn { await leave([role]) }
    }

    /// Waits for earlier loads and unloads.
    /// - Throws: `CancellationError`, at once.
    nonisolated func settle() async throws { try await changes.turnUnlessCancelled {} }

    /// The number of loads, unloads and other calls that wait for the running load or unload.
    nonisolated var waitingForChange: Int { changes.waitingCount }

    private func load(_ order: LoadOrder, _ progress: @escaping @Sendable (Float) -> Void) async throws {
        let order = try await makeRoom(for: order)
        defer { finishLoad() }
        let loaded = try await ModelLoader().load(order, fileSystem: fileSystem, progress: progress)
        // The count of the thread's processor time begins with its first model.
        if loops.isEmpty { load.restart() }
        loops[order.role] = GenerationLoop(loaded, load: load, time: time)
        let fact = Facts(
            information: loaded.information, weights: loaded.weights, admission: loaded.admission,
            projector: loaded.projector, supportsVision: order.role == .text && loaded.supportsVision,
            prompts: PromptMaker(loaded))
        facts.withLock { $0[order.role] = fact }
        memory.entries[order.role] = MemoryLedger.Entry(order, loaded)
    }

    private func finishLoad() {
        // A model loaded beside the others leaves no more memory free than before.
        let freesRoom = arrival.map { loops[$0.order.role] == nil || !$0.replaced.isEmpty } ?? true
        arrival = nil
        memory.arrival = nil
        if freesRoom { releaseShortEmbedder() }
        shareRoom()
        serve()
    }

    /// Unloads the replaced models after they have answered the requests that came before the load.
    /// - Returns: the order with a plan that fits.
    private func makeRoom(for order: LoadOrder) async throws -> LoadOrder {
        if order.signal.isSet { throw CancellationError() }
        let replaced = RolePlan(deviceMemory: order.configuration.deviceMemory)
            .unloadedFirst(loading: order.role, loaded: Set(loops.keys))
        var order = order
        let gpu = LlamaFacts.hasGPU ? freeGPU(without: replaced) : .none
        try order.plan?.fit(beside: memory.hostBytes(without: replaced), gpu: gpu)
        // Reserves the new model's memory: a context for vectors that is made during the load cannot use it.
        memory.arrival = (order.plan?.hostBytes(expecting: gpu) ?? 0, replaced)
        let open = mailbox.withLock { mailbox in
            mailbox.endPreparations()
            return mailbox.generations
        }
        let asked = open.filter { isAnswered($0, by: replaced) }
        arrival = Arrival(order: order, replaced: replaced, asked: asked)
        if !asked.isEmpty, !order.signal.isSet { await withCheckedContinuation { arrival?.waiter = $0 } }
        if order.signal.isSet {
            finishLoad()
            throw CancellationError()
        }
        arrival?.isReading = true
        await close(replaced)
        // The memory of the replaced models is free from here on.
        if LlamaFacts.hasGPU { order.place(on: LlamaFacts.read().devices) }
        memory.arrival?.hostBytes = order.hostBytes ?? 0
        shareRoom()
        return order
    }

    /// Resumes a load after the requests before it are answered, or after it is cancelled. Called after each step.
    func resumeLoad() {
        guard let arrival, let waiter = arrival.waiter else { return }
        let open = mailbox.withLock { $0.generations }
        guard arrival.order.signal.isSet || !arrival.asked.contains(where: { one in open.contains { $0 === one } })
        else { return }
        self.arrival?.waiter = nil
        waiter.resume()
    }

    /// Whether a request waits for the model being loaded, although the replaced model still answers earlier requests.
    func waitsForNewModel(_ request: GenerationRequest) -> Bool {
        guard let arrival, isAnswered(request, by: arrival.replaced) else { return false }
        return !arrival.asked.contains { $0 === request }
    }

    private func isAnswered(_ request: GenerationRequest, by roles: [EngineRole]) -> Bool {
        roles.contains { role in loop(request.role).map { $0 === loops[role] } ?? false }
    }

    /// Whether the model being read will answer for a role that has no model now.
    func isBeingRead(_ role: EngineRole) -> Bool {
        guard let arrival, arrival.isReading, loop(role) == nil else { return false }
        let order = arrival.order
        let sees = order.role == .text ? order.answersForVision : loops[.text]?.model.supportsVision ?? false
        return RolePlan.answering(
            role, loaded: Set(loops.keys).union([order.role]), textModelSupportsVision: sees) == order.role
    }

    private func leave(_ roles: [EngineRole]) async {
        await close(roles)
        releaseShortEmbedder()
        shareRoom()
    }

    /// Ends the generations of models, saves their conversations and frees them. Answers of other models continue.
    private func close(_ roles: [EngineRole]) async {
        let present = roles.contains { loops[$0] != nil }
        if present { await withCheckedContinuation { ended in Self.retire(takeModels(roles)) { ended.resume() } } }
        for role in roles { memory.entries[role] = nil }
    }

    private func takeModels(_ roles: [EngineRole]) -> [LoadedModel] {
        // A prompt made for a model keeps the model in memory.
        for request in mailbox.withLock({ $0.waiting }) { request.prepared = nil }
        return roles.compactMap { role in
            _ = facts.withLock { $0.removeValue(forKey: role) }
            guard let loop = loops.removeValue(forKey: role) else { return nil }
            forget(loop.end(throwing: CancellationError()).map(\.request))
            return loop.model
        }
    }

    /// Saves the conversations of models and frees them on a separate thread, because both may take seconds.
    static func retire(_ models: [LoadedModel], then: @escaping @Sendable () -> Void = {}) {
        let models = Locked(models)
        Thread.detachNewThread {
            for model in models.withLock({ $0 }) { model.conversations.saveAll() }
            models.withLock { $0 = [] }
            hearth_memory_trim()
            then()
        }
    }
}
#endif
