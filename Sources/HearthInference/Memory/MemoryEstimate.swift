/// The type in which the cache stores keys and values.
public enum CacheType: String, Sendable, Hashable, Codable, CaseIterable {
    case f16
    case q8 = "q8_0"
    case q4 = "q4_0"

    /// The bytes of so many numbers: blocks of 32 with a scale (`ggml_type` in ggml.h).
    func bytes(of count: UInt64) -> UInt64 {
        switch self {
        case .f16: count.multipliedClamped(by: 2)
        case .q8: (count / 32).multipliedClamped(by: 34)
        case .q4: (count / 32).multipliedClamped(by: 18)
        }
    }

    /// Whether the type can store a model's keys and values: quantised types have blocks of 32 numbers, which heads do not share.
    func fits(_ shape: ModelShape) -> Bool {
        self == .f16
            || (shape.headWidths + shape.layers.flatMap { [$0.keyWidth, $0.valueWidth] }).allSatisfy {
                $0.isMultiple(of: 32)
            }
    }
}

/// The memory a loaded model takes, in bytes, predicted from its shape as llama.cpp lays it out.
package struct MemoryEstimate: Sendable, Hashable, Codable {
    /// The file of the weights, or its tensors where the header tells their sizes. It is mapped: what of it is not used can be given
    /// back and read again.
    package var weights: UInt64
    /// The bytes of the keys and values of the context's tokens, and of the state of recurrent layers; 0 for an encoder.
    package var cache: UInt64
    /// The bytes of the compute buffers of one call, with its logits.
    package var compute: UInt64
    /// The projector of a vision model, with what encoding one image needs.
    package var projector: UInt64

    /// All of it.
    package var total: UInt64 { [weights, cache, compute, projector].reduce(0) { $0.addingClamped($1) } }

    /// The bytes in the machine's memory when so many layers, the output among them, lie on a GPU with memory of its own: the
    /// other layers, the table of the tokens, and what a call needs, which both sides have. The projector goes with the layers.
    package func hostBytes(of shape: ModelShape, gpuLayers: Int) -> UInt64 {
        let count = UInt64(shape.layers.count)
        let layers = min(UInt64(max(0, gpuLayers)), count + 1)
        guard layers > 0 else { return total }
        // No more than its tokens in F16.
        let table = min(weights, UInt64(shape.vocabulary).multipliedClamped(by: 2 * UInt64(shape.width)))
        let left = max(table, weights - weights / (count + 1) * layers)
        // The output goes first, and has no part of the cache.
        let kept = count > 0 ? cache - cache / count * (layers - 1) : 0
        return left.addingClamped(kept).addingClamped(compute)
    }

    /// The given parts.
    package init(weights: UInt64, cache: UInt64, compute: UInt64, projector: UInt64 = 0) {
        self.weights = weights
        self.cache = cache
        self.compute = compute
        self.projector = projector
    }

    /// The prediction for a context.
    /// - Parameters:
    ///   - shape: of the model.
    ///   - contextLength: in tokens, all conversations together; llama.cpp rounds it up to 256.
    ///   - cacheType: of keys and values alike.
    ///   - batchSize: the most tokens of one call.
    ///   - sequences: the conversations side by side.
    ///   - projector: the bytes of one, see ``projectorBytes(_:)``.
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
        // Values lie across then, in rows as wide as the widest layer's.
        let widest = hasScores ? shape.layers.map(\.valueWidth).max() ?? 0 : 0
        var cache = shape.recurrentBytes.multipliedClamped(by: UInt64(max(1, sequences)))
        for layer in shape.layers {
            let isCached = layer.keyWidth > 0 || layer.valueWidth > 0 || shape.recurrentBytes == 0
            let valueWidth = isCached ? max(layer.valueWidth, widest) : 0
            // Layers with a sliding window keep all tokens too, so that a prefix can be reused.
            let numbers = cells.multipliedClamped(by: UInt64(layer.keyWidth + valueWidth))
            cache = cache.addingClamped(cacheType.bytes(of: numbers))
        }
        self.cache = cache
        // Measured with llama.cpp at batches of 128 to 2048: for each token of a call the hidden state four times and the
        // inner one three times in F32, and its row of the attention mask in F16; besides the logits of one row for each
        // conversation. Without a cache a call looks at its own tokens alone.
        let seen = shape.hasCache ? cells : min(cells, batch)
        let width = UInt64(shape.width)
        let feedForward = 4 * (4 * width + 3 * UInt64(shape.innerWidth))
        let each: UInt64
        if hasScores {
            // Its row of the mask is in F32. Where it attends there are six states as wide as the model or all its heads, and a row
            // of scores for each head, of which the processor also makes a copy in F16, in memory that llama.cpp does not log.
            let heads = UInt64(max(0, shape.heads))
            let state = max(width, heads.multipliedClamped(by: UInt64(max(0, shape.headWidths.max() ?? 0))))
            let scores = seen.multipliedClamped(by: heads)
            let attention = state.multipliedClamped(by: 24).addingClamped(scores.multipliedClamped(by: 4))
            each = max(feedForward, attention).addingClamped(4 * seen).addingClamped(scores.multipliedClamped(by: 2))
        } else {
            each = feedForward + 2 * seen
        }
        let logits = 4 * UInt64(shape.vocabulary) * UInt64(max(1, sequences))
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

    /// The number of bytes for people, rounded up.
    var inMebibytes: String { "\(addingClamped((1 << 20) - 1) >> 20) MiB" }
}
