#if Llama
    import CLlama
    import HearthBase
    import HearthInference

    /// One answer: prefill, then token by token. Runs from beginning to end on the thread that owns the model.
    struct Generation {
        let model: LoadedModel
        let options: GenerationOptions
        let signal: StopSignal
        /// Counts from the request, to tell how long the first token took.
        let request: Stopwatch
        let time: TimeSource
        let yield: (GenerationEvent) -> Void

        /// Answers the conversation.
        /// - Throws: ``LLMError``; `CancellationError` when the flag is set.
        func run(_ messages: [ChatMessage]) throws -> GenerationSummary {
            let window = model.information.contextLength
            let policy = StopPolicy(
                maximumNewTokens: options.maximumNewTokens, contextLength: window, timeout: options.timeout)
            if signal.isCancelled { throw CancellationError() }
            let prompt = try makePrompt(messages, window: window)
            let sampler = try Sampler(options.sampling, vocabulary: model.vocabulary)

            return try model.context.listening(to: signal) {
                var facts = Facts(promptTokens: prompt.count)
                let running = time.stopwatch()
                var reason = try prefill(prompt, policy, running, &facts)
                if reason == nil { reason = try decode(sampler, policy, running, &facts) }
                return facts.summary(reason: reason ?? .endOfGeneration)
            }
        }

        /// What the summary is made of.
        private struct Facts {
            let promptTokens: Int
            var cachedTokens = 0
            var prefilledTokens = 0
            var prefillSeconds = 0.0
            var generatedTokens = 0
            var firstTokenSeconds = 0.0
            var decodeSeconds = 0.0
            var droppedBytes = 0

            init(promptTokens: Int) { self.promptTokens = promptTokens }

            func summary(reason: FinishReason) -> GenerationSummary {
                GenerationSummary(
                    reason: reason,
                    usage: TokenUsage(
                        promptTokens: promptTokens, cachedTokens: cachedTokens, generatedTokens: generatedTokens),
                    timings: GenerationTimings(
                        firstTokenSeconds: firstTokenSeconds,
                        prefillTokensPerSecond: Self.rate(prefilledTokens, prefillSeconds),
                        decodeTokensPerSecond: Self.rate(generatedTokens - 1, decodeSeconds)),
                    droppedBytes: droppedBytes)
            }

            private static func rate(_ count: Int, _ seconds: Double) -> Double {
                count > 0 && seconds > 0 ? Double(count) / seconds : 0
            }
        }

        private func makePrompt(_ messages: [ChatMessage], window: Int) throws -> [llama_token] {
            let fit = ContextFit(window: window, reserve: min(options.maximumNewTokens, window / 4))
            let outcome = try fit.apply(
                to: messages,
                render: model.weights.tokens,
                count: \.count)
            if outcome.dropped > 0 {
                Log.write(.info, "llama.prompt", "left out the \(outcome.dropped) oldest messages to fit the context")
            }
            guard !outcome.prompt.isEmpty else {
                throw LLMError(.templateFailed, "the conversation gives an empty prompt", disposition: .usage)
            }
            return outcome.prompt
        }

        /// Computes what of the prompt is not in memory yet.
        /// - Returns: a reason to end before the first token.
        private func prefill(
            _ prompt: [llama_token], _ policy: StopPolicy, _ running: Stopwatch, _ facts: inout Facts
        ) throws -> FinishReason? {
            let reuse = PrefixReuse(cached: model.ledger, prompt: prompt)
            if reuse.discarded > 0 || reuse.reused == 0 { model.truncateMemory(to: reuse.reused) }
            var position = model.ledger.count
            facts.cachedTokens = position
            yield(.phase(.prefill(done: position, total: prompt.count)))
            let start = running.elapsed
            var tokens = prompt
            while position < prompt.count {
                if let end = try stop(policy, facts, running) { return end }
                let count = min(model.chunkSize, prompt.count - position)
                let isDone = try tokens.withUnsafeMutableBufferPointer { buffer in
                    try compute(buffer.baseAddress.map { $0 + position }, count)
                }
                guard isDone else { return .timedOut }
                model.ledger.append(contentsOf: prompt[position..<position + count])
                position += count
                yield(.phase(.prefill(done: position, total: prompt.count)))
            }
            facts.prefilledTokens = prompt.count - facts.cachedTokens
            facts.prefillSeconds = (running.elapsed - start).seconds
            return try stop(policy, facts, running)
        }

        /// Chooses, shows and computes token after token.
        private func decode(
            _ sampler: borrowing Sampler, _ policy: StopPolicy, _ running: Stopwatch, _ facts: inout Facts
        ) throws -> FinishReason {
            yield(.phase(.decode))
            var assembler = UTF8Assembler()
            var piece = [CChar](repeating: 0, count: 64)
            var firstToken = Duration.zero
            while true {
                var token = try sampler.sample(model.context)
                let elapsed = running.elapsed
                if facts.generatedTokens == 0 {
                    firstToken = elapsed
                    facts.firstTokenSeconds = request.elapsed.seconds
                }
                let ended = model.vocabulary.isEndOfGeneration(token)
                if !ended {
                    facts.generatedTokens += 1
                    let count = model.vocabulary.piece(of: token, into: &piece)
                    let text = piece.withUnsafeBytes { assembler.append($0.prefix(count)) }
                    if !text.isEmpty { yield(.text(text)) }
                }
                let decision = policy.decide(
                    StopPolicy.Progress(
                        generatedTokens: facts.generatedTokens, usedContext: model.ledger.count, elapsed: elapsed,
                        isEndOfGeneration: ended, isCancelled: signal.isCancelled))
                var end: FinishReason?
                switch decision {
                case .proceed:
                    if try compute(&token, 1) {
                        model.ledger.append(token)
                    } else {
                        end = .timedOut
                    }
                case .cancel: throw CancellationError()
                case .finish(let reason): end = reason
                }
                if let end {
                    facts.decodeSeconds = (elapsed - firstToken).seconds
                    facts.droppedBytes = assembler.flush()
                    return end
                }
            }
        }

        private func stop(_ policy: StopPolicy, _ facts: Facts, _ running: Stopwatch) throws -> FinishReason? {
            if signal.isExpired { return .timedOut }
            let progress = StopPolicy.Progress(
                generatedTokens: facts.generatedTokens, usedContext: model.ledger.count, elapsed: running.elapsed,
                isCancelled: signal.isCancelled)
            switch policy.decide(progress) {
            case .proceed: return nil
            case .finish(let reason): return reason
            case .cancel: throw CancellationError()
            }
        }

        /// Runs tokens through the model and brings the memory back in step with the ledger if that fails.
        /// - Returns: `false` when the time-out struck while they were computed.
        private func compute(_ tokens: UnsafeMutablePointer<llama_token>?, _ count: Int) throws -> Bool {
            let status = model.context.decode(tokens, count)
            if status == 0 { return true }
            model.truncateMemory(to: model.ledger.count)
            if status == 2 && signal.isCancelled { throw CancellationError() }
            if status == 2 && signal.isExpired { return false }
            model.clearMemory()
            let cause = LlamaLog.shared.takeProblems().last
            throw LLMError(
                .generateFailed,
                "the engine failed while it was answering (status \(status)\(cause.map { ": \($0)" } ?? ""))",
                context: ErrorContext(
                    model: model.information.description,
                    remedy: "Try again; if it happens again, load the model with a smaller context."))
        }
    }
#endif
