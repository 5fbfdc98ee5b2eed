#if Llama
import CLlama
import HearthBase
import HearthInference

/// Answers the requests of one model: each step computes one batch for all answers and one for prompts.
///
/// Unchecked, like its model: only the thread of the actor that made it may use it.
final class GenerationLoop: @unchecked Sendable {
    let model: LoadedModel
    private let time: TimeSource
    /// The running generations, in the order of their requests.
    private(set) var runs: [Generation] = []
    private var batch: TokenBatch
    /// The number of prompt tokens in one step while other generations wait.
    private(set) var pace: StepPace
    /// The number of steps that computed a prompt.
    private var promptSteps = 0

    /// Makes the loop on the engine's thread.
    /// - Parameter load: the engine's count of used cores.
    init(_ model: LoadedModel, load: CoreLoad, time: TimeSource) {
        self.model = model
        model.moveHere(load)
        self.time = time
        batch = TokenBatch(capacity: model.sequences.context.batchSize)
        // ggml gives each thread four parts of a call; parts of fewer tokens divide its tiles badly.
        pace = StepPace(bounds: min(2 * BatchPlan.tile, model.chunkSize)...min(256, model.chunkSize))
    }

    enum Admittance {
        case begun, mustWait
        /// There is a sequence, but not enough room in the context.
        case lacksRoom
        /// The prompt is being made on another thread.
        case isMade
        /// The saved state of the conversation is read from its file first.
        case readsState
        /// The request has failed, or had no tokens to compute.
        case ended
    }

    /// Begins a request if there is room for it. The engine calls it again before each step for the first waiting
    /// request.
    /// - Parameters:
    ///   - onRead: see ``ConversationMemory/begin(_:need:beside:onRead:)``.
    ///   - make: begins to make the prompt on another thread; without it, this thread makes the prompt.
    func admit(
        _ request: GenerationRequest, onRead: @escaping @Sendable () -> Void = {},
        make: ((GenerationRequest) -> Void)? = nil
    ) -> Admittance {
        do {
            if request.signal.isCancelled { throw CancellationError() }
            guard model.sequences.context.hasMemory else { throw LLMError.encoderOnly }
            // The prompt of a waiting request is made once.
            if let prepared = request.prepared, prepared.model === model { return admit(prepared, onRead) }
            guard runs.count < model.admission.sequences else { return .mustWait }
            guard let made = try prompt(of: request, make) else { return .isMade }
            let prepared = try Generation(request, made: made, model: model, time: time)
            request.prepared = prepared
            return admit(prepared, onRead)
        } catch {
            request.prepared = nil
            request.reply.finish(.failure(error))
            return .ended
        }
    }

    /// The prompt of a request, made again for a model that was replaced meanwhile; `nil` while another thread makes it.
    private func prompt(of request: GenerationRequest, _ make: ((GenerationRequest) -> Void)?) throws -> MadePrompt? {
        switch request.takeMaking() {
        case .underWay: return nil
        case .made(let result):
            let made = try result.get()
            if made.mark === model.weights.mark { return made }
        case .never: break
        }
        guard let make else { return try PromptMaker(model).make(request) }
        request.setMaking(.underWay)
        make(request)
        return nil
    }

    /// Begins a generation with a finished prompt, if there is room for it.
    func admit(_ run: Generation, _ onRead: @escaping @Sendable () -> Void = {}) -> Admittance {
        if run.request.isPreparation, model.conversations.table.holds(run.prompt.ledger) {
            run.endPrepared()
            return .ended
        }
        guard runs.count < model.admission.sequences else { return .mustWait }
        let others = runs.reduce(0) { $0 + cells(of: $1) }
        // Tokens that a running generation has computed are shared, and take their cells once.
        let shared = model.conversations.sharing(run.prompt, beside: others)
        let donor = shared.flatMap { shared in runs.first { $0.sequence == shared.sequence } }
        let need = run.need - (donor == nil ? 0 : shared?.count ?? 0)
        guard model.admission.admits(need, beside: runs.isEmpty ? [] : [others]) else { return .lacksRoom }
        switch model.conversations.begin(run.prompt, need: need, beside: others, onRead: onRead) {
        case .noSequence: return .mustWait
        case .readsState: return .readsState
        case .begun(let place):
            run.request.prepared = nil
            if let donor, let shared { run.shares = (donor, shared.count) }
            // While other generations run, measured steps have already chosen the number of threads.
            if runs.isEmpty { model.chooseThreads() }
            run.begin(in: place.sequence, miss: place.plan.miss)
            runs.append(run)
            return .begun
        }
    }

