import HearthBase
import HearthInference

extension LLMOrchestrator {
    /// One request of a conversation.
    struct Call: Sendable {
        let messages: [ChatMessage]
        let options: GenerationOptions
        let request: RouteRequest
        let began: Stopwatch
        /// Called once, before the first visible event of the answer.
        let onAnswering: @Sendable (RouteDecision) -> Void
        let onEvent: @Sendable (GenerationEvent) -> Void

        /// Identifies the turn; passes of a turn share its question.
        var turn: String {
            request.turn ?? messages.last { $0.role == .user }?.id ?? messages.last?.id ?? ""
        }

        /// The options with the rest of the time.
        func remainingOptions() throws -> GenerationOptions {
            var rest = options
            rest.timeout -= began.elapsed
            guard rest.timeout > .zero else {
                throw LLMError(.timedOut, "no engine answered within \(options.timeout.wholeSeconds) s")
            }
            return rest
        }
    }

    /// The answer to a request.
    struct Outcome: Sendable {
        var summary: GenerationSummary
        /// The rest of the answer is still to come, from a local engine.
        var interruption: Interruption?
    }

    /// Answers a request with the engine that the rules choose.
    func answer(_ call: Call) async throws -> Outcome {
        if let engine = await namedEngine(for: call.request) { return try await answer(call, from: engine) }
        let decision = try await admit(call)
        guard decision.source == .cloud, let cloud else {
            let failure = decision.reason.isLasting ? nil : decision.refusal
            return try await answerLocally(call, decision, insteadOf: failure)
        }
        let error: any Error
        switch try await answer(call, from: cloud, decision) {
        case .success(let outcome): return outcome
        case .failure(let failure): error = failure
        }
        await note(nil, of: call.request)
        guard call.request.preference != .cloud else { throw error }
        let failure = RouteFailure(error)
        Log.write(.info, "routing", "a local model takes over: \(error)")
        var trace = decision.trace
        trace.append("cloud answer: failed before its first word (\(failure.code))")
        let reason: RouteReason = failure.kind == .noCredits ? .noCredits : .tookOver(code: failure.code)
        return try await answerLocally(call, RouteDecision(.local, reason, trace: trace), insteadOf: error)
    }

    /// Decides the request; waits for a new connection to be stable.
    private func admit(_ call: Call) async throws -> RouteDecision {
        var hasRefreshed = false
        var isWaiting = false
        while true {
            try Task.checkCancellation()
            switch begin(call.request) {
            case .wait:
                if !isWaiting { call.onEvent(.phase(.connecting)) }
                isWaiting = true
                for await _ in changes() { break }
            case .go(let decision) where decision.reason == .noCredits && !hasRefreshed:
                // A new month may have begun, or another process may have learnt the server's count.
                hasRefreshed = true
                await readCredits()
            case .go(let decision):
                if decision.source == .local, call.request.preference == .cloud { throw decision.refusal }
                return decision
            }
        }
    }

    // MARK: Named

    /// The engine that a request names and that is not one of the local ones; in a private conversation, and if a local
    /// answer is asked for, its part on this device.
    func namedEngine(for request: RouteRequest) async -> (any InferenceEngine)? {
        guard let model = request.model, let engine = await named(model) else { return nil }
        if request.isPrivate { return engine.forPrivateUse }
        guard request.preference == .local else { return engine }
        return (engine as? any SendingEngine)?.onThisDevice ?? WithheldEngine(reason: .localPreferred)
    }

    /// Whether a request names a model of another server, or an alias.
    package func namesOther(_ request: RouteRequest) async -> Bool { await namedEngine(for: request) != nil }

    private func answer(_ call: Call, from engine: any InferenceEngine) async throws -> Outcome {
        let decision = RouteDecision(.cloud, .upstream)
        let gate = AnswerGate(onFirst: { call.onAnswering(decision) }, onEvent: call.onEvent)
        do {
            let summary = try await engine.generate(call.messages, options: call.remainingOptions()) { gate.pass($0) }
            let passed = gate.close()
            if !passed.isVisible { call.onAnswering(decision) }
            return Outcome(
                summary: summary,
                interruption: summary.reason == .interrupted ? call.interruption(after: passed.text) : nil)
        } catch {
            let passed = gate.close()
            guard passed.isVisible, !(error is CancellationError), !Task.isCancelled else { throw error }
            Log.write(.warning, "routing", "another server broke off an answer: \(error)")
            return call.interrupted(after: passed.text)
        }
    }

