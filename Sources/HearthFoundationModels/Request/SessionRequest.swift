import HearthBase
import HearthInference

/// A request of a session of Foundation Models, without Apple's types.
package struct SessionRequest: Sendable {
    /// How the next token is chosen.
    package enum Sampling: Sendable, Hashable {
        case greedy
        case top(Int, seed: UInt64?)
        case probability(Double, seed: UInt64?)
    }

    /// Whether the model may or must call tools.
    package enum ToolUse: Sendable, Hashable {
        case allowed, required, disallowed
    }

    /// How much the model thinks before it answers.
    package enum Reasoning: Sendable, Hashable {
        case light, moderate, deep
        /// `off`, or a number of tokens; other words have no effect.
        case custom(String)
    }

    package var entries: [TranscriptEntry]
    /// The tools that may be called.
    package var tools: [ToolDefinition] = []
    /// The JSON schema of the answer in Apple's form; `nil` for free text.
    package var schema: String?
    /// Whether the model reads the schema, too.
    package var showsSchema = true
    /// `nil` for the engine's own.
    package var sampling: Sampling?
    package var temperature: Double?
    /// The most tokens of the answer; `nil` for as many as the context window has room for.
    package var maximumTokens: Int?
    package var toolUse = ToolUse.allowed
    /// `nil` for the model's own way.
    package var reasoning: Reasoning?

    /// Makes a request with the engine's own options.
    package init(_ entries: [TranscriptEntry]) { self.entries = entries }

    /// The work that a request is for an engine.
    package struct Work: Sendable {
        package var messages: [ChatMessage]
        package var options: GenerationOptions
        /// The shape of the answer after the model has decided to call no tool: a shape of the whole answer excludes calls.
        package var shapeAfterCalls: OutputConstraint?
    }

    /// The work for an engine with the given abilities.
    /// - Throws: ``RequestFailure``.
    package func work(_ abilities: EngineCapabilities, timeout: Duration) throws(RequestFailure) -> Work {
        var entries = entries
        var shape: OutputConstraint?
        if let schema {
            guard abilities.contains(.schema) else {
                throw .unsupportedCapability(.guidedGeneration, "the engine holds no schema")
            }
            shape = .jsonSchema(try AppleSchema.standard(schema))
            if showsSchema { Self.show(schema, in: &entries) }
        }
        var work = Work(
            messages: try TranscriptReader.messages(of: entries, readsPictures: abilities.contains(.vision)),
            options: options(timeout: timeout))
        let mayCall = !tools.isEmpty && toolUse != .disallowed
        if mayCall {
            work.options.tools = tools
            if toolUse == .required { work.options.toolChoice = .required }
        }
        if mayCall, toolUse == .allowed {
            work.shapeAfterCalls = shape
        } else if !mayCall {
            work.options.constraint = shape
        }
        return work
    }

    /// Shows a schema with the last question, unless that has one.
    private static func show(_ schema: String, in entries: inout [TranscriptEntry]) {
        for index in entries.indices.reversed() {
            guard case .prompt(let segments, let own) = entries[index].content else { continue }
            if own == nil { entries[index].content = .prompt(segments, schema: schema) }
            return
        }
    }

    private func options(timeout: Duration) -> GenerationOptions {
        var options = GenerationOptions(maximumNewTokens: GenerationOptions.windowLength, timeout: timeout)
        // The app shortens its transcript, or learns that it has to.
        options.keepsAllMessages = true
        if let maximumTokens { options.maximumNewTokens = max(1, maximumTokens) }
        switch sampling {
        case nil: break
        case .greedy: options.sampling.temperature = 0
        case .top(let count, let seed):
            (options.sampling.topK, options.sampling.seed) = (
                max(1, count), seed.map { UInt32(truncatingIfNeeded: $0) }
            )
        case .probability(let part, let seed):
            options.sampling.topP = Float(min(max(part, 0.001), 1))
            options.sampling.seed = seed.map { UInt32(truncatingIfNeeded: $0) }
        }
        if let temperature, sampling != .greedy { options.sampling.temperature = Float(max(0, temperature)) }
        switch reasoning {
        case nil, .deep: break
        case .light: options.thinking.maximumTokens = 512
        case .moderate: options.thinking.maximumTokens = 2048
        case .custom(let word):
            if ["off", "none"].contains(word.lowercased()) { options.thinking.isEnabled = false }
            if let tokens = Int(word) { options.thinking.maximumTokens = max(0, tokens) }
        }
        return options
    }
}
