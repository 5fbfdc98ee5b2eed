import HearthInference

/// A request for answers, common to all dialects.
package struct APIRequest: Sendable {
    /// The most messages of a conversation.
    static let maximumMessages = 20_000

    /// The name of the model; `nil` for the default one.
    package var model: String?
    package var input: Input
    /// The values that the request sets; the others are the server's.
    package var sampling = SamplingFields()
    /// The most tokens of each answer; `nil` for the server's default.
    package var maximumNewTokens: Int?
    package var stopStrings: [String] = []
    /// The answers to each prompt.
    package var copies = 1
    package var constraint: OutputConstraint?
    package var tools: [ToolDefinition] = []
    /// The client's names of the tools.
    package var toolNames = ToolNames()
    /// How this server searches the web for the answer.
    package var search = SearchRules()
    package var toolChoice = ToolChoice.automatic
    /// Whether one answer may call several tools.
    package var callsInParallel = true
    package var thinking = ThinkingFields()
    package var tokenReports: TokenReports?
    package var continuesLastMessage = false
    package var streams = false
    /// How long the model stays in memory afterwards; `nil` for the server's setting.
    package var keepAlive: Duration?
    package var timeLimit: Duration?
    /// Whether computed tokens of earlier prompts are reused.
    package var reusesPrompt = true
    /// Whether the oldest messages may be left out to fit the context.
    package var truncates = false
    /// The most tokens of prompt and answer together; `nil` for the model's window.
    package var window: Int?
    /// Whether the reply shows the prompt.
    package var showsPrompt = false

    package init(_ input: Input, model: String? = nil) {
        self.input = input
        self.model = model
    }

    /// What the model answers.
    package enum Input: Sendable {
        case chat([ChatMessage])
        /// Raw prompts, which no chat template formats.
        case prompts([[PromptPart]])

        /// The number of prompts.
        var promptCount: Int { if case .prompts(let prompts) = self { prompts.count } else { 1 } }
    }

    /// A part of a raw prompt.
    package enum PromptPart: Sendable, Hashable {
        /// A text in which a control token's name is that token.
        case text(String)
        /// A text in which a control token's name is letters.
        case letters(String)
        case tokens([TokenID])
    }
}

/// The sampling values that a request sets.
package struct SamplingFields: Sendable, Hashable {
    package var temperature: Float?
    package var topK: Int?
    package var topP: Float?
    package var minP: Float?
    package var seed: UInt32?
    package var repeatPenalty: Float?
    package var frequencyPenalty: Float?
    package var presencePenalty: Float?
    package var penaltyWindow: Int?
    package var logitBias: [Bias] = []
    /// vLLM's `repetition_detection`; `nil` for the server's default.
    package var repetition: Repetition?

    /// What a request says about an end that repeats itself.
    package enum Repetition: Sendable, Hashable {
        case never
        case rule(RepetitionRule)
    }

    /// A change of the logits of a token, or of all tokens of a text.
    package struct Bias: Sendable, Hashable {
        package var part: APIRequest.PromptPart
        package var value: Float
    }

    /// The options with these values.
    package func applied(to options: SamplingOptions) -> SamplingOptions {
        var options = options
        if let temperature { options.temperature = temperature }
        if let topK { options.topK = topK > 0 ? topK : nil }
        if let topP { options.topP = topP < 1 ? topP : nil }
        if let minP { options.minP = minP > 0 ? minP : nil }
        if let seed { options.seed = seed }
        if let repeatPenalty { options.repeatPenalty = repeatPenalty }
        if let frequencyPenalty { options.frequencyPenalty = frequencyPenalty }
        if let presencePenalty { options.presencePenalty = presencePenalty }
        if let penaltyWindow { options.penaltyWindow = penaltyWindow }
        return options
    }
}

/// What a request says about thinking.
package struct ThinkingFields: Sendable, Hashable {
    /// `nil` for the server's default.
    package var isEnabled: Bool?
    package var maximumTokens: Int?
}

extension Sequence<APIRequest.PromptPart> {
    /// The bytes of the texts. Each text counts 64 bytes more, for the work with a text of any size.
    var textBytes: Int {
        reduce(0) { sum, part in
            switch part {
            case .text(let text), .letters(let text): sum + 64 + text.utf8.count
            case .tokens: sum
            }
        }
    }
}