    /// The cells that a running generation can use beside those it shares with another one.
    private func cells(of run: Generation) -> Int {
        guard let (donor, count) = run.shares, runs.contains(where: { $0 === donor }) else { return run.need }
        return run.need - count
    }

    /// Makes a generation that shared the tokens of an ended one the donor of the others.
    private func passOn(_ ended: Generation) {
        let sharing = runs.filter { $0.phase != .finished && $0.shares?.donor === ended }
        guard let heir = sharing.max(by: { ($0.shares?.count ?? 0) < ($1.shares?.count ?? 0) }) else { return }
        let count = heir.shares?.count ?? 0
        heir.shares = ended.shares.map { ($0.donor, min($0.count, count)) }
        for run in sharing where run !== heir { run.shares = (heir, min(run.shares?.count ?? 0, count)) }
    }

    /// Ends the generations whose callers have left or whose time is over.
    /// - Returns: the ended generations.
    func endAsked() -> [Generation] {
        for run in runs { run.endIfAsked() }
        return sweep()
    }

    /// Computes the next tokens of all running answers, then a part of the prompts.
    /// - Parameter isBesideOthers: whether another model also answers, and waits for the end of the step.
    /// - Returns: the ended generations.
    func step(isBesideOthers: Bool = false) -> [Generation] {
        for run in runs { run.endIfAsked() }
        // Drops earlier problems, which are not the cause if this step fails.
        _ = LlamaLog.shared.takeProblems()
        computePicture()
        computeTokens(isBesideOthers: isBesideOthers)
        // The step of another model may take longer than a token.
        if isBesideOthers {
            handOver()
            model.sequences.context.rest()
        }
        return sweep()
    }

    /// Ends all generations with an error.
    /// - Returns: the generations that ran.
    func end(throwing error: any Error) -> [Generation] {
        for run in runs { run.fail(error) }
        return sweep()
    }

    /// Delivers the waiting events of all generations. Called before work that takes longer than a step.
    func handOver() { for run in runs { run.handOver() } }

    private func sweep() -> [Generation] {
        let ended = runs.filter { $0.phase == .finished }
        guard !ended.isEmpty else { return [] }
        for run in ended { model.conversations.end(run.sequence) }
        for run in ended { passOn(run) }
        runs.removeAll { $0.phase == .finished }
        // Another context may compute next.
        if runs.isEmpty { model.sequences.context.rest() }
        // The projector keeps a picture's pixels for its next part, and a cancelled request never asks for that
        // part.
        if !runs.contains(where: \.hasPicturesLeft) { model.projector?.dropPixels() }
        return ended
    }

    /// Computes one part of a picture. Each step computes at most one, so that answers continue between two parts.
    private func computePicture() {
        for run in runs {
            guard case .picture(let picture)? = run.step else { continue }
            handOver()
            // The projector encodes pictures with its own threads.
            model.sequences.context.rest()
            model.listeners.members = [run.request.signal]
            let status: Int32
            do {
                status = try model.runPrefillStep(by: { picture.wasEncoded ? model.projector?.threadCount : nil }) {
                    try picture.compute(in: model.sequences.context.raw, at: run.position, of: run.sequence)
                }
            } catch {
                return run.fail(error)
            }
            if picture.wasEncoded { run.didEncodePicture() }
            guard status == 0 else { return didFail([run], status) }
            model.sequences.didCompute(picture.ledger, in: run.sequence)
            return run.didCompute(picture.ledger.count, logits: nil)
        }
    }

    /// The most tokens of a call for preparations alone: what is lost when a question ends them, and computed again.
    private static let preparedTokens = 32

    private struct Part {
        let run: Generation
        let tokens: ArraySlice<llama_token>
        /// The place of the first token in the batch, if all are reported.
        let reported: Int32?
        let logits: Int32?
    }

