import HearthBase
import HearthInference

/// A request for the system's model, without Apple's types.
package struct SystemRequest: Sendable, Hashable {
    /// An earlier message.
    package enum Turn: Sendable, Hashable {
        case prompt(String)
        case response(String)
    }

    /// The system messages; empty for none.
    package var instructions: String
    package var turns: [Turn] = []
    /// The last question.
    package var prompt = ""
    /// The JSON schema of the answer in Apple's form; `nil` for free text.
    package var schema: String?
    /// The texts around an answer with a schema.
    package var frame = Frame()
    /// The strings that end the answer.
    package var stopStrings: [String]
    package var sampling: SessionRequest.Sampling?
    /// 0...1; `nil` for the model's own.
    package var temperature: Double?
    /// `nil` for as many as fit.
    package var maximumTokens: Int?
    /// The pictures of the conversation, which are not part of the request.
    package var picturesLeftOut: Int

    /// The texts that a constraint has before and after its shape.
    package struct Frame: Sendable, Hashable {
        package var before = ""
        package var after = ""
    }

    /// The request of a conversation that ends with a question.
    /// - Throws: `engine-missing` for a grammar or a raw prompt; `grammar-unusable` for a schema without Apple's form.
    package init(_ messages: [ChatMessage], options: GenerationOptions) throws(LLMError) {
        guard options.usesChatTemplate, options.promptTokens == nil else { throw Self.missing("takes no raw prompt") }
        let messages = messages.withSpelledTools
        picturesLeftOut = messages.reduce(0) { $0 + $1.images.count }
        instructions = messages.filter { $0.role == .system }.map(\.content).joined(separator: "\n\n")
        stopStrings = options.stopStrings
        var others = messages.filter { $0.role != .system }
        if let last = others.last, last.role == .user {
            prompt = last.content
            others.removeLast()
        }
        turns = others.map { $0.role == .user ? .prompt($0.content) : .response($0.content) }
        try take(options.constraint)
        take(options)
    }

    private mutating func take(_ constraint: OutputConstraint?) throws(LLMError) {
        for block in constraint?.blocks ?? [] {
            // The model writes free text, in which the caller finds the block.
            guard block.opening.isEmpty else {
                if block.endsAnswer, !block.closing.isEmpty { stopStrings.append(block.closing) }
                continue
            }
            frame = Frame(before: block.prefix, after: block.closing)
            switch block.shape {
            case .gbnf: throw Self.missing("takes no grammar")
            case .jsonSchema(let text): schema = try SystemSchema.shaped(text)
            case .calls(let tools): schema = try SystemSchema.shaped(SystemSchema.calls(of: tools))
            }
        }
    }

    private mutating func take(_ options: GenerationOptions) {
        let sampling = options.sampling
        let seed = sampling.seed.map { UInt64($0) }
        if sampling.temperature == 0 {
            self.sampling = .greedy
        } else if let count = sampling.topK {
            self.sampling = .top(count, seed: seed)
        } else if let part = sampling.topP ?? (seed == nil ? nil : 1) {
            self.sampling = .probability(Double(part), seed: seed)
        }
        if sampling.temperature > 0 { temperature = Double(min(sampling.temperature, 1)) }
        if options.maximumNewTokens != GenerationOptions.windowLength { maximumTokens = options.maximumNewTokens }
    }

    private static func missing(_ ability: String) -> LLMError {
        LLMError(
            .engineMissing, "Apple's model \(ability)", context: ErrorContext(remedy: "Use another model for that."),
            disposition: .usage)
    }
}
