import HearthBase

/// The length of text that a context for vectors holds.
package struct EmbeddingWindow: Sendable, Hashable {
    /// The most tokens of a text.
    package let length: Int
    /// A text has to be computed in one go: the model's tokens look at those after them, or nothing of those before is kept.
    package let looksAhead: Bool
    /// The model answers too: it keeps what it has computed, and computes what may follow each token. Encoders, as BERT, do neither.
    package let answers: Bool
    /// The most tokens of one call where a text may be cut.
    private var most = 128

    /// The most tokens of any text.
    package static let longest = 2048
    /// The shortest window that is tried, unless the model's own context is shorter.
    package static let shortest = 256

    /// A window of so many tokens, at least one and at most ``longest``.
    package init(length: Int, looksAhead: Bool = false, answers: Bool = true) {
        self.length = min(max(1, length), Self.longest)
        self.looksAhead = looksAhead || !answers
        self.answers = answers
    }

    /// The most tokens of one call. Each brings its vector and the logits of all tokens with it, so that few save memory.
    package var chunk: Int { looksAhead ? length : min(most, length) }

    /// The next one to try where this is too much, `nil` where nothing is left to try: half as long, of as many tokens as llama.cpp
    /// makes a context of, or at last with fewer tokens a call.
    package var shorter: EmbeddingWindow? {
        var next = self
        if length > Self.shortest {
            next = EmbeddingWindow(
                length: max(Self.shortest, length / 512 * 256), looksAhead: looksAhead, answers: answers)
        } else if !looksAhead, chunk > 32 {
            next.most = chunk / 2
        } else {
            return nil
        }
        return next
    }

    /// Whether it holds more than another one of the same model, or as much in calls of more tokens.
    package func isLarger(than other: EmbeddingWindow) -> Bool { (length, chunk) > (other.length, other.chunk) }

    /// Makes something of this window, or where that fails of the longest shorter one with which it succeeds.
    /// - Throws: what the last attempt threw, once nothing shorter is left to try.
    package func longest<Made, Failure>(
        _ make: (EmbeddingWindow) throws(Failure) -> Made
    ) throws(Failure) -> Made {
        var window = self
        while true {
            do throws(Failure) {
                return try make(window)
            } catch {
                guard let shorter = window.shorter else { throw error }
                window = shorter
            }
        }
    }
}

/// The plan of a context for vectors that fits beside the loaded models: decided when a caller embeds for
/// the first time, because loading a model sets nothing aside for it.
///
/// If the wanted window does not fit, half of it is tried, down to ``EmbeddingWindow/shortest``, then fewer tokens a call. A window that
/// still does not fit is refused with both numbers. The free memory of a GPU is not planned.
package struct EmbeddingPlan: Sendable, Hashable {
    package let window: EmbeddingWindow
    /// The memory needed besides the weights, which are loaded.
    package let estimate: MemoryEstimate
    /// The bytes of it in the machine's memory.
    package let hostBytes: UInt64

    /// The plan for a window, whether it fits or not.
    /// - Parameter gpuLayers: the layers on a GPU that has memory of its own, the output among them.
    package init(_ shape: ModelShape, window: EmbeddingWindow, gpuLayers: Int = 0) {
        self.window = window
        estimate = MemoryEstimate(embedding: shape, in: window)
        hostBytes = estimate.hostBytes(of: shape, gpuLayers: gpuLayers)
    }

    /// The plan for the longest window that fits.
    /// - Parameters:
    ///   - wanted: no longer than this one.
    ///   - device: with what is loaded, this model too, as occupied.
    /// - Throws: `model-does-not-fit` with the bytes needed and the bytes there are.
    package init(
        _ shape: ModelShape, atMost wanted: EmbeddingWindow, gpuLayers: Int = 0, on device: MemoryPlan.Device
    ) throws(LLMError) {
        self = try wanted.longest { (window) throws(LLMError) in
            let plan = EmbeddingPlan(shape, window: window, gpuLayers: gpuLayers)
            guard plan.hostBytes <= device.budget else { throw plan.refusal(device) }
            return plan
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
    /// Measured with llama.cpp at calls of 128 to 2048 tokens: the logits of all tokens are there twice for each token of a call,
    /// where they are computed and where they are given out. They and the layers are not worked on at the same time. What does not
    /// answer computes none, and has room for them all the same.
    init(embedding shape: ModelShape, in window: EmbeddingWindow) {
        let context = MemoryEstimate(shape, contextLength: window.length, batchSize: window.chunk)
        let odds = UInt64(shape.vocabulary).multipliedClamped(by: 4)
        let vector = UInt64(shape.width).multipliedClamped(by: 4)
        let cells = UInt64((window.length + 255) / 256 * 256)
        let made = (window.answers ? odds : 0).addingClamped(vector.multipliedClamped(by: 2)).addingClamped(2 * cells)
        let given = odds.addingClamped(vector)
        let tokens = UInt64(window.chunk)
        self.init(
            weights: 0, cache: window.answers ? context.cache : 0,
            compute: max(context.compute, tokens.multipliedClamped(by: made))
                .addingClamped(tokens.multipliedClamped(by: given)))
    }
}
