import HearthInference

extension WireWriter {
    mutating func write(_ options: GenerationOptions) {
        write(options.sampling)
        write(options.maximumNewTokens)
        write(options.timeout)
        write(options.stopStrings) { $0.write($1) }
        write(options.repetition) { writer, rule in
            for value in [rule.shortest, rule.longest, rule.count, rule.tokens] { writer.write(value) }
        }
        write(options.thinking)
        write(options.constraint) { $0.write($1.blocks) { $0.write($1) } }
        write(options.tools) { $0.write($1) }
        write(options.usesChatTemplate)
        write(options.promptTokens) { $0.write(numbers: $1) }
        write(options.keepsAllMessages)
        write(options.window) { $0.write($1) }
        write(options.leastAnswer)
        write(options.reusesPrompt)
        write(options.ownInstructions)
        write(options.continuesLastMessage)
        switch options.toolChoice {
        case .automatic: write(UInt8(0))
        case .required: write(UInt8(1))
        case .named(let name):
            write(UInt8(2))
            write(name)
        }
        write(options.tokenReports) { writer, reports in
            writer.write(reports.alternatives)
            writer.write(reports.isAfterSampling)
            writer.write(reports.hasProbabilities)
            writer.write(reports.includesPrompt)
        }
    }

    private mutating func write(_ sampling: SamplingOptions) {
        write(sampling.temperature)
        write(sampling.seed) { $0.write($1) }
        write(sampling.topK) { $0.write($1) }
        for value in [
            sampling.topP, sampling.minP, sampling.repeatPenalty, sampling.frequencyPenalty, sampling.presencePenalty,
        ] { write(value) { $0.write($1) } }
        write(sampling.penaltyWindow)
        let biased = sampling.logitBias.sorted { $0.key < $1.key }
        write(numbers: biased.map(\.key))
        write(numbers: biased.map(\.value))
    }

    /// Without the control, which belongs to this process: pressing it is a message of its own.
    private mutating func write(_ thinking: ThinkingOptions) {
        write(thinking.isEnabled)
        write(thinking.maximumTokens) { $0.write($1) }
        write(thinking.maximumTime) { $0.write($1) }
        write(thinking.answerTokens)
        write(thinking.answerTime)
        write(thinking.lastWords)
        write(thinking.tags) { writer, tags in
            writer.write(tags) {
                $0.write($1.opening)
                $0.write($1.closing)
            }
        }
    }

    private mutating func write(_ tool: ToolDefinition) {
        for text in [tool.name, tool.description, tool.parameters] { write(text) }
    }

    private mutating func write(_ block: OutputConstraint.Block) {
        write(block.opening)
        switch block.shape {
        case .gbnf(let text): write(UInt8(0)); write(text)
        case .jsonSchema(let text): write(UInt8(1)); write(text)
        case .calls(let tools): write(UInt8(2)); write(tools) { $0.write($1) }
        }
        write(block.closing)
        write(block.endsAnswer)
        write(block.prefix)
    }

    private mutating func write(_ duration: Duration) {
        write(duration.components.seconds)
        write(duration.components.attoseconds)
    }
}

extension WireReader {
    mutating func options() throws(WireError) -> GenerationOptions {
        var options = GenerationOptions()
        options.sampling = try sampling()
        options.maximumNewTokens = try integer()
        options.timeout = try duration()
        options.stopStrings = try list { reader throws(WireError) in try reader.text() }
        options.repetition = try optional { reader throws(WireError) in
            var rule = RepetitionRule()
            (rule.shortest, rule.longest) = (try reader.integer(), try reader.integer())
            (rule.count, rule.tokens) = (try reader.integer(), try reader.integer())
            return rule
        }
        options.thinking = try thinking()
        options.constraint = try optional { reader throws(WireError) in
            OutputConstraint(blocks: try reader.list { reader throws(WireError) in try reader.block() })
        }
        options.tools = try list { reader throws(WireError) in try reader.tool() }
        options.usesChatTemplate = try bool()
        options.promptTokens = try optional { reader throws(WireError) in try reader.numbers() }
        options.keepsAllMessages = try bool()
        options.window = try optional { reader throws(WireError) in try reader.integer() }
        options.leastAnswer = try integer()
        options.reusesPrompt = try bool()
        options.ownInstructions = try integer()
        options.continuesLastMessage = try bool()
        switch try number(UInt8.self) {
        case 0: options.toolChoice = .automatic
        case 1: options.toolChoice = .required
        case 2: options.toolChoice = .named(try text())
        default: throw WireError()
        }
        options.tokenReports = try optional { reader throws(WireError) in
            TokenReports(
                alternatives: try reader.integer(), isAfterSampling: try reader.bool(),
                hasProbabilities: try reader.bool(), includesPrompt: try reader.bool())
        }
        return options
    }

    private mutating func sampling() throws(WireError) -> SamplingOptions {
        func float(_ reader: inout WireReader) throws(WireError) -> Float { try reader.float() }
        var sampling = SamplingOptions(
            temperature: try self.float(),
            seed: try optional { reader throws(WireError) in try reader.number(UInt32.self) },
            topK: try optional { reader throws(WireError) in try reader.integer() }, topP: try optional(float),
            minP: try optional(float), repeatPenalty: try optional(float), frequencyPenalty: try optional(float),
            presencePenalty: try optional(float), penaltyWindow: try integer())
        let (tokens, values): ([TokenID], [Float]) = (try numbers(), try numbers())
        guard tokens.count == values.count else { throw WireError() }
        sampling.logitBias = Dictionary(zip(tokens, values)) { $1 }
        return sampling
    }

    private mutating func thinking() throws(WireError) -> ThinkingOptions {
        var thinking = ThinkingOptions(
            isEnabled: try bool(), maximumTokens: try optional { reader throws(WireError) in try reader.integer() },
            maximumTime: try optional { reader throws(WireError) in try reader.duration() },
            answerTokens: try integer(), answerTime: try duration(), lastWords: try text())
        thinking.tags = try optional { reader throws(WireError) in
            try reader.list { reader throws(WireError) in
                ThinkingTags(opening: try reader.text(), closing: try reader.text())
            }
        }
        return thinking
    }

    private mutating func tool() throws(WireError) -> ToolDefinition {
        ToolDefinition(name: try text(), description: try text(), parameters: try text())
    }

    private mutating func block() throws(WireError) -> OutputConstraint.Block {
        let opening = try text()
        let shape: OutputConstraint.Shape
        switch try number(UInt8.self) {
        case 0: shape = .gbnf(try text())
        case 1: shape = .jsonSchema(try text())
        case 2: shape = .calls(try list { reader throws(WireError) in try reader.tool() })
        default: throw WireError()
        }
        var block = OutputConstraint.Block(opening, shape, closing: try text(), endsAnswer: try bool())
        block.prefix = try text()
        return block
    }

    private mutating func duration() throws(WireError) -> Duration {
        let (seconds, attoseconds): (Int64, Int64) = (try number(), try number())
        return Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
    }
}
