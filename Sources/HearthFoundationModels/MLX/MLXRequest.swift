import HearthBase
import HearthInference

/// A conversation for mlx-swift-lm, without its types.
package struct MLXRequest: Sendable, Hashable {
    /// The messages; results of tools are messages of the user.
    package var messages: [ChatMessage]
    /// The pictures that are not part of the request.
    package var picturesLeftOut = 0
    package var maximumTokens: Int?
    package var temperature: Float
    /// 1 for all tokens.
    package var topP: Float
    /// 0 for all tokens.
    package var topK: Int
    /// 0 for none.
    package var minP: Float
    package var repeatPenalty: Float?
    package var penaltyWindow: Int
    /// Whether the template asks the model to think.
    package var thinks: Bool

    /// The request for a model.
    /// - Throws: `engine-missing` for a constraint of the whole answer or a raw prompt.
    package init(
        _ messages: [ChatMessage], options: GenerationOptions, readsPictures: Bool
    ) throws(LLMError) {
        guard options.usesChatTemplate, options.promptTokens == nil else { throw Self.missing("takes no raw prompt") }
        guard options.constraint?.coversAnswer != true else { throw Self.missing("holds no schema or grammar") }
        self.messages = messages.withSpelledTools
        if !readsPictures {
            picturesLeftOut = messages.reduce(0) { $0 + $1.images.count }
            for index in self.messages.indices { self.messages[index].images = [] }
        }
        maximumTokens = options.maximumNewTokens == GenerationOptions.windowLength ? nil : options.maximumNewTokens
        temperature = max(0, options.sampling.temperature)
        topP = options.sampling.topP ?? 1
        topK = options.sampling.topK ?? 0
        minP = options.sampling.minP ?? 0
        repeatPenalty = options.sampling.repeatPenalty
        penaltyWindow = options.sampling.penaltyWindow
        thinks = options.thinking.isEnabled
    }

    private static func missing(_ ability: String) -> LLMError {
        LLMError(
            .engineMissing, "the engine of this model \(ability)",
            context: ErrorContext(remedy: "Use a model of another engine for that."), disposition: .usage)
    }
}
