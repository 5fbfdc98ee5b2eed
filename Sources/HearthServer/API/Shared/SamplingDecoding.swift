import HearthBase
import HearthInference

extension Fields {
    /// The sampling fields that all dialects spell alike.
    func samplingFields() throws(APIFailure) -> SamplingFields {
        var sampling = SamplingFields()
        sampling.temperature = try float("temperature", in: 0...100)
        sampling.topK = try integer("top_k", in: -1...Int(Int32.max))
        sampling.topP = try float("top_p", in: 0...1)
        // No token would be left.
        if sampling.topP == 0 { sampling.topP = .leastNormalMagnitude }
        sampling.minP = try float("min_p", in: 0...1)
        sampling.seed = try seed()
        sampling.frequencyPenalty = try float("frequency_penalty", in: -2...2)
        sampling.presencePenalty = try float("presence_penalty", in: -2...2)
        sampling.repeatPenalty = try float("repeat_penalty", in: 0.01...100)
        // -1 is llama.cpp's word for the whole context.
        sampling.penaltyWindow = try integer("repeat_last_n", in: -1...(1 << 20)).map { $0 < 0 ? 1 << 20 : $0 }
        sampling.repetition = try repetition()
        return sampling
    }

    /// vLLM's object: the lengths of the sequence, of which 0 as the longest switches the detection off, and the number
    /// of repeats.
    private func repetition() throws(APIFailure) -> SamplingFields.Repetition? {
        guard let fields = try object("repetition_detection") else { return nil }
        let longest = try fields.integer("max_pattern_size", in: 0...RepetitionRule.limit) ?? 0
        let shortest = try fields.integer("min_pattern_size", in: 0...RepetitionRule.limit) ?? 0
        let count = try fields.integer("min_count", in: 0...Int(Int32.max)) ?? 0
        guard longest > 0 else { return .never }
        guard shortest <= longest else {
            throw .invalid(fields.name("min_pattern_size"), "at most `max_pattern_size`")
        }
        guard count >= 2 else { throw .invalid(fields.name("min_count"), "at least 2") }
        var rule = RepetitionRule()
        (rule.shortest, rule.longest, rule.count, rule.tokens) = (max(1, shortest), longest, count, 0)
        return .rule(rule)
    }

    /// A seed of any size, folded to 32 bits; negative ones are random.
    private func seed() throws(APIFailure) -> UInt32? {
        guard let seed = try integer("seed") else { return nil }
        return seed < 0 ? nil : UInt32(truncatingIfNeeded: seed)
    }

    /// The changes of logits: an object, or llama.cpp's list of pairs. A key is a token's number or a text.
    func logitBias() throws(APIFailure) -> [SamplingFields.Bias] {
        guard let value = value("logit_bias", Self.biasForm) else { return [] }
        let failure = APIFailure.invalid(name("logit_bias"), "an object of numbers from -100 to 100 by token")
        var found: [SamplingFields.Bias] = []
        if let members = value.members {
            guard members.keys.count <= 10_000 else { throw failure }
            for (key, value) in members {
                let part: APIRequest.PromptPart = Int32(key).map { .tokens([$0]) } ?? .text(key)
                found.append(SamplingFields.Bias(part: part, value: try bias(value, failure)))
            }
        } else if let pairs = value.items {
            guard pairs.count <= 10_000 else { throw failure }
            for pair in pairs {
                guard let items = pair.items, items.count == 2 else { throw failure }
                let part: APIRequest.PromptPart
                if let text = items[0].string {
                    part = .text(text)
                } else if let token = Fields.integer(items[0]).flatMap({ Int32(exactly: $0) }) {
                    part = .tokens([token])
                } else {
                    throw failure
                }
                found.append(SamplingFields.Bias(part: part, value: try bias(items[1], failure)))
            }
        } else {
            throw failure
        }
        guard found.lazy.map(\.part).textBytes <= Self.maximumBiasBytes else {
            throw .invalid(name("logit_bias"), "texts of at most \(Self.maximumBiasBytes >> 10) KiB together")
        }
        return found
    }

    private static let biasForm = JSONForm.either(.map(.either(.number, .flag)), .list(.list(.any)))

    /// The most bytes of the texts in `logit_bias`, of which each counts 64 bytes more.
    private static let maximumBiasBytes = 64 << 10

    private func bias(_ value: JSONValue, _ failure: APIFailure) throws(APIFailure) -> Float {
        switch value {
        case .boolean(false): return -.infinity
        case .number(let digits):
            guard let number = Float(digits), number.isFinite else { throw failure }
            // OpenAI says that -100 excludes a token.
            return number <= -100 ? -.infinity : number
        default: throw failure
        }
    }

    /// The texts that end an answer.
    func stopStrings(_ key: String = "stop") throws(APIFailure) -> [String] {
        let texts = try strings(key, atMost: 64) ?? []
        guard texts.allSatisfy({ $0.utf8.count <= 4096 }) else { throw .invalid(name(key), "short texts") }
        return texts.filter { !$0.isEmpty }
    }

    /// A schema as JSON with its order of keys.
    func schema(_ key: String) throws(APIFailure) -> String? {
        guard let value = value(key, .object) else { return nil }
        guard value.members != nil else { throw .invalid(name(key), "a JSON schema, an object") }
        return value.line
    }
}

extension OutputConstraint {
    /// The constraint to a schema that a client sent. Its form is checked here; the engine makes its grammar, before the
    /// prompt, and refuses what it cannot hold.
    static func checked(schema: String, field: String) throws(APIFailure) -> OutputConstraint {
        do {
            try OutputConstraint.checkForm(ofSchema: schema)
        } catch {
            throw APIFailure(.invalid, "`\(field)`: \(error.message)", field: field, code: error.code.rawValue)
        }
        return .jsonSchema(schema)
    }

    /// Any JSON object.
    static let anyObject = OutputConstraint.jsonSchema(#"{"type":"object"}"#)
}