    // MARK: Local

    /// Answers with a local model.
    /// - Parameter failure: the reason why the cloud does not answer; without a local model, it is the error to act on.
    private func answerLocally(
        _ call: Call, _ decision: RouteDecision, insteadOf failure: (any Error)?
    ) async throws -> Outcome {
        apply(.localBegan)
        defer { apply(.localEnded) }
        let gate = AnswerGate(onFirst: { call.onAnswering(decision) }, onEvent: call.onEvent)
        let engine: any InferenceEngine
        do {
            engine = try await localEngine(for: call.request) { gate.pass(.phase(.loading(fraction: $0))) }
        } catch let missing as LLMError where missing.code == .modelNotLoaded {
            throw failure ?? missing
        }
        let summary = try await engine.generate(call.messages, options: call.remainingOptions()) { gate.pass($0) }
        if !gate.close().isVisible { call.onAnswering(decision) }
        await note(decision, of: call.request)
        return Outcome(summary: summary)
    }

    /// The local engine of a request, loaded within the limit.
    func localEngine(
        for request: RouteRequest, onLoading: @escaping @Sendable (Double?) -> Void = { _ in }
    ) async throws -> any InferenceEngine {
        if await namesOther(request) {
            throw LLMError(.engineMissing, "the tokens of a model of another server are not known here")
        }
        await evictionEnded()
        let late = LLMError(
            .timedOut, "the local model was not loaded within \(Self.loadLimit.wholeSeconds) s",
            context: ErrorContext(model: request.model, remedy: "Try again, or choose a smaller model."),
            disposition: .tryLater)
        let engine = try await within(Self.loadLimit, of: time, orThrow: late) { [local] in
            try await local.engine(for: request.model, onLoading: onLoading)
        }
        localCapabilities[request.model] = try await engine.capabilities
        return engine
    }

    // MARK: Cloud

    private func answer(
        _ call: Call, from cloud: any RemoteEngine, _ decision: RouteDecision
    ) async throws -> Result<Outcome, any Error> {
        let turn = call.turn
        do {
            try await premium.take(turn: turn)
        } catch {
            apply(.cloudEnded(.cancelled))
            updateActiveSource(reason: "credits taken")
            if error is CancellationError { throw error }
            return .failure(error)
        }
        while true {
            let firstToken = Locked<Task<Void, Never>?>(nil)
            let gate = AnswerGate(
                onFirst: { [weak self] in
                    call.onAnswering(decision)
                    let task = Task { await self?.receivedToken(of: turn) ?? () }
                    firstToken.withLock { $0 = task }
                }, onEvent: call.onEvent)
            let corrections = Locked<Task<Void, Never>?>(nil)
            let result = await generate(call, from: cloud, turn: turn, corrections) { gate.pass($0) }
            let passed = gate.close()
            await firstToken.withLock { $0 }?.value
            switch result {
            case .success(let summary) where summary.reason == .interrupted && !passed.isVisible:
                let failure = RouteFailure(.unreachable, code: summary.reason.rawValue)
                apply(.cloudEnded(.failed(failure)))
                await giveBack(turn: turn)
                return .failure(
                    LLMError(.unreachable, "the cloud broke off before its first word", disposition: .tryLater))
            case .success(let summary):
                await premium.settle(turn: turn)
                if !passed.isVisible { call.onAnswering(decision) }
                let isBroken = summary.reason == .interrupted
                let broken = RouteFailure(.unreachable, code: FinishReason.interrupted.rawValue)
                apply(.cloudEnded(isBroken ? .failed(broken) : .succeeded))
                await corrections.withLock { $0 }?.value
                await note(decision, of: call.request)
                return .success(
                    Outcome(summary: summary, interruption: isBroken ? call.interruption(after: passed.text) : nil))
            case .failure(let error) where error is CancellationError || Task.isCancelled:
                apply(.cloudEnded(.cancelled))
                if !passed.isVisible { await giveBack(turn: turn) }
                throw CancellationError()
            case .failure(let error):
                let failure = RouteFailure(error)
                if passed.isVisible {
                    apply(.cloudEnded(.failed(failure)))
                    Log.write(.warning, "routing", "the cloud broke off an answer: \(error)")
                    await note(decision, of: call.request)
                    return .success(call.interrupted(after: passed.text))
                }
                // A request whose time is up is not repeated.
                if !passed.hasBegun, let wait = retry(after: failure),
                    wait < (try? call.remainingOptions().timeout) ?? .zero
                {
                    do {
                        try await time.sleep(for: wait)
                        continue
                    } catch {
                        apply(.cloudEnded(.cancelled))
                        await giveBack(turn: turn)
                        throw error
                    }
                }
                apply(.cloudEnded(.failed(failure)))
                await giveBack(turn: turn)
                if failure.kind == .noCredits { await premium.correct(left: 0, turn: turn) }
                updateActiveSource(reason: "cloud failed")
                return .failure(error)
            }
        }
    }

