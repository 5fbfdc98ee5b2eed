import HearthBase

/// The size of a context for vectors.
package struct EmbeddingWindow: Sendable, Hashable {
    /// The most tokens of a text.
    package let length: Int
    /// Whether a text must be computed in one call: its tokens attend to later tokens, or the context keeps no state of
    /// earlier ones.
    package let looksAhead: Bool
    /// Whether the model also answers: then it keeps computed state and computes the logits of each token. Encoders
    /// such as BERT do neither.
    package let answers: Bool
    /// The most tokens of one call if a text may be split.
    private var most = 128

    /// The longest window in tokens.
    package static let longest = 2048
    /// The shortest window that is tried, unless the model's own context is shorter.
    package static let shortest = 256

    /// Makes a window of `length` tokens, 1...``longest``.
    package init(length: Int, looksAhead: Bool = false, answers: Bool = true) {
        self.length = min(max(1, length), Self.longest)
        self.looksAhead = looksAhead || !answers
        self.answers = answers
    }

    /// The most tokens of one call. Each needs memory for its vector and the logits of the whole vocabulary, so fewer
    /// tokens save memory.
    package var chunk: Int { looksAhead ? length : min(most, length) }

    /// The next window to try if this one does not fit, `nil` after the last. It is half as long, in steps of
    /// llama.cpp's context lengths; the last ones have fewer tokens in a call.
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

    /// Whether the window is longer than another one of the same model, or as long with more tokens in a call.
    package func isLarger(than other: EmbeddingWindow) -> Bool { (length, chunk) > (other.length, other.chunk) }

    /// Calls `make` with this window, and after each failure with the next shorter one.
    /// - Throws: the error of the last attempt.
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

/// The plan of a context for vectors that fits beside the loaded models. It is made when a caller first embeds, because
/// loading a model reserves no memory for it.
///
/// If the wanted window does not fit, half of it is tried, down to ``EmbeddingWindow/shortest``, then fewer tokens in a
/// call. A window that still does not fit is refused with both numbers. The free memory of a GPU is not planned.
package struct EmbeddingPlan: Sendable, Hashable {
    package let window: EmbeddingWindow
    /// The memory needed besides the loaded weights.
    package let estimate: MemoryEstimate
    /// The needed bytes in the machine's memory.
    package let hostBytes: UInt64

    /// Makes the plan for a window, whether it fits or not.
    /// - Parameter gpuLayers: the layers on a GPU with its own memory, with the output layer.
    package init(_ shape: ModelShape, window: EmbeddingWindow, gpuLayers: Int = 0) {
        self.window = window
        estimate = MemoryEstimate(embedding: shape, in: window)
        hostBytes = estimate.hostBytes(of: shape, gpuLayers: gpuLayers)
    }

    /// Makes the plan for the longest window that fits.
    /// - Parameters:
    ///   - wanted: the longest window to try.
    ///   - device: the memory with all loaded models counted as occupied, this one included.
    /// - Throws: `not-enough-memory` with the needed and the available bytes.
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
    /// Predicts the memory of a context that gives the vector of every computed token.
    ///
    /// Measured with llama.cpp at calls of 128 to 2048 tokens: the logits of all tokens are stored twice for each token
    /// of a call, in the computation and in the output. They and the layers are not computed at the same time. A model
    /// that does not answer computes no logits, but llama.cpp allocates them.
    init(embedding shape: ModelShape, in window: EmbeddingWindow) {
        let context = MemoryEstimate(shape, contextLength: window.length, batchSize: window.chunk)
        let logits = UInt64(shape.vocabulary).multipliedClamped(by: 4)
        let vector = UInt64(shape.width).multipliedClamped(by: 4)
        let cells = UInt64((window.length + 255) / 256 * 256)
        let made = (window.answers ? logits : 0).addingClamped(vector.multipliedClamped(by: 2)).addingClamped(2 * cells)
        let given = logits.addingClamped(vector)
        let tokens = UInt64(window.chunk)
        self.init(
            weights: 0, cache: window.answers ? context.cache : 0,
            compute: max(context.compute, tokens.multipliedClamped(by: made))
                .addingClamped(tokens.multipliedClamped(by: given)))
    }
}
