/// The type in which the cache stores keys and values.
package enum CacheType: String, Sendable, Hashable, Codable, CaseIterable {
    case f16
    case q8 = "q8_0"
    case q4 = "q4_0"

    /// The bytes of `count` numbers: blocks of 32 with a scale (`ggml_type` in ggml.h).
    func bytes(of count: UInt64) -> UInt64 {
        switch self {
        case .f16: count.multipliedClamped(by: 2)
        case .q8: (count / 32).multipliedClamped(by: 34)
        case .q4: (count / 32).multipliedClamped(by: 18)
        }
    }

    /// Whether the type can store a model's keys and values: quantized types have blocks of 32 numbers, and no block
    /// may span two heads.
    func fits(_ shape: ModelShape) -> Bool {
        self == .f16
            || (shape.headWidths + shape.layers.flatMap { [$0.keyWidth, $0.valueWidth] }).allSatisfy {
                $0.isMultiple(of: 32)
            }
    }
}

/// The memory of a loaded model in bytes, predicted from its shape as llama.cpp lays it out.
package struct MemoryEstimate: Sendable, Hashable, Codable {
    /// The file of the weights, or its tensors if the header lists their sizes. The file is mapped, so the system can
    /// drop unused pages and read them again.
    package var weights: UInt64
    /// The bytes of the keys and values of the context's tokens, and of the state of recurrent layers; 0 for an encoder.
    package var cache: UInt64
    /// The bytes of the compute buffers of one call, with its logits.
    package var compute: UInt64
    /// The projector of a vision model, with the memory for encoding one picture.
    package var projector: UInt64 = 0

    /// The sum of all parts.
    package var total: UInt64 { [weights, cache, compute, projector].reduce(0) { $0.addingClamped($1) } }

    /// The bytes in the machine's memory when `gpuLayers` layers, with the output layer, lie on a GPU with its own
    /// memory: the other layers, the token table, and the compute buffers, which both sides have. The projector is
    /// placed with the layers.
    package func hostBytes(of shape: ModelShape, gpuLayers: Int) -> UInt64 {
        let count = UInt64(shape.layers.count)
        let layers = min(UInt64(max(0, gpuLayers)), count + 1)
        guard layers > 0 else { return total }
        // The table has at most the vocabulary's size in F16.
        let table = min(weights, UInt64(shape.vocabulary).multipliedClamped(by: 2 * UInt64(shape.width)))
        let left = max(table, weights - weights / (count + 1) * layers)
        // The output layer is placed first, and has no part of the cache.
        let kept = count > 0 ? cache - cache / count * (layers - 1) : 0
        return left.addingClamped(kept).addingClamped(compute)
    }

}

extension MemoryEstimate {
    /// Predicts the memory of a context.
    /// - Parameters:
    ///   - shape: the model's shape.
    ///   - contextLength: in tokens of all conversations together; llama.cpp rounds it up to 256.
    ///   - cacheType: the type of keys and values.
    ///   - batchSize: the most tokens of one call.
    ///   - sequences: the conversations side by side.
    ///   - projector: the bytes of a projector, see ``projectorBytes(_:)``.
    ///   - flashAttention: `automatic` counts as on.
    package init(
        _ shape: ModelShape, contextLength: Int, cacheType: CacheType = .f16, batchSize: Int = 512, sequences: Int = 1,
        projector: UInt64 = 0, flashAttention: FlashAttention = .automatic
    ) {
        let cells = UInt64((min(max(1, contextLength), 1 << 30) + 255) / 256 * 256)
        let batch = UInt64(min(max(1, batchSize), 1 << 16))
        weights = shape.weightBytes
        self.projector = projector
        let hasScores = flashAttention == .off && cacheType == .f16
        // Values are then transposed, in rows as wide as those of the widest layer.
        let widest = hasScores ? shape.layers.map(\.valueWidth).max() ?? 0 : 0
        var cache = shape.recurrentBytes.multipliedClamped(by: UInt64(max(1, sequences)))
        for layer in shape.layers {
            let isCached = layer.keyWidth > 0 || layer.valueWidth > 0 || shape.recurrentBytes == 0
            let valueWidth = isCached ? max(layer.valueWidth, widest) : 0
            // Layers with a sliding window also keep all tokens, so that a prefix can be reused.
            let numbers = cells.multipliedClamped(by: UInt64(layer.keyWidth + valueWidth))
            cache = cache.addingClamped(cacheType.bytes(of: numbers))
        }
        self.cache = cache
        // Measured with llama.cpp at batches of 128 to 2048. Each token of a call needs four hidden states and three
        // inner states in F32, and its row of the attention mask in F16. The logits need one row for each conversation.
        // Without a cache, a call attends only to its own tokens.
        let seen = shape.hasCache ? cells : min(cells, batch)
        let width = UInt64(shape.width)
        let feedForward = 4 * (4 * width + 3 * UInt64(shape.innerWidth))
        let each: UInt64
        if hasScores {
            // The mask's row is in F32. Attention needs six states as wide as the model or all its heads, and a row of
            // scores for each head. The processor also copies the scores to F16, in memory that llama.cpp does not log.
            let heads = UInt64(max(0, shape.heads))
            let state = max(width, heads.multipliedClamped(by: UInt64(max(0, shape.headWidths.max() ?? 0))))
            let scores = seen.multipliedClamped(by: heads)
            let attention = state.multipliedClamped(by: 24).addingClamped(scores.multipliedClamped(by: 4))
            each = max(feedForward, attention).addingClamped(4 * seen).addingClamped(scores.multipliedClamped(by: 2))
        } else {
            each = feedForward + 2 * seen
        }
        // One more sequence saves parts of the others.
        let hasSpare = sequences > 1 && shape.hasCache && shape.recurrentBytes == 0
        let rows = UInt64(max(1, sequences) + (hasSpare ? 1 : 0))
        let logits = 4 * UInt64(shape.vocabulary) * rows
        compute = batch.multipliedClamped(by: each).addingClamped(logits)
    }
}

extension UInt64 {
    func addingClamped(_ other: UInt64) -> UInt64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }

    func multipliedClamped(by other: UInt64) -> UInt64 {
        let (product, overflows) = multipliedReportingOverflow(by: other)
        return overflows ? .max : product
    }

    /// The number of bytes as text, rounded up.
    var inMebibytes: String { "\(addingClamped((1 << 20) - 1) >> 20) MiB" }
}
