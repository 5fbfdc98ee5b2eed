import HearthBase

/// How much of a text a context for vectors holds.
public struct EmbeddingWindow: Sendable, Hashable {
    /// The most tokens of a text.
    public let length: Int
    /// The model's tokens look at those after them, so that a text has to be computed in one go.
    public let looksAhead: Bool

    /// No text is looked at in more tokens.
    public static let longest = 2048
    /// A shorter one is not worth a context, unless the model's own is no longer.
    public static let shortest = 256

    /// A window of so many tokens, at least one and at most ``longest``.
    public init(length: Int, looksAhead: Bool = false) {
        self.length = min(max(1, length), Self.longest)
        self.looksAhead = looksAhead
    }

    /// The most tokens of one call. Each brings its vector and the odds of all tokens with it, so that few save memory.
    public var chunk: Int { looksAhead ? length : min(128, length) }

    /// The next one to try where this is too much, `nil` for one that is short already.
    var shorter: EmbeddingWindow? {
        length > Self.shortest
            ? EmbeddingWindow(length: max(Self.shortest, length / 2), looksAhead: looksAhead) : nil
    }
}

/// How a context is made that gives vectors of texts, so that it fits beside what is loaded: decided when somebody embeds for
/// the first time, because loading a model sets nothing aside for it.
///
/// Where the wanted window does not fit half of it is taken, down to ``EmbeddingWindow/shortest``. What does not fit then is
/// refused, with the numbers.
public struct EmbeddingPlan: Sendable, Hashable {
    public let window: EmbeddingWindow
    /// What it takes besides the weights, which are loaded.
    public let estimate: MemoryEstimate
    /// What of it lies in the machine's memory, in bytes.
    public let hostBytes: UInt64

    /// The plan for a window, whether it fits or not.
    /// - Parameter gpuLayers: the layers on a GPU that has memory of its own, the output among them.
    public init(_ shape: ModelShape, window: EmbeddingWindow, gpuLayers: Int = 0) {
        self.window = window
        estimate = MemoryEstimate(embedding: shape, in: window)
        hostBytes = estimate.hostBytes(of: shape, gpuLayers: gpuLayers)
    }

    /// The plan for the longest window that fits.
    /// - Parameters:
    ///   - wanted: no longer than this one.
    ///   - device: with what is loaded, this model too, as occupied.
    /// - Throws: `model-does-not-fit` with the bytes needed and the bytes there are.
    public init(
        _ shape: ModelShape, atMost wanted: EmbeddingWindow, gpuLayers: Int = 0, on device: MemoryPlan.Device
    ) throws(LLMError) {
        var window = wanted
        while true {
            self.init(shape, window: window, gpuLayers: gpuLayers)
            if hostBytes <= device.budget { return }
            guard let shorter = window.shorter else { throw refusal(device) }
            window = shorter
        }
    }

    private func refusal(_ device: MemoryPlan.Device) -> LLMError {
        LLMError(
            .doesNotFit,
            "to embed texts of \(window.length) tokens the model needs \(hostBytes.inMebibytes) of memory more, "
                + "\(device.budget.inMebibytes) of the device's \(device.memory.inMebibytes) are free for it beside the "
                + "\(device.occupied.inMebibytes) of what is loaded",
            context: ErrorContext(
                expected: "at most \(device.budget) bytes", found: "\(hostBytes) bytes",
                remedy: "Unload the model of the other role, load this one with a shorter context, or choose a "
                    + "smaller one."))
    }
}

extension MemoryEstimate {
    /// The prediction for a context beside the model's own, which gives the vector of every token it computes.
    ///
    /// Measured with llama.cpp at calls of 128 to 2048 tokens: the odds of all tokens are there twice for each token of a call,
    /// where they are computed and where they are given out. They and the layers are not worked on at the same time.
    init(embedding shape: ModelShape, in window: EmbeddingWindow) {
        let context = MemoryEstimate(shape, contextLength: window.length, batchSize: window.chunk)
        let odds = UInt64(shape.vocabulary).multipliedClamped(by: 4)
        let vector = UInt64(shape.width).multipliedClamped(by: 4)
        let cells = UInt64((window.length + 255) / 256 * 256)
        let made = odds.addingClamped(vector.multipliedClamped(by: 2)).addingClamped(2 * cells)
        let given = odds.addingClamped(vector)
        let tokens = UInt64(window.chunk)
        self.init(
            weights: 0, cache: context.cache,
            compute: max(context.compute, tokens.multipliedClamped(by: made))
                .addingClamped(tokens.multipliedClamped(by: given)))
    }
}
