#if Llama
import HearthBase
import HearthInference

/// An engine whose tokens another library computes, on a thread of its own. llama.cpp gives the vocabulary, the chat
/// template and the samplers.
///
/// Requests are answered one after the other, in the order of the calls. If a prompt begins with the tokens of the last
/// prompt and answer, their state is reused.
package actor ComputedEngine: InferenceEngine, TokenReader {
    private nonisolated let executor: ThreadExecutor
    private nonisolated let time: TimeSource
    private nonisolated let loaded = Locked<Text?>(nil)
    private nonisolated let queue = Locked(Queue())
    nonisolated let lanes = TextLanes()
    private var tokens: HeldTokens?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Makes an engine without a model.
    /// - Parameter name: of its thread.
    package init(name: String, time: TimeSource = .system) {
        executor = ThreadExecutor(name: name)
        self.time = time
    }

    /// A model's texts: what is read on any thread.
    struct Text: Sendable {
        let information: ModelInformation
        let weights: ModelWeights
        let prompts: PromptMaker
    }

    /// The requests that wait, and the one being answered.
    private struct Queue {
        var waiting: [GenerationRequest] = []
        var running: GenerationRequest?
        static let limit = 64
    }

    // MARK: The model

    /// Loads a model in place of the present one.
    /// - Parameters:
    ///   - vocabulary: the bytes of a GGUF file with the vocabulary and the chat template, without tensors.
    ///   - path: the model's place in messages.
    ///   - information: the model's facts, with its context window.
    ///   - historyLimit: the most messages of a conversation's history in a prompt; `nil` for as many as fit.
    ///   - make: reads the weights; called on the engine's thread.
    /// - Throws: `cannot-load-model`, `chat-template-failed`; errors of `make`.
    package func load(
        vocabulary: [UInt8], of path: Path, information: ModelInformation, historyLimit: Int? = nil,
        _ make: @Sendable () throws -> any TokenComputer
    ) throws {
        drop()
        // Read first, because it takes less memory and time than the weights.
        let weights = try ModelWeights(vocabulary: vocabulary, of: path)
        let tokens = HeldTokens(try make())
        guard tokens.vocabularySize == weights.vocabulary.count else {
            throw ModelFile.failure(
                path, "its vocabulary does not fit its weights", expected: "\(tokens.vocabularySize) tokens",
                found: "\(weights.vocabulary.count) tokens")
        }
        _ = try tokens.compute([weights.vocabulary.warmUpToken], wantsLogits: true) { false }
        tokens.truncate(to: 0)
        self.tokens = tokens
        let prompts = PromptMaker(
            weights, window: information.contextLength, trained: information.trainedContextLength ?? 0,
            historyLimit: historyLimit)
        loaded.withLock { $0 = Text(information: information, weights: weights, prompts: prompts) }
    }

    /// Stops all requests and frees the model's memory.
    package nonisolated func unload() async {
        stop()
        await drop()
    }

    /// Stops the running and waiting requests; they throw `CancellationError`.
    package nonisolated func stop() {
        for request in queue.withLock({ $0.waiting + [$0.running].compactMap(\.self) }) {
            request.signal.cancel()
            request.reply.finish(.failure(CancellationError()))
        }
    }

    private func drop() {
        loaded.withLock { $0 = nil }
        tokens = nil
    }

    package func forget() { tokens?.truncate(to: 0) }

    /// The facts of the loaded model.
    /// - Throws: `model-not-loaded`.
    package nonisolated var modelInformation: ModelInformation { get throws { try text().information } }

    package nonisolated var capabilities: EngineCapabilities {
        get throws {
            let weights = try text().weights
            var all: EngineCapabilities = [
                .tokenCounts, .schema, .grammar, .seed, .rawPrompt, .logProbabilities, .logitBias, .promptText,
            ]
            if weights.templateThinks { all.insert(.thinking) }
            if weights.callsTools { all.insert(.tools) }
            return all
        }
    }

    nonisolated func text() throws -> Text {
        guard let text = loaded.withLock({ $0 }) else { throw Self.notLoaded }
        return text
    }

    private static var notLoaded: LLMError {
        LLMError(.modelNotLoaded, "no model is loaded", context: ErrorContext(remedy: "Load a model first."))
    }

    // MARK: Requests

    package nonisolated func generate(
        _ messages: [ChatMessage], options: GenerationOptions, onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        try await ask(messages, options, isPreparation: false, onEvent)
    }

    package nonisolated func prepare(_ messages: [ChatMessage], options: GenerationOptions) async throws {
        _ = try await ask(messages, options, isPreparation: true) { _ in }
    }

    private nonisolated func ask(
        _ messages: [ChatMessage], _ options: GenerationOptions, isPreparation: Bool,
        _ onEvent: @escaping @Sendable (GenerationEvent) -> Void
    ) async throws -> GenerationSummary {
        let request = GenerationRequest(
            role: .text, messages: messages, options: options, stopwatch: time.stopwatch(),
            reply: GenerationReply(onEvent), isPreparation: isPreparation)
        return try await request.reply.value(cancelling: request.signal) { begin(request) }
    }

    /// Queues a request on the caller's thread, because tasks may reach the engine's thread in another order.
    private nonisolated func begin(_ request: GenerationRequest) {
        let refusal = queue.withLock { queue -> LLMError? in
            queue.waiting.removeAll { $0.signal.isCancelled }
            let running = queue.running == nil ? 0 : 1
            let admission = Admission(sequences: 1, cells: 1, queueLimit: Queue.limit)
            if let refusal = admission.refusal(waiting: queue.waiting.count, running: running) { return refusal }
            queue.waiting.append(request)
            return nil
        }
        if let refusal { return request.reply.finish(.failure(refusal)) }
        // A running request reads its signal; a waiting one ends here.
        request.startTimer(time) { [weak self] in
            guard let self, self.leavesQueue(request) else { return }
            request.reply.finish(.success(GenerationFacts(promptTokens: 0).summary(reason: .timedOut)))
        }
        Task { await answerNext() }
    }

    /// Removes a waiting request.
    /// - Returns: whether it waited.
    private nonisolated func leavesQueue(_ request: GenerationRequest) -> Bool {
        queue.withLock { queue in
            let count = queue.waiting.count
            queue.waiting.removeAll { $0 === request }
            return queue.waiting.count < count
        }
    }

    /// Answers the first waiting request.
    private func answerNext() {
        let next = queue.withLock { queue -> GenerationRequest? in
            queue.waiting.removeAll { $0.signal.isCancelled }
            queue.running = queue.waiting.isEmpty ? nil : queue.waiting.removeFirst()
            return queue.running
        }
        guard let request = next else { return }
        defer {
            queue.withLock { $0.running = nil }
            request.close()
        }
        do {
            guard let tokens else { throw Self.notLoaded }
            let answer = try ComputedAnswer(request, text(), tokens, time: time)
            // A preparation only saves time, and a question that waits for it would lose some.
            let hasOthers = { request.isPreparation && self.queue.withLock { !$0.waiting.isEmpty } }
            request.reply.finish(.success(try answer.run(hasOthers)))
        } catch {
            request.reply.finish(.failure(error))
        }
    }
}
#endif
