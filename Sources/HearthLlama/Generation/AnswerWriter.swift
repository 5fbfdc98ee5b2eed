#if Llama
import CLlama
import HearthBase
import HearthInference

/// Chooses and shows the tokens of one answer, and ends its thinking at the configured limit.
final class AnswerWriter {
    /// The action after a computed token.
    enum Step {
        /// Computes these tokens, the last of them with its logits.
        case compute([llama_token])
        case end(FinishReason)
        /// Ends the generation, because its caller has left.
        case cancel
    }

    private let request: GenerationRequest
    private let outlet: AnswerOutlet
    private let weights: ModelWeights
    private let sampler: Sampler
    private let constraint: AnswerConstraint?
    /// The check of a whole answer against the schema, with the answer so far.
    private let check: SchemaCheck?
    private var answer = ""
    private let calls: CallFormat?
    /// The whole text of the model, where it may call tools: some call formats need the text before the call.
    private var written: [UInt8] = []
    private let policy: StopPolicy
    private let budget: ThinkingBudget
    /// The tokens that end the thinking in the model's place; empty for a model without marks of thinking.
    let closing: [llama_token]
    private let frame: AnswerFrame
    /// Control tokens of the frame. Other control tokens have no text.
    private let frameTokens: Set<llama_token>
    private var reader: AnswerReader
    /// Whether the tokens that end the thinking are being computed.
    private var isClosing = false
    private var thinkingBegan: Duration?
    /// Finds an end that repeats itself.
    private var repetition: RepetitionWatch?
    /// Whether the thinking repeats itself, and is ended in the model's place.
    private var thinksInCircles = false
    private var piece = [CChar](repeating: 0, count: 64)
    /// Reports each token, if the request asks for it.
    private var reporter: TokenReporter?

    init(
        _ request: GenerationRequest, prompt: Prompt, policy: StopPolicy, weights: ModelWeights,
        outlet: AnswerOutlet, constraint: AnswerConstraint?
    ) throws {
        self.request = request
        self.outlet = outlet
        self.weights = weights
        self.policy = policy
        calls = prompt.calls
        let options = request.options
        frame = options.thinking.tags.map { AnswerFrame(tags: $0) } ?? weights.frame
        let framed = frame.texts.joined(separator: "\n")
        frameTokens = Set(
            try weights.vocabulary.tokens(of: framed, addSpecial: false, parseSpecial: true)
                .filter(weights.vocabulary.isControl))
        reader = AnswerReader(
            stopStrings: options.stopStrings + (prompt.calls?.stops ?? []), frame: frame,
            openedByPrompt: ThinkingTags.opened(by: prompt.text, among: frame.tags),
            callMarks: prompt.calls?.words ?? [],
            codeHidesMarks: options.constraint == nil && prompt.calls == nil)
        sampler = try Sampler(options.sampling, vocabulary: weights.vocabulary)
        reporter = options.tokenReports.map { TokenReporter($0, vocabulary: weights.vocabulary) }
        repetition = RepetitionWatch(options.repetition, maximumTokens: options.maximumNewTokens)
        // The grammar alone constrains blocks inside an answer.
        check = options.constraint.flatMap { constraint in
            guard constraint.blocks.count == 1, let block = constraint.blocks.first, block.opening.isEmpty,
                block.prefix.isEmpty, case .jsonSchema(let schema) = block.shape
            else { return nil }
            return SchemaCheck(schema)
        }
        self.constraint = constraint
        closing = try Self.closing(reader.tags ?? frame.tags.first, options.thinking, frame, weights.vocabulary)
        budget = ThinkingBudget(
            options.thinking, stop: policy, promptTokens: prompt.ledger.count, closingTokens: closing.count)
    }

    private static func closing(
        _ tags: ThinkingTags?, _ options: ThinkingOptions, _ frame: AnswerFrame, _ vocabulary: Vocabulary
    ) throws -> [llama_token] {
        guard let tags else { return [] }
        return try vocabulary.tokens(
            of: ThinkingBudget.closingText(tags, options: options, before: frame.afterThinking), addSpecial: false,
            parseSpecial: true)
    }

    /// Chooses and shows the next token.
    /// - Parameters:
    ///   - logits: those of the last computed token; a constraint changes them.
    ///   - usedContext: the number of tokens whose state the sequence holds.
    func next(
        _ logits: UnsafeMutablePointer<Float>, usedContext: Int, _ facts: inout GenerationFacts
    ) throws -> Step {
        if isClosing {
            (isClosing, thinksInCircles) = (false, false)
            repetition?.reset()
            facts.generatedTokens += closing.count
            reader.closeThinking(show)
            if calls != nil, let tags = reader.tags { written += Array(tags.closing.utf8) }
        } else if closes(usedContext, facts) {
            isClosing = true
            return .compute(closing)
        }
        // A constraint writes to the logits.
        try weights.checkLogits(logits)
        try reporter?.look(sampler, logits)
        let token =
            try constraint?.choose(sampler, logits, reader: reader) ?? sampler.sample(logits)
        let elapsed = request.stopwatch.elapsed
        let firstToken = self.firstToken ?? elapsed
        if self.firstToken == nil {
            self.firstToken = elapsed
            facts.firstTokenSeconds = elapsed.seconds
            // The tokens that ended the thinking in the model's place are not shown, and their time is not counted.
            facts.tokensBeforeFirst = facts.generatedTokens
        }
        facts.decodeSeconds = (elapsed - firstToken).seconds
        let ended = weights.vocabulary.isEndOfGeneration(token)
        var repeats = false
        if !ended {
            facts.generatedTokens += 1
            if let report = reporter?.report(token, isThinking: reader.isThinking) { outlet.yield(.token(report)) }
            show(token)
            if reader.isThinking { facts.thinkingTokens += 1 }
            repeats = isRepeating(token, usedContext)
        } else if request.options.tokenReports?.includesPrompt == true,
            let report = reporter?.report(token, isThinking: reader.isThinking)
        {
            // Programs that score a prompt expect one report for each token they asked for.
            outlet.yield(.token(report))
        }
        let decision = policy.decide(
            generatedTokens: facts.generatedTokens, usedContext: usedContext, elapsed: elapsed,
            isEndOfGeneration: ended, isStopString: reader.matchedStop != nil, isRepeating: repeats,
            isCancelled: request.signal.isCancelled)
        return switch decision {
        case .proceed: .compute([token])
        case .finish(let reason): .end(try checked(reason))
        case .cancel: .cancel
        }
    }