    /// Generates in the cloud; `corrections` gets the task that takes over the server's count of credits.
    private func generate(
        _ call: Call, from cloud: any RemoteEngine, turn: String, _ corrections: Locked<Task<Void, Never>?>,
        onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async -> Result<GenerationSummary, any Error> {
        let report: @Sendable (Int) -> Void = { [premium] left in
            corrections.withLock { last in
                last = Task { [last] in
                    await last?.value
                    await premium.correct(left: left, turn: turn)
                }
            }
        }
        do {
            let options = try call.remainingOptions()
            return .success(
                try await CreditReport.$current.withValue(CreditReport(report)) {
                    try await CloudEngine.$turn.withValue(turn) {
                        try await cloud.generate(call.messages, options: options, onEvent: onEvent)
                    }
                })
        } catch {
            return .failure(error)
        }
    }

    /// Gives the credit of a turn back, which may let the next request go to the cloud.
    private func giveBack(turn: String) async {
        await premium.giveBack(turn: turn)
        updateActiveSource(reason: "credit given back")
    }

    private func receivedToken(of turn: String) async {
        apply(.cloudToken)
        await premium.settle(turn: turn)
    }
}

extension LLMOrchestrator.Call {
    func interruption(after text: String) -> Interruption {
        Interruption(messages: messages, options: options, text: text)
    }

    /// The end of an answer that broke off after its first visible token.
    func interrupted(after text: String) -> LLMOrchestrator.Outcome {
        let none = GenerationTimings(firstTokenSeconds: 0, prefillTokensPerSecond: 0, decodeTokensPerSecond: 0)
        return LLMOrchestrator.Outcome(
            summary: GenerationSummary(
                reason: .interrupted, usage: TokenUsage(promptTokens: 0, cachedTokens: 0, generatedTokens: 0),
                timings: none),
            interruption: interruption(after: text))
    }
}

extension RouteDecision {
    /// The error for a caller who asked for the cloud, which the rules forbid.
    package var refusal: any Error {
        let message = "the cloud cannot answer: \(reasonText)"
        return switch reason {
        case .forceLocal, .privateConversation, .localPreferred, .modelNamed:
            RoutingError(
                .cloudOff, message,
                context: ErrorContext(
                    field: reason == .forceLocal ? "forceLocal" : nil,
                    remedy: "Change that first, or ask without insisting on the cloud."),
                disposition: .usage)
        case .cloudMissing:
            RoutingError(
                .cloudMissing, message,
                context: ErrorContext(remedy: "Set up a cloud first, or ask without insisting on it."),
                disposition: .usage)
        case .tier: LLMError(.notEntitled, message, context: ErrorContext(remedy: "Choose a tier with the cloud."))
        case .noCredits:
            LLMError(
                .noCredits, message, context: ErrorContext(remedy: "Wait for the next month, or use a local model."))
        case .offline, .settling, .checking, .unhealthy, .failing, .paused, .cloud, .tookOver, .upstream:
            LLMError(
                .unreachable, message, context: ErrorContext(remedy: "Try again later, or use a local model."),
                disposition: .tryLater)
        }
    }
}