    private func computeTokens(isBesideOthers: Bool) {
        var runs: [Generation] = []
        var wants: [BatchPlan.Want] = []
        for run in self.runs {
            guard case .tokens(let range)? = run.step else { continue }
            runs.append(run)
            // The context has room for the logits of one token of each sequence.
            let room = max(1, model.sequences.context.sequences / self.runs.count)
            wants.append((run.reportsPrompt ? min(range.count, room) : range.count, run.phase == .decode))
        }
        let isPreparing = !runs.isEmpty && runs.allSatisfy(\.request.isPreparation)
        let plan = BatchPlan(
            wants, capacity: isPreparing ? min(Self.preparedTokens, model.chunkSize) : model.chunkSize,
            besideOthers: pace.tokens, isBesideOthers: isBesideOthers, turn: promptSteps)
        // llama.cpp computes sequences with cells of their own together if their numbers follow each other.
        compute(zip(runs, plan.answers).sorted { $0.0.sequence < $1.0.sequence }, isPrompts: false)
        if plan.prompts.contains(where: { $0 > 0 }) {
            // Delivers the answers' tokens before the longer call.
            handOver()
            let watch = time.stopwatch()
            guard let count = compute(zip(runs, plan.prompts), isPrompts: true, threads: isPreparing ? 1 : .max)
            else { return }
            // Calls for reports have fewer tokens than there is time for.
            if !isPreparing, !runs.contains(where: \.reportsPrompt) {
                pace.observe(tokens: count, seconds: watch.elapsed.seconds)
            }
            promptSteps &+= 1
        }
    }

    /// Computes one call for some generations.
    /// - Returns: the number of computed tokens; `nil` for a call that failed.
    @discardableResult
    private func compute(
        _ shares: some Sequence<(Generation, Int)>, isPrompts: Bool, threads: Int = .max
    ) -> Int? {
        batch.removeAll()
        var parts: [Part] = []
        for (run, count) in shares where count > 0 {
            guard case .tokens(let range)? = run.step else { continue }
            let tokens = run.tokens(range.prefix(count))
            let needsLogits = run.needsLogits(after: count)
            let reported = run.reportsPrompt ? Int32(batch.count) : nil
            batch.append(
                tokens, at: run.position, of: run.sequence,
                outputs: reported != nil ? .all : needsLogits ? .last : .none)
            parts.append(
                Part(
                    run: run, tokens: tokens, reported: reported,
                    logits: needsLogits ? Int32(batch.count - 1) : nil))
        }
        guard !parts.isEmpty else { return 0 }
        model.listeners.members = parts.map(\.run.request.signal)
        // Steps of other sizes say nothing about the number of threads.
        let isMeasured = !isPrompts && parts.allSatisfy { $0.tokens.count == 1 }
        let status =
            isMeasured
            ? model.runDecodeStep(streams: parts.count) { model.sequences.context.decode(batch, for: model.listeners) }
            : model.runPrefillStep(onAtMost: threads) {
                model.sequences.context.decode(batch, for: model.listeners)
            }
        guard status == 0 else {
            didFail(parts.map(\.run), status)
            return nil
        }
        for part in parts { model.sequences.didCompute(part.tokens, in: part.run.sequence) }
        for part in parts {
            if let index = part.reported { part.run.reportPrompt(part.tokens.count, at: index) }
            if part.run.phase != .finished { part.run.didCompute(part.tokens.count, logits: part.logits) }
        }
        return batch.count
    }

    /// Truncates the sequences to their ledgers. Status 2 is an aborted computation: its callers have left.
    private func didFail(_ runs: [Generation], _ status: Int32) {
        for run in runs { model.sequences.truncate(run.sequence, to: run.position) }
        guard status != 2 else { return runs.forEach { $0.endIfAsked() } }
        let cause = LlamaLog.shared.takeProblems().last
        let error = LLMError(
            .generateFailed,
            "the engine failed while it was answering (status \(status)\(cause.map { ": \($0)" } ?? ""))",
            context: ErrorContext(
                model: model.information.description,
                remedy: "Try again; if it happens again, load the model with a smaller context."))
        for run in runs {
            model.sequences.clear(run.sequence)
            run.fail(error)
        }
    }
}
#endif
