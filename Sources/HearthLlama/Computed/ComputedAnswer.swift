#if Llama
import HearthBase
import HearthInference

/// One answer of a ``ComputedEngine``: the prompt is computed in parts, then token after token. Only the engine's thread
/// uses it.
final class ComputedAnswer {
    /// The most tokens of a part: a progress event follows each.
    private static let part = 256

    private let request: GenerationRequest
    private let prompt: Prompt
    private let tokens: HeldTokens
    private let policy: StopPolicy
    private let outlet: AnswerOutlet
    private let writer: AnswerWriter
    private let time: TimeSource
    private var facts: GenerationFacts

    /// Makes the prompt.
    /// - Throws: ``LLMError``; `CancellationError`.
    init(
        _ request: GenerationRequest, _ text: ComputedEngine.Text, _ tokens: HeldTokens, time: TimeSource
    ) throws {
        self.request = request
        self.tokens = tokens
        self.time = time
        let made = try text.prompts.make(request)
        prompt = made.prompt
        let options = request.options
        policy = StopPolicy(
            maximumNewTokens: options.maximumNewTokens,
            contextLength: options.limited(text.information.contextLength), timeout: options.timeout)
        outlet = AnswerOutlet(time: time, request.reply.deliver)
        writer = try AnswerWriter(
            request, prompt: prompt, policy: policy, weights: text.weights, outlet: outlet,
            constraint: made.constraint)
        facts = GenerationFacts(promptTokens: prompt.ledger.count)
        facts.turnChanges = prompt.turnChanges
    }

    /// The way in which a part of the work ended early.
    private enum Early: Error {
        case finished(FinishReason)
    }

    /// Computes the answer. Blocks.
    /// - Parameter hasOthers: whether the work ends because others wait.
    /// - Throws: ``LLMError``; `CancellationError`. The text so far is delivered.
    func run(_ hasOthers: @escaping () -> Bool) throws -> GenerationSummary {
        var hasBegun = false
        do {
            try prefill(hasOthers)
            if request.isPreparation || policy.maximumNewTokens <= 0 { return end(.maximumNewTokens) }
            outlet.yield(.phase(.decode))
            hasBegun = true
            return end(try decode(), closes: true)
        } catch Early.finished(let reason) {
            return end(reason, closes: hasBegun)
        } catch {
            if (error as? LLMError)?.code == .notFinite { tokens.truncate(to: 0) }
            if hasBegun { _ = writer.finish(&facts, reason: nil) }
            outlet.handOver()
            throw error
        }
    }

    private func prefill(_ hasOthers: @escaping () -> Bool) throws {
        let plan = PrefixPlan(
            held: HeldPrefix(tokens: prompt.reusesTokens ? tokens.ledger : []), prompt: prompt.ledger,
            isTruncated: prompt.isTruncated)
        tokens.truncate(to: plan.reused)
        facts.cacheMiss = plan.miss
        facts.cachedTokens = plan.reused
        for notice in prompt.notices { outlet.yield(notice) }
        let total = prompt.ledger.count
        outlet.yield(.phase(.prefill(done: plan.reused, total: total)))
        let watch = time.stopwatch()
        let reportsPrompt = request.options.tokenReports?.includesPrompt == true && !request.isPreparation
        if reportsPrompt, let first = prompt.ledger.first { try writer.reportPrompt(first, nil) }
        while tokens.ledger.count < total {
            try checkPrefill()
            if hasOthers() { throw Early.finished(.maximumNewTokens) }
            let start = tokens.ledger.count
            // Each reported token needs the logits of the one before it.
            let end = min(total, start + (reportsPrompt ? 1 : Self.part))
            let isDone = try tokens.compute(
                prompt.ledger[start..<end], wantsLogits: (end == total || reportsPrompt) && !request.isPreparation
            ) { request.signal.isSet || hasOthers() }
            guard isDone else { continue }
            if reportsPrompt, end < total { try writer.reportPrompt(prompt.ledger[end], tokens.logits) }
            outlet.yield(.phase(.prefill(done: end, total: total)))
        }
        facts.prefilledTokens = total - plan.reused
        facts.prefillSeconds = watch.elapsed.seconds
        try checkPrefill()
    }

    private func checkPrefill() throws {
        if request.signal.isExpired { throw Early.finished(.timedOut) }
        // A prompt whose answer may have no token is computed too.
        let decision = policy.decide(
            generatedTokens: min(0, policy.maximumNewTokens - 1), usedContext: tokens.ledger.count,
            elapsed: request.stopwatch.elapsed, isCancelled: request.signal.isCancelled)
        switch decision {
        case .proceed: return
        case .finish(let reason): throw Early.finished(reason)
        case .cancel: throw CancellationError()
        }
    }

    private func decode() throws -> FinishReason {
        while true {
            let step = try writer.next(tokens.logits, usedContext: tokens.ledger.count, &facts)
            outlet.endToken()
            switch step {
            case .compute(let next):
                guard try tokens.compute(next[...], wantsLogits: true, isStopped: { request.signal.isSet }) else {
                    if request.signal.isCancelled { throw CancellationError() }
                    return .timedOut
                }
            case .end(let reason): return reason
            case .cancel: throw CancellationError()
            }
        }
    }

    private func end(_ reason: FinishReason, closes: Bool = false) -> GenerationSummary {
        let hasCalled = closes && writer.finish(&facts, reason: reason)
        outlet.handOver()
        return facts.summary(reason: hasCalled ? .toolCalls : reason)
    }
}
#endif