    /// Reports a token of the prompt.
    /// - Parameter logits: those of the token before it; `nil` for the first token.
    func reportPrompt(_ token: llama_token, _ logits: UnsafePointer<Float>?) throws {
        if let logits {
            try weights.checkLogits(logits)
            try reporter?.look(sampler, logits)
        }
        if let report = reporter?.reportPrompt(token) { outlet.yield(.token(report)) }
    }

    /// Whether the answer ends in too many repeats with this token. Repeating thinking is ended before the next token
    /// instead, where the model has marks of thinking.
    private func isRepeating(_ token: llama_token, _ usedContext: Int) -> Bool {
        if !reader.isThinking, constraint?.isInside == true {
            repetition?.reset()
            return false
        }
        guard repetition?.take(token) == true else { return false }
        thinksInCircles = reader.isThinking && closingFits(usedContext + 1)
        return !thinksInCircles
    }

    /// Delivers events and collects the text for the check.
    private func show(_ event: GenerationEvent) {
        if check != nil, case .text(let text) = event { answer += text }
        outlet.yield(event)
    }

    /// Checks an answer that no limit has cut.
    /// - Throws: `schema-not-met`, with the keyword and the place.
    private func checked(_ reason: FinishReason) throws -> FinishReason {
        guard reason == .endOfGeneration, let check else { return reason }
        var (whole, rest) = (answer, reader)
        rest.finish { if case .text(let text) = $0 { whole += text } }
        guard let flaw = check.flaw(in: whole) else { return reason }
        throw LLMError(
            .schemaNotMet,
            "the answer does not meet `\(flaw.keyword)` of its schema"
                + (flaw.place.isEmpty ? "" : " at \(flaw.place)"),
            context: ErrorContext(remedy: "Ask again with another seed, or make the schema simpler."))
    }

    /// The time of the model's first chosen token.
    private var firstToken: Duration?

    /// Shows the waiting text, and the calls of an answer that the model ended.
    /// - Returns: whether the answer calls tools.
    func finish(_ facts: inout GenerationFacts, reason: FinishReason?) -> Bool {
        reader.finish(outlet.yield)
        facts.droppedBytes = reader.droppedBytes
        facts.stopString = reader.matchedStop.flatMap { request.options.stopStrings.contains($0) ? $0 : nil }
        guard let text = reader.calls, let calls, reason == .endOfGeneration || reason == .stopString else {
            return false
        }
        do {
            var found: [ToolCall] = []
            for call in try calls.calls(in: text, after: String(decoding: written, as: UTF8.self)) {
                var call = call
                // Some models write ids, and repeat them in each conversation.
                call.id = ToolCall.newID()
                found.append(call)
            }
            for call in found { outlet.yield(.toolCall(call)) }
            if found.isEmpty { outlet.yield(.text(text)) }
            return !found.isEmpty
        } catch {
            Log.write(.warning, "tools", "calls of tools are shown as text: \(error)")
            outlet.yield(.text(text))
            return false
        }
    }

    private func closes(_ usedContext: Int, _ facts: GenerationFacts) -> Bool {
        guard reader.isThinking else { return false }
        let now = request.stopwatch.elapsed
        let began = thinkingBegan ?? now
        thinkingBegan = began
        let closes =
            thinksInCircles
            || budget.closes(
                thinkingTokens: facts.thinkingTokens, thinkingTime: now - began,
                generatedTokens: facts.generatedTokens, usedContext: usedContext, elapsed: now,
                wantsAnswer: request.options.thinking.control?.wantsAnswer ?? false)
        return closes && closingFits(usedContext)
    }

    /// Whether the tokens that end the thinking fit before another token is chosen. If they do not fit, the limits end
    /// the answer.
    private func closingFits(_ usedContext: Int) -> Bool {
        !closing.isEmpty && usedContext + closing.count < policy.contextLength
    }

    private func show(_ token: llama_token) {
        let count = weights.vocabulary.piece(of: token, into: &piece)
        piece.withUnsafeBytes {
            reader.appendToken(UnsafeRawBufferPointer(rebasing: $0.prefix(count)), show)
            if calls != nil { written += $0.prefix(count) }
        }
        if count == 0, let mark = mark(token) {
            mark.withUnsafeBytes { reader.appendToken($0, show) }
            if calls != nil { written += mark }
        }
    }

    /// The text of a control token of a call or of the answer's frame. Inside the answer, only the control tokens
    /// that end it have text.
    private func mark(_ token: llama_token) -> [UInt8]? {
        let text = weights.vocabulary.name(of: token)
        if calls?.marks.contains(text) == true { return Array(text.utf8) }
        let isFramed = reader.state == .answering ? frame.end?.contains(text) == true : frameTokens.contains(token)
        return isFramed ? Array(text.utf8) : nil
    }
}
#endif
