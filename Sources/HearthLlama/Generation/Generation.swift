#if Llama
import CLlama
import HearthBase
import HearthInference

/// One generation with the states waiting, prefill, decode and finished. It names the tokens to compute next;
/// ``GenerationLoop`` computes them together with those of other generations.
///
/// Only the thread that owns the model may use it.
final class Generation {
    enum Phase {
        case waiting, prefill, decode, finished
    }

    let request: GenerationRequest
    let prompt: Prompt
    private(set) var phase = Phase.waiting
    /// The sequence of the context that the generation uses, once it has begun.
    private(set) var sequence = 0
    /// The most tokens of the context that the generation can use.
    let need: Int
    let model: LoadedModel
    /// The generation whose computed tokens this one shares, with their number.
    var shares: (donor: Generation, count: Int)?
    private let time: TimeSource
    private let policy: StopPolicy
    private let writer: AnswerWriter
    private let outlet: AnswerOutlet
    private var facts: GenerationFacts
    private var running: Stopwatch
    /// The position at which the state of the app's instructions is kept; `nil` if it is kept already.
    private var instructionsEnd: Int?
    /// The tokens of the answer that are still to be computed.
    private var answer: ArraySlice<llama_token> = []

    /// Makes a waiting generation.
    /// - Throws: ``LLMError``.
    init(_ request: GenerationRequest, made: MadePrompt, model: LoadedModel, time: TimeSource) throws {
        self.request = request
        let prompt = made.prompt
        self.prompt = prompt
        self.model = model
        self.time = time
        let options = request.options
        policy = StopPolicy(
            maximumNewTokens: options.maximumNewTokens,
            contextLength: options.limited(model.information.contextLength) - prompt.extraCells,
            timeout: options.timeout)
        outlet = AnswerOutlet(time: time, request.reply.deliver)
        writer = try AnswerWriter(
            request, prompt: prompt, policy: policy, weights: model.weights, outlet: outlet,
            constraint: made.constraint)
        facts = GenerationFacts(promptTokens: prompt.ledger.count)
        need = model.admission.need(
            prompt: prompt.ledger.count + prompt.extraCells, newTokens: options.maximumNewTokens,
            closing: writer.closing.count)
        running = time.stopwatch()
    }

    /// Begins the generation after the tokens that the sequence holds, a beginning of the prompt shorter than the
    /// prompt.
    func begin(in sequence: Int, miss: CacheMiss?) {
        self.sequence = sequence
        phase = .prefill
        running = time.stopwatch()
        if model.conversations.wantsInstructions(of: prompt) { instructionsEnd = prompt.ownCount }
        keepInstructions()
        facts.cacheMiss = miss
        facts.turnChanges = prompt.turnChanges
        facts.cachedTokens = position
        for notice in prompt.notices { outlet.yield(notice) }
        outlet.yield(.phase(.prefill(done: position, total: prompt.ledger.count)))
    }

    /// The tokens whose state the sequence holds.
    var position: Int { model.sequences.ledger(sequence).count }

    /// The tokens to compute next, the last of them with its logits if ``needsLogits(after:)``.
    var step: Prompt.Step? {
        switch phase {
        case .waiting, .finished: nil
        case .prefill: prompt.step(at: position, until: instructionsEnd)
        case .decode: .tokens(answer.indices)
        }
    }

    /// Whether a part of a picture is still to be computed.
    var hasPicturesLeft: Bool { phase == .prefill && prompt.hasPictures(from: position) }

    /// The tokens of a step.
    func tokens(_ range: Range<Int>) -> ArraySlice<llama_token> {
        phase == .prefill ? prompt.ledger[range] : answer[range]
    }

    /// Whether the next token is chosen after `count` more tokens are computed.
    func needsLogits(after count: Int) -> Bool {
        if request.isPreparation { return false }
        return phase == .prefill ? position + count == prompt.ledger.count : count == answer.count
    }

    /// Whether the logits of all computed tokens are wanted, to report those of the prompt.
    var reportsPrompt: Bool {
        phase == .prefill && request.options.tokenReports?.includesPrompt == true && !request.isPreparation
            && !prompt.hasPictures(from: 0)
    }

