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
            let tags = options.thinking.tags ?? model.weights.thinkingTags
            let reader = AnswerReader(
                stopStrings: options.stopStrings, tags: tags,
                openedByPrompt: ThinkingTags.opened(by: prompt.text, among: tags))
            let sampler = try Sampler(options.sampling, vocabulary: model.vocabulary)

            return try model.context.listening(to: signal) {
                var facts = Facts(promptTokens: prompt.tokens.count)
                let running = time.stopwatch()
                let plan = model.conversations.begin(prompt.tokens, isTruncated: prompt.isTruncated, model)
                defer { model.conversations.end(model) }
                model.chooseThreads()
                facts.cacheMiss = plan.miss
                var reason = try prefill(prompt.tokens, policy, running, &facts)
                if reason == nil { reason = try decode(sampler, reader, policy, running, &facts) }
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
            var thinkingTokens = 0
            var firstTokenSeconds = 0.0
            var decodeSeconds = 0.0
            var droppedBytes = 0
            var cacheMiss: PrefixPlan.Miss?

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
                    droppedBytes: droppedBytes, cacheMiss: cacheMiss)
            }

            private static func rate(_ count: Int, _ seconds: Double) -> Double {
                count > 0 && seconds > 0 ? Double(count) / seconds : 0
            }
        }

        private struct Prompt {
            let tokens: [llama_token]
            let text: String
            let isTruncated: Bool
        }

        private func makePrompt(_ messages: [ChatMessage], window: Int) throws -> Prompt {
            let fit = ContextFit(
                window: window, maximumNewTokens: options.maximumNewTokens, messageLimit: model.historyLimit)
            // All prompts end alike, whichever messages they keep.
            var text = ""
            let outcome = try fit.apply(
                to: messages,
                render: PromptTokens(vocabulary: model.vocabulary) { messages in
                    text = try model.weights.render(messages, enableThinking: options.thinking.isEnabled)
                    return text
                }.tokens,
                count: \.count)
            if outcome.dropped > 0 {
                yield(.truncated(dropped: outcome.dropped))
                Log.write(.info, "llama.prompt", "left out the \(outcome.dropped) oldest messages to fit the context")
            }
            guard !outcome.prompt.isEmpty else {
                throw LLMError(.templateFailed, "the conversation gives an empty prompt", disposition: .usage)
            }
            return Prompt(tokens: outcome.prompt, text: text, isTruncated: outcome.dropped > 0)
        }

        /// Computes what of the prompt is not in memory yet.
        /// - Returns: a reason to end before the first token.
        private func prefill(
            _ prompt: [llama_token], _ policy: StopPolicy, _ running: Stopwatch, _ facts: inout Facts
        ) throws -> FinishReason? {
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
            _ sampler: borrowing Sampler, _ answer: AnswerReader, _ policy: StopPolicy, _ running: Stopwatch,
            _ facts: inout Facts
        ) throws -> FinishReason {
            yield(.phase(.decode))
            var reader = answer
            let closing = try closingTokens(answer)
            let budget = ThinkingBudget(
                options.thinking, stop: policy, promptTokens: facts.promptTokens, closingTokens: closing.count)
            var thinkingBegan: Duration?
            var piece = [CChar](repeating: 0, count: 64)
            var firstToken = Duration.zero
            while true {
                if reader.isThinking {
                    let now = running.elapsed
                    let began = thinkingBegan ?? now
                    thinkingBegan = began
                    let progress = ThinkingBudget.Progress(
                        isThinking: true, thinkingTokens: facts.thinkingTokens, thinkingTime: now - began,
                        generatedTokens: facts.generatedTokens, usedContext: model.ledger.count, elapsed: now,
                        wantsAnswer: options.thinking.control?.wantsAnswer ?? false)
                    if case .close = budget.decide(progress), try !close(&reader, closing, &facts) { return .timedOut }
                }
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
                    piece.withUnsafeBytes { reader.append(UnsafeRawBufferPointer(rebasing: $0.prefix(count)), yield) }
                    if count == 0, let mark = thinkingMark(token, reader.tags) {
                        mark.withUnsafeBytes { reader.append($0, yield) }
                    }
                    if reader.isThinking { facts.thinkingTokens += 1 }
                }
                let decision = policy.decide(
                    StopPolicy.Progress(
                        generatedTokens: facts.generatedTokens, usedContext: model.ledger.count, elapsed: elapsed,
                        isEndOfGeneration: ended, isStopString: reader.matchedStop != nil,
                        isCancelled: signal.isCancelled))
                var end: FinishReason?
                switch decision {
                case .proceed:
                    if try compute(&token, 1) {
                        model.ledger.append(token)
                    } else {
                        end = .timedOut
                    }
                case .cancel:
                    reader.finish(yield)
                    throw CancellationError()
                case .finish(let reason): end = reason
                }
                if let end {
                    facts.decodeSeconds = (elapsed - firstToken).seconds
                    reader.finish(yield)
                    facts.droppedBytes = reader.droppedBytes
                    return end
                }
            }
        }

        /// The text of a control token that is a mark of thinking: control tokens have no text in an answer otherwise.
        private func thinkingMark(_ token: llama_token, _ tags: ThinkingTags?) -> [UInt8]? {
            let text = model.vocabulary.name(of: token)
            let pairs = tags.map { [$0] } ?? options.thinking.tags ?? model.weights.thinkingTags
            return pairs.contains { $0.opening == text || $0.closing == text } ? Array(text.utf8) : nil
        }

        /// What the model is made to say to end its thinking; nothing for one that has no marks for it.
        private func closingTokens(_ answer: AnswerReader) throws -> [llama_token] {
            guard let tags = answer.tags ?? (options.thinking.tags ?? model.weights.thinkingTags).first else {
                return []
            }
            return try model.vocabulary.tokens(
                of: ThinkingBudget.closingText(tags, options: options.thinking), addSpecial: false, parseSpecial: true)
        }

        /// Ends the thinking in the model's place.
        /// - Returns: `false` when the time is over.
        private func close(_ reader: inout AnswerReader, _ tokens: [llama_token], _ facts: inout Facts) throws -> Bool {
            var tokens = tokens
            // The next token cannot be chosen without room for these; where there is none, the limits end the answer.
            guard !tokens.isEmpty, model.ledger.count + tokens.count < model.information.contextLength else {
                return true
            }
            var position = 0
            while position < tokens.count {
                let count = min(model.chunkSize, tokens.count - position)
                let isDone = try tokens.withUnsafeMutableBufferPointer { buffer in
                    try compute(buffer.baseAddress.map { $0 + position }, count)
                }
                guard isDone else { return false }
                model.ledger.append(contentsOf: tokens[position..<position + count])
                position += count
            }
            facts.generatedTokens += tokens.count
            reader.closeThinking(yield)
            return true
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
            // The steps of a prompt are of all sizes and tell nothing.
            let status =
                count == 1 ? model.timed { model.context.decode(tokens, 1) } : model.context.decode(tokens, count)
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
