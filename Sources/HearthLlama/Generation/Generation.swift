#if Llama
    import CLlama
    import HearthBase
    import HearthInference

    /// One generation: waiting for a sequence, reading its prompt, answering, finished. It tells the tokens it needs computed next;
    /// ``GenerationLoop`` computes them beside those of others.
    ///
    /// Confined to the thread that owns the model.
    final class Generation {
        enum Phase {
            case waiting, prefill, decode, finished
        }

        let request: GenerationRequest
        let prompt: Prompt
        private(set) var phase = Phase.waiting
        /// The sequence of the context it computes in, once it has begun.
        private(set) var sequence = 0
        /// The tokens of the context it may come to need.
        let need: Int
        let model: LoadedModel
        private let time: TimeSource
        private let policy: StopPolicy
        private let writer: AnswerWriter
        private let outlet: AnswerOutlet
        private var facts: GenerationFacts
        private var running: Stopwatch
        /// The tokens of the answer that are to be computed.
        private var answer: ArraySlice<llama_token> = []

        /// A generation that waits.
        /// - Throws: ``LLMError``.
        init(_ request: GenerationRequest, prompt: Prompt, model: LoadedModel, time: TimeSource) throws {
            self.request = request
            self.prompt = prompt
            self.model = model
            self.time = time
            let options = request.options
            policy = StopPolicy(
                maximumNewTokens: options.maximumNewTokens,
                contextLength: model.information.contextLength - prompt.extraCells,
                timeout: options.timeout)
            outlet = AnswerOutlet(time: time, request.reply.deliver)
            writer = try AnswerWriter(
                request, prompt: prompt, policy: policy, weights: model.weights, outlet: outlet)
            facts = GenerationFacts(promptTokens: prompt.ledger.count)
            need = model.admission.need(
                prompt: prompt.ledger.count + prompt.extraCells, newTokens: options.maximumNewTokens,
                closing: writer.closing.count)
            running = time.stopwatch()
        }

        /// Goes on from what the sequence holds, a true beginning of the prompt.
        func begin(in sequence: Int, miss: PrefixPlan.Miss?) {
            self.sequence = sequence
            phase = .prefill
            running = time.stopwatch()
            facts.cacheMiss = miss
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
            case .prefill: prompt.step(at: position)
            case .decode: .tokens(answer.indices)
            }
        }

        /// Whether a part of a picture is still to be computed.
        var hasPicturesLeft: Bool { phase == .prefill && prompt.hasPictures(from: position) }

        /// The tokens of a step.
        func tokens(_ range: Range<Int>) -> ArraySlice<llama_token> {
            phase == .prefill ? prompt.ledger[range] : answer[range]
        }

        /// Whether the next token is chosen once so many tokens more are computed.
        func needsLogits(after count: Int) -> Bool {
            if request.isPreparation { return false }
            return phase == .prefill ? position + count == prompt.ledger.count : count == answer.count
        }

        /// Ends a preparation for which nothing is left to compute.
        func endPrepared() {
            facts.cachedTokens = prompt.ledger.count
            end(.maximumNewTokens)
        }

        /// Ends it if its caller has left, or if it has no time or room left. Called before each step.
        func endIfAsked() {
            switch phase {
            case .waiting, .finished: break
            case .prefill:
                if request.signal.isExpired { return end(.timedOut) }
                let progress = StopPolicy.Progress(
                    generatedTokens: 0, usedContext: position, elapsed: request.stopwatch.elapsed,
                    isCancelled: request.signal.isCancelled)
                switch policy.decide(progress) {
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

        /// Delivers the events that wait for the next piece; called before anything that takes longer than a step of answers.
        func handOver() { outlet.handOver() }

        /// A picture of its prompt was encoded.
        func didEncodePicture() { facts.encodedPictures += 1 }

        /// Its next tokens are computed and stand in the ledger.
        /// - Parameter index: the last one's place in the batch, if it was to have its logits.
        func didCompute(_ count: Int, logits index: Int32?) {
            if phase == .prefill {
                outlet.yield(.phase(.prefill(done: position, total: prompt.ledger.count)))
                guard position == prompt.ledger.count else { return }
                facts.prefilledTokens = prompt.ledger.count - facts.cachedTokens
                facts.prefillSeconds = running.elapsed.seconds
                endIfAsked()
                guard phase == .prefill else { return }
                if request.isPreparation { return end(.maximumNewTokens) }
                phase = .decode
                outlet.yield(.phase(.decode))
            } else {
                answer = answer.dropFirst(count)
            }
            guard let index else {
                // Only a prompt that ends with a picture would leave nothing to choose the first token from.
                if phase == .decode, answer.isEmpty { fail(Self.noLogits) }
                return
            }
            do {
                let step = try writer.next(
                    index, of: model.sequences.context, usedContext: position, &facts)
                outlet.endToken()
                switch step {
                case .compute(let tokens): answer = tokens[...]
                case .end(let reason): end(reason)
                case .cancel: fail(CancellationError())
                }
            } catch {
                fail(error)
            }
        }

        private static var noLogits: LLMError {
            LLMError(.generateFailed, "the prompt does not end with text", disposition: .usage)
        }

        private func end(_ reason: FinishReason) {
            let hasCalled = close(reason)
            request.reply.finish(.success(facts.summary(reason: hasCalled ? .toolCalls : reason)))
        }

        /// Ends it with an error instead of a summary. The text until then is delivered.
        func fail(_ error: any Error) {
            guard phase != .finished else { return }
            _ = close(nil)
            request.reply.finish(.failure(error))
        }

        /// - Returns: whether the answer calls tools.
        private func close(_ reason: FinishReason?) -> Bool {
            let hasCalled = phase == .decode && writer.finish(&facts, reason: reason)
            outlet.handOver()
            phase = .finished
            return hasCalled
        }
    }
#endif