    /// Reports the tokens of the prompt that follow the computed ones, which are in the ledger.
    /// - Parameter index: the place of the first computed token in the batch.
    func reportPrompt(_ count: Int, at index: Int32) {
        let start = position - count
        do {
            if start == 0 { try writer.reportPrompt(prompt.ledger[0], nil) }
            for offset in 0..<count where start + offset + 1 < prompt.ledger.count {
                try writer.reportPrompt(
                    prompt.ledger[start + offset + 1], model.sequences.context.logits(at: index + Int32(offset)))
            }
            outlet.endToken()
        } catch {
            model.sequences.clear(sequence)
            fail(error)
        }
    }

    /// Ends a preparation that has computed all its tokens.
    func endPrepared() {
        facts.cachedTokens = prompt.ledger.count
        end(.maximumNewTokens)
    }

    /// Ends the generation if its caller has left, or if its time or its room is used up. Called before each step.
    func endIfAsked() {
        switch phase {
        case .waiting, .finished: break
        case .prefill:
            if request.signal.isExpired { return end(.timedOut) }
            // A prompt whose answer may have no token is computed too.
            let decision = policy.decide(
                generatedTokens: min(0, policy.maximumNewTokens - 1), usedContext: position,
                elapsed: request.stopwatch.elapsed,
                isCancelled: request.signal.isCancelled)
            switch decision {
            case .proceed: break
            case .finish(let reason): end(reason)
            case .cancel: fail(CancellationError())
            }
        case .decode:
            // The other limits are checked after each token.
            if request.signal.isCancelled { return fail(CancellationError()) }
            if request.signal.isExpired { end(.timedOut) }
        }
    }

    /// Delivers the waiting events. Called before work that takes longer than a step of answers.
    func handOver() { outlet.handOver() }

    /// Keeps the state of the app's instructions once exactly their tokens are computed.
    private func keepInstructions() {
        guard position == instructionsEnd else { return }
        instructionsEnd = nil
        model.conversations.keepInstructions(of: prompt, in: sequence)
    }

    /// Counts an encoded picture of the prompt.
    func didEncodePicture() { facts.encodedPictures += 1 }

    /// Records that the next tokens are computed and in the ledger.
    /// - Parameter index: the place of the last token in the batch, if its logits were requested.
    func didCompute(_ count: Int, logits index: Int32?) {
        if phase == .prefill {
            keepInstructions()
            outlet.yield(.phase(.prefill(done: position, total: prompt.ledger.count)))
            guard position == prompt.ledger.count else { return }
            facts.prefilledTokens = prompt.ledger.count - facts.cachedTokens
            facts.prefillSeconds = running.elapsed.seconds
            endIfAsked()
            guard phase == .prefill else { return }
            if request.isPreparation || policy.maximumNewTokens <= 0 { return end(.maximumNewTokens) }
            phase = .decode
            outlet.yield(.phase(.decode))
        } else {
            answer = answer.dropFirst(count)
        }
        guard let index else {
            // Only a prompt that ends with a picture has no logits for the first token.
            if phase == .decode, answer.isEmpty {
                fail(LLMError(.generateFailed, "the prompt does not end with text", disposition: .usage))
            }
            return
        }
        do {
            let step = try writer.next(
                model.sequences.context.logits(at: index), usedContext: position, &facts)
            outlet.endToken()
            switch step {
            case .compute(let tokens): answer = tokens[...]
            case .end(let reason): end(reason)
            case .cancel: fail(CancellationError())
            }
        } catch {
            // The state of tokens that led to no numbers would spoil the next answer too.
            if (error as? LLMError)?.code == .notFinite { model.sequences.clear(sequence) }
            fail(error)
        }
    }

    private func end(_ reason: FinishReason) {
        let hasCalled = close(reason)
        request.reply.finish(.success(facts.summary(reason: hasCalled ? .toolCalls : reason)))
    }

    /// Ends the generation with an error. The text so far is delivered.
    func fail(_ error: any Error) {
        guard phase != .finished else { return }
        _ = close(nil)
        request.reply.finish(.failure(error))
    }

    /// Delivers the last events.
    /// - Returns: whether the answer calls tools.
    private func close(_ reason: FinishReason?) -> Bool {
        let hasCalled = phase == .decode && writer.finish(&facts, reason: reason)
        outlet.handOver()
        phase = .finished
        return hasCalled
    }
}
#endif
