#if Llama
import CLlama
import HearthBase
import HearthInference

/// Keeps one answer to its constraint, token by token.
///
/// The sampler draws a token as usual. A token that does not fit is rejected, and another is drawn in its place.
/// This gives the same probabilities as drawing among the fitting tokens only, and costs nothing where the model's
/// own choice fits. Thinking is not constrained.
final class AnswerConstraint {
    /// The number of rejected tokens after which the whole vocabulary is compared with the grammar.
    private static let refusalsBeforeMask = 8

    private var gate: ConstraintGate
    private let vocabulary: Vocabulary
    private let weights: ModelWeights
    /// Text that the answer may begin with outside the constraint: the model's thinking and the template's marks.
    private let frame: AnswerFrame
    private let marks: Set<String>
    /// The chosen bytes that may be the beginning of an opening mark.
    private var begun: [UInt8] = []
    private var piece = [CChar](repeating: 0, count: 64)

    /// Returns `nil` when the options set no constraint.
    /// - Throws: `grammar-unusable`.
    init?(_ options: GenerationOptions, _ weights: ModelWeights, calls: CallFormat? = nil) throws {
        var arms = try Self.arms(options.constraint?.blocks ?? [])
        if let calls {
            arms.append(
                ConstraintGate.Arm(
                    calls.grammar, openings: options.toolChoice == .automatic ? calls.words : [],
                    includesOpening: true, isLast: true, isArmedInCode: true))
        }
        if arms.isEmpty { return nil }
        gate = ConstraintGate(arms)
        vocabulary = weights.vocabulary
        self.weights = weights
        weights.prepareTokenTrie()
        var frame = options.thinking.tags.map { AnswerFrame(tags: $0) } ?? weights.frame
        let framed = try weights.vocabulary.tokens(
            of: frame.texts.joined(separator: "\n"), addSpecial: false, parseSpecial: true)
        marks = Set(framed.filter(weights.vocabulary.isControl).map(weights.vocabulary.name))
            .union(calls?.marks ?? [])
        let mayThink = options.thinking.isEnabled && (options.thinking.tags != nil || weights.templateThinks)
        if !mayThink { frame.tags = [] }
        self.frame = frame
    }

    /// Makes one arm for all blocks that differ only in their openings.
    private static func arms(_ blocks: [OutputConstraint.Block]) throws -> [ConstraintGate.Arm] {
        var openings: [OutputConstraint.Block: [String]] = [:]
        var order: [OutputConstraint.Block] = []
        for block in blocks {
            var shape = block
            shape.opening = ""
            if openings[shape] == nil { order.append(shape) }
            openings[shape, default: []].append(block.opening)
        }
        return try order.map { block in
            var grammar = try grammar(block.shape)
            if !block.prefix.isEmpty { grammar = grammar.preceded(by: block.prefix) }
            return ConstraintGate.Arm(
                block.closing.isEmpty ? grammar : grammar.followed(by: block.closing),
                openings: openings[block] ?? [], isLast: block.endsAnswer)
        }
    }

    static func grammar(_ shape: OutputConstraint.Shape) throws -> Grammar {
        switch shape {
        case .gbnf(let text): return try Grammar(gbnf: text)
        case .jsonSchema(let schema): return try SchemaGrammar.grammar(of: schema)
        case .calls(let tools): return try SchemaGrammar.grammar(ofCalls: tools)
        }
    }

    /// Whether a grammar chooses the tokens now.
    var isInside: Bool { gate.isInside }

    /// Chooses the next token among those that fit.
    /// - Parameters:
    ///   - logits: one for each token of the vocabulary; those of rejected tokens are changed.
    ///   - reader: the reader that has read the answer so far.
    /// - Throws: `generation-failed` where none fits.
    func choose(
        _ sampler: borrowing Sampler, _ logits: UnsafeMutablePointer<Float>, reader: AnswerReader
    ) throws -> llama_token {
        if !reader.isThinking, gate.isFinished, let end = vocabulary.endToken { return end }
        // The text before the answer is complete.
        if reader.state == .answering { begun = [] }
        let all = UnsafeMutableBufferPointer(start: logits, count: vocabulary.count)
        var refused = 0
        while true {
            let token = try sampler.draw(logits)
            // The sampler draws a rejected token only when no other is left.
            guard all[Int(token)] > -.infinity else { throw failure("no token of the model fits it here") }
            if takes(token, reader) {
                sampler.accept(token)
                return token
            }
            if gate.isExhausted { throw failure("it is too ambiguous to be followed any further") }
            all[Int(token)] = -.infinity
            refused += 1
            if refused == Self.refusalsBeforeMask { mask(all, reader) }
        }
    }

    private func takes(_ token: llama_token, _ reader: AnswerReader) -> Bool {
        if vocabulary.isEndOfGeneration(token) { return begun.isEmpty && gate.allowsEnd }
        let bytes = bytes(of: token)
        if reader.isThinking {
            begun = []
            let said = said(by: bytes, reader)
            return said.isEmpty || gate.take(Array(said.utf8))
        }
        if bytes.isEmpty { return !gate.isInside }
        let text = begun + bytes
        if opens(text, reader) {
            begun = text
            return true
        }
        guard gate.take(text) else { return false }
        begun = []
        return true
    }

    /// Whether the answer may begin with thinking.
    private func opens(_ text: [UInt8], _ reader: AnswerReader) -> Bool {
        (reader.state == .beginning || reader.state == .closed)
            && frame.mayBegin(text, afterThinking: reader.state == .closed)
    }

    /// The answer's text within a token that ends the thinking.
    private func said(by bytes: [UInt8], _ reader: AnswerReader) -> String {
        var reader = reader
        var said = ""
        bytes.withUnsafeBytes { reader.append($0) { if case .text(let text) = $0 { said += text } } }
        return said
    }

    /// Rejects all tokens that do not fit.
    private func mask(_ logits: UnsafeMutableBufferPointer<Float>, _ reader: AnswerReader) {
        guard !reader.isThinking, gate.isInside else { return }
        let trie = weights.tokenTrie
        var fits = [Bool](repeating: false, count: logits.count)
        gate.visitAllowed(after: begun, in: trie) { fits[Int($0)] = true }
        var text = begun
        trie.visit(
            take: { byte in
                guard opens(text + [byte], reader) else { return .refused }
                text.append(byte)
                return .taken
            },
            back: { text.removeSubrange((begun.count + $0)...) },
            { fits[Int($0)] = true })
        for token in trie.others {
            if vocabulary.isEndOfGeneration(token) {
                fits[Int(token)] = begun.isEmpty && gate.allowsEnd
            } else {
                let bytes = bytes(of: token)
                fits[Int(token)] =
                    !bytes.isEmpty && (opens(begun + bytes, reader) || gate.allows(begun + bytes))
            }
        }
        for token in logits.indices where !fits[token] { logits[token] = -.infinity }
    }

    /// The text of a token. A control token has text only if it is a mark of thinking or of a call.
    private func bytes(of token: llama_token) -> [UInt8] {
        let bytes = vocabulary.bytes(of: token, &piece)
        guard bytes.isEmpty else { return bytes }
        let name = vocabulary.name(of: token)
        return marks.contains(name) ? Array(name.utf8) : []
    }

    private func failure(_ reason: String) -> LLMError {
        LLMError(
            .generateFailed, "the answer cannot go on as its grammar wants: \(reason)",
            context: ErrorContext(remedy: "Correct the grammar or the schema."))
    }
}
#endif
