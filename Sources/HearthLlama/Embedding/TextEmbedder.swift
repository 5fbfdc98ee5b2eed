#if Llama
import CLlama
import HearthBase
import HearthInference

/// How a file of weights makes vectors, or ranks texts.
struct EmbeddingMethod {
    let pooling: EmbeddingPooling
    /// Whether a text gets a score in place of a vector.
    let ranks: Bool
    /// Whether a token's attention includes the tokens after it.
    private let looksAhead: Bool
    /// Whether the model also generates answers, see ``EmbeddingWindow/answers``.
    private let answers: Bool

    /// Reads the method from the weights.
    /// - Parameter answers: whether the model's context keeps the state of computed tokens.
    /// - Throws: `generation-failed` for a pooling that is not known.
    init(_ weights: ModelWeights, answers: Bool) throws {
        self.answers = answers
        ranks = weights.ranksTexts
        // 0 is "none": the model leaves the choice to the caller.
        let declared = weights.declaredPooling ?? 0
        guard let pooling = declared == 0 || ranks ? .mean : EmbeddingPooling(rawValue: declared) else {
            throw LLMError(.generateFailed, "the model pools vectors in an unknown way", disposition: .usage)
        }
        self.pooling = pooling
        // A score is read after one call with the whole text.
        looksAhead = ranks || weights.metadata("%.attention.causal") == "false"
    }

    /// A window of `length` tokens.
    func window(_ length: Int) -> EmbeddingWindow {
        EmbeddingWindow(length: length, looksAhead: looksAhead, answers: answers)
    }
}

extension ModelWeights {
    /// The tokens of a text to embed, at most as many as the longest window for vectors has.
    /// - Throws: `generation-failed` for models that rank texts and make no vectors.
    func tokensToEmbed(_ text: String) throws -> [TokenID] {
        guard !ranksTexts else {
            throw LLMError(
                .generateFailed, "this model ranks texts; it gives no vector for one", disposition: .usage)
        }
        return try vocabulary.tokens(of: text, addSpecial: true, parseSpecial: false, limit: EmbeddingWindow.longest)
    }

    /// The tokens of a query with a document: in the template for rankings that the file has, else as a pair.
    /// - Throws: `generation-failed` for models that do not rank texts.
    func tokensToRank(_ query: String, _ document: String) throws -> [TokenID] {
        guard ranksTexts else {
            throw LLMError(.generateFailed, "this model ranks no texts", disposition: .usage)
        }
        func tokens(_ text: some StringProtocol, isTemplate: Bool = false) throws -> [TokenID] {
            try vocabulary.tokens(
                of: text, addSpecial: false, parseSpecial: isTemplate, limit: EmbeddingWindow.longest)
        }
        guard let template = llama_model_chat_template(model, "rerank").map({ String(cString: $0) }) else {
            return vocabulary.pair(try tokens(query), try tokens(document))
        }
        var all: [TokenID] = []
        var rest = template[...]
        while let place = rest.firstRange(of: /\{(query|document)\}/) {
            all += try tokens(rest[..<place.lowerBound], isTemplate: true)
            all += try tokens(rest[place] == "{query}" ? query : document)
            rest = rest[place.upperBound...]
        }
        return all + (try tokens(rest, isTemplate: true))
    }

    /// The pooling that the file declares (`llama_pooling_type`): how the vectors of tokens become one vector.
    fileprivate var declaredPooling: UInt32? { metadata("%.pooling_type").flatMap { UInt32($0) } }

    /// Whether the model ranks one text against another (`LLAMA_POOLING_TYPE_RANK`), which gives no vector.
    var ranksTexts: Bool { declaredPooling == 4 }
}

/// Makes vectors of texts. Used on the engine's thread only.
final class TextEmbedder {
    let method: EmbeddingMethod
    /// The window for which the context was made.
    let window: EmbeddingWindow
    let weights: ModelWeights
    private let context: ModelContext
    private let threads: StepThreads
    private var batch: TokenBatch
    private let listeners = StopGroup()

