#if Llama
    import CLlama
    import CLlamaShim
    import HearthBase
    import HearthInference

    /// Keeps one answer to its constraint, token by token.
    ///
    /// A token is drawn as always; only one that does not fit is put aside and another drawn in its place, which gives the same odds
    /// as drawing among those that fit, and costs nothing where the model writes what it should. What it thinks is free.
    final class AnswerConstraint {
        /// So many tokens are put aside one by one before all are put aside whose first byte does not fit, which costs little.
        private static let patience = 24
        /// So many before the whole vocabulary is held against the grammar, which costs as much as many draws.
        private static let greatPatience = 150

        private var gate: ConstraintGate
        private let vocabulary: Vocabulary
        /// What the answer may begin with instead, because the model thinks first.
        private let openings: [[UInt8]]
        private let marks: Set<String>
        /// The beginning of an opening mark that has been chosen and may still turn out to be none.
        private var begun: [UInt8] = []
        private var piece = [CChar](repeating: 0, count: 64)

        /// `nil` where anything may be said.
        /// - Throws: `grammar-unusable`.
        init?(_ options: GenerationOptions, _ weights: ModelWeights, calls: CallFormat? = nil) throws {
            if let constraint = options.constraint {
                gate = ConstraintGate(try Self.grammar(constraint.shape), triggers: constraint.triggers)
            } else if let calls {
                gate = ConstraintGate(calls.grammar, triggers: calls.words, triggersBelong: true)
            } else {
                return nil
            }
            vocabulary = weights.vocabulary
            let tags = options.thinking.tags ?? weights.thinkingTags
            marks = Set(tags.flatMap { [$0.opening, $0.closing] }).union(calls?.marks ?? [])
            let mayThink = options.thinking.isEnabled && (options.thinking.tags != nil || weights.templateThinks)
            openings = mayThink ? tags.map { Array($0.opening.utf8) } : []
        }

        private static func grammar(_ shape: OutputConstraint.Shape) throws -> Grammar {
            switch shape {
            case .gbnf(let text): return try Grammar(gbnf: text)
            case .jsonSchema(let schema):
                try OutputConstraint.check(schema: schema)
                var reason: UnsafeMutablePointer<CChar>?
                let text = schema.withCString { hearth_schema_to_gbnf($0, &reason) }
                defer {
                    hearth_string_free(text)
                    hearth_string_free(reason)
                }
                guard let text else {
                    throw OutputConstraint.unusable(reason.map { String(cString: $0) } ?? "there is no memory for it")
                }
                return try Grammar(gbnf: String(cString: text))
            }
        }

        /// Chooses the next token among those that fit.
        /// - Parameter reader: what has read the answer until now.
        /// - Throws: `generation-failed` where none fits.
        func choose(
            _ sampler: borrowing Sampler, _ context: borrowing ModelContext, at index: Int32, reader: AnswerReader
        ) throws -> llama_token {
            if !reader.isThinking, gate.isFinished, let end = vocabulary.endToken { return end }
            let logits = try context.logits(at: index)
            let all = UnsafeMutableBufferPointer(start: logits, count: vocabulary.count)
            var refused = 0
            while true {
                let token = try sampler.draw(context, at: index)
                // What is put aside is drawn only when nothing else is left.
                guard all[Int(token)] > -.infinity else { throw failure("no token of the model fits it here") }
                if takes(token, reader) {
                    sampler.accept(token)
                    return token
                }
                if gate.isExhausted { throw failure("it is too ambiguous to be followed any further") }
                all[Int(token)] = -.infinity
                refused += 1
                switch refused {
                case Self.patience: putAside(all, reader, wholly: false)
                case Self.greatPatience: putAside(all, reader, wholly: true)
                default: break
                }
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

        /// Whether the answer may turn out to begin with thinking.
        private func opens(_ text: [UInt8], _ reader: AnswerReader) -> Bool {
            reader.state == .beginning
                && openings.contains { $0.starts(with: text) || text.starts(with: $0) }
        }

        /// What a token that ends the thinking already says of the answer.
        private func said(by bytes: [UInt8], _ reader: AnswerReader) -> String {
            var reader = reader
            var said = ""
            bytes.withUnsafeBytes { reader.append($0) { if case .text(let text) = $0 { said += text } } }
            return said
        }

        /// Puts aside tokens that cannot fit: all of them, or those whose first byte shows it.
        private func putAside(
            _ logits: UnsafeMutableBufferPointer<Float>, _ reader: AnswerReader, wholly: Bool
        ) {
            guard !reader.isThinking else { return }
            let first = (UInt8.min...UInt8.max).map { byte in
                opens(begun + [byte], reader) || gate.allows(begun + [byte])
            }
            for token in logits.indices where logits[token] > -.infinity {
                let id = llama_token(token)
                if vocabulary.isEndOfGeneration(id) {
                    if !(begun.isEmpty && gate.allowsEnd) { logits[token] = -.infinity }
                    continue
                }
                let count = vocabulary.piece(of: id, into: &piece)
                if count > 0, !first[Int(UInt8(bitPattern: piece[0]))] {
                    logits[token] = -.infinity
                    continue
                }
                guard wholly || count == 0 else { continue }
                let bytes = bytes(of: id)
                let fits = bytes.isEmpty ? !gate.isInside : opens(begun + bytes, reader) || gate.allows(begun + bytes)
                if !fits { logits[token] = -.infinity }
            }
        }

        /// The text of a token; of a control token only if it is a mark of thinking or of a call.
        private func bytes(of token: llama_token) -> [UInt8] {
            let count = vocabulary.piece(of: token, into: &piece)
            if count > 0 { return piece.prefix(count).map { UInt8(bitPattern: $0) } }
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
