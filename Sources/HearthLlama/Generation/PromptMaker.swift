#if Llama
import HearthInference

/// Makes the prompts of one loaded model on any thread: it reads only what never changes.
struct PromptMaker: Sendable {
    let weights: ModelWeights
    let projector: Projector?
    /// The tokens of the context window that a request may use.
    private(set) var window: Int
    /// The tokens up to which a prompt is counted: with them, a larger window is chosen or none.
    private var reach: Int
    /// The most messages of a conversation's history in a prompt.
    let historyLimit: Int?
    /// The most tokens of one part of a picture.
    let largestPicture: Int
    /// Whether the state of the app's instructions is kept on the disk.
    let keepsInstructions: Bool

    var vocabulary: Vocabulary { weights.vocabulary }

    /// Makes prompts for an engine that computes their tokens elsewhere.
    init(_ weights: ModelWeights, window: Int, trained: Int, historyLimit: Int?) {
        self.weights = weights
        projector = nil
        self.window = window
        reach = max(window, trained)
        self.historyLimit = historyLimit
        largestPicture = 0
        keepsInstructions = false
    }

    init(_ model: LoadedModel) {
        weights = model.weights
        projector = model.projector
        window = model.information.contextLength
        reach = max(window, weights.trainedContextLength)
        historyLimit = model.historyLimit
        largestPicture = model.largestPicture
        keepsInstructions = model.conversations.keepsInstructions
    }

    /// Refuses a request whose text cannot fit, before any of it is cut into tokens.
    /// - Throws: `context-window-exceeded`.
    func check(_ request: GenerationRequest) throws {
        do {
            try limited(by: request.options).checkLength(request)
        } catch let error as LLMError {
            throw advised(error, request.options)
        }
    }

    private func limited(by options: GenerationOptions) -> PromptMaker {
        var maker = self
        (maker.window, maker.reach) = (options.limited(window), options.limited(reach))
        return maker
    }

    private func advised(_ error: LLMError, _ options: GenerationOptions) -> LLMError {
        error.advised(window: window, trained: weights.trainedContextLength, limit: options.window)
    }

    private func checkLength(_ request: GenerationRequest) throws {
        let options = request.options
        try TextLimit.check(request.messages, options, window: reach)
        guard options.usesChatTemplate else { return }
        let least = ContextFit(window: window, reserve: 0)
            .least(of: request.messages, keepsAll: options.keepsAllMessages)
        let fewest = weights.fewestTokens(in: least, limit: reach)
        guard fewest < window else { throw ContextFit.exceeded(tokens: "at least \(fewest)", window: window) }
    }

    /// Refuses a prompt that leaves too few tokens to its answer. A preparation has no answer.
    private func checkRoom(after prompt: Prompt, _ request: GenerationRequest) throws {
        let count = prompt.ledger.count + prompt.extraCells
        let least = min(request.options.leastAnswer, request.options.maximumNewTokens)
        guard !request.isPreparation, least > 0, count > window - least else { return }
        throw ContextFit.exceeded(tokens: "\(count)", window: window)
    }

    /// Makes the prompt and the constraint of a request.
    /// - Throws: ``LLMError``; `CancellationError` after the request's end.
    func make(_ request: GenerationRequest) throws -> MadePrompt {
        if request.signal.isCancelled { throw CancellationError() }
        try check(request)
        var prompt: Prompt
        do {
            let maker = limited(by: request.options)
            prompt = try Prompt(request, for: maker)
            try maker.checkRoom(after: prompt, request)
        } catch let error as LLMError {
            throw advised(error, request.options)
        }
        prompt.reusesTokens =
            request.options.reusesPrompt && request.options.tokenReports?.includesPrompt != true
        let constraint = try AnswerConstraint(request.options, weights, calls: prompt.calls)
        return MadePrompt(mark: weights.mark, prompt: prompt, constraint: constraint)
    }
}

/// A prompt with the constraint of its answer.
///
/// Unchecked: one thread makes it, then only the engine's thread uses it.
struct MadePrompt: @unchecked Sendable {
    /// The load of the model that it fits.
    let mark: LoadMark
    let prompt: Prompt
    let constraint: AnswerConstraint?
}
#endif