    /// Makes a context for vectors.
    /// - Parameter threads: the model's threads, which also compute vectors.
    /// - Throws: `generation-failed`.
    init(_ weights: ModelWeights, _ method: EmbeddingMethod, _ window: EmbeddingWindow, threads: StepThreads) throws {
        var reason: UnsafeMutablePointer<CChar>?
        let shape = ModelContext.Shape(
            length: window.length, batch: window.chunk, chunk: window.chunk, threads: threads.count,
            embeddings: true, ranks: method.ranks)
        guard let context = ModelContext(weights, shape, reason: &reason) else {
            throw LLMError(
                .generateFailed,
                "there is no room to embed text: "
                    + LoadFailure.reason(
                        reason, else: "not enough memory for a context of \(window.length) tokens"))
        }
        self.weights = weights
        self.method = method
        self.window = window
        self.threads = threads
        batch = TokenBatch(capacity: context.batchSize)
        self.context = context
        self.context.listen(to: listeners)
    }

    /// The number of threads of the last computation.
    var threadCount: Int { context.threadCount }

    /// A text whose vector is being made.
    struct Text {
        fileprivate let index: Int
        fileprivate let tokens: [llama_token]
        fileprivate var position = 0
        fileprivate var pool: EmbeddingPool
    }

    /// Begins a text and discards the one before.
    /// - Parameter index: the text's place among the caller's texts.
    func begin(_ tokens: [TokenID], _ index: Int) throws -> Text {
        let window = context.length
        guard !tokens.isEmpty else {
            throw LLMError(
                .nothingToEmbed, "text \(index + 1) to embed is empty",
                context: ErrorContext(field: "texts[\(index)]", remedy: "Leave empty texts out."),
                disposition: .usage)
        }
        guard tokens.count <= window else { throw Self.tooLong("\(tokens.count)", window) }
        context.clear()
        return Text(
            index: index, tokens: tokens, pool: EmbeddingPool(method.pooling, length: weights.embeddingLength))
    }

    /// Computes the next tokens of a text.
    /// - Returns: the vector after the last token, `nil` before.
    func step(_ text: inout Text, signal: StopSignal) throws -> [Float]? {
        // Another context may compute next.
        defer { context.rest() }
        let chunk = text.tokens[text.position..<min(text.tokens.count, text.position + context.batchSize)]
        batch.removeAll()
        batch.append(chunk, at: text.position, outputs: .all)
        context.setThreadCount(threads.count)
        listeners.members = [signal]
        let status = threads.runPrefillStep { context.decode(batch, for: listeners) }
        if status != 0 {
            if signal.isSet { throw CancellationError() }
            throw LLMError(.generateFailed, "the engine failed while it was embedding (status \(status))")
        }
        if method.ranks {
            guard let scores = llama_get_embeddings_seq(context.raw, 0), scores[0].isFinite else {
                throw LLMError(.generateFailed, "the model gives text \(text.index + 1) no score")
            }
            return [scores[0]]
        }
        for index in 0..<chunk.count {
            guard let vector = llama_get_embeddings_ith(context.raw, Int32(index)) else {
                throw LLMError(.generateFailed, "the engine gave no vector for a token")
            }
            text.pool.append(UnsafeBufferPointer(start: vector, count: weights.embeddingLength))
        }
        text.position += chunk.count
        guard text.position == text.tokens.count else { return nil }
        guard let vector = text.pool.normalised else {
            throw LLMError(.generateFailed, "the model gives text \(text.index + 1) no direction")
        }
        return vector
    }

    private static func tooLong(_ count: String, _ window: Int) -> LLMError {
        LLMError(
            .exceededContextWindowSize, "a text to embed has \(count) tokens, at most \(window) fit",
            context: ErrorContext(
                expected: "at most \(window) tokens", found: "\(count) tokens",
                remedy: "Cut the text into parts and embed each."),
            disposition: .usage)
    }
}
#endif
