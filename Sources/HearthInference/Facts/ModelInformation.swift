/// The facts of a model, as its engine reports them.
public struct ModelInformation: Sendable, Hashable {
    /// The model's name: of a release `smollm2-135m-instruct@1.0.0`, of an engine alone its own description, such as
    /// `llama 135M Q4_1`.
    public var description: String
    /// The context window in tokens.
    public var contextLength: Int
    /// The number of weights, which are the elements of all tensors of the model's files; `nil` if unknown, as for a
    /// remote model.
    public var parameterCount: UInt64?
    /// The bytes of the weights; `nil` if unknown.
    public var size: UInt64?
    /// The context the model was trained with, in tokens; `nil` if unknown.
    public var trainedContextLength: Int?
    /// The most tokens of one prefill call; `nil` for an engine without local prefill.
    public var batchSize: Int?
    /// The computing threads; `nil` for an engine without its own threads.
    public var threadCount: Int?
    /// Whether the model embeds or ranks texts and generates none, like BERT.
    public var isEncoderOnly = false
    /// The length of a text's vector; 0 for a model without embeddings.
    public var embeddingLength = 0
    /// Whether the model is on a server, which knows the limits of its answers itself.
    package var isRemote = false
    /// The answers that the engine computes side by side; `nil` if unknown.
    public var parallelAnswers: Int?

    /// Makes facts, by default those of a remote model that generates text.
    public init(description: String, contextLength: Int) {
        self.description = description
        self.contextLength = contextLength
    }

    /// A number of weights as names of models have it: `135M`, `1.7B`.
    package static func shortCount(_ count: UInt64) -> String {
        guard count >= 1_000_000_000 else { return "\((count + 500_000) / 1_000_000)M" }
        let tenths = (count + 50_000_000) / 100_000_000
        return tenths % 10 == 0 ? "\(tenths / 10)B" : "\(tenths / 10).\(tenths % 10)B"
    }
}
