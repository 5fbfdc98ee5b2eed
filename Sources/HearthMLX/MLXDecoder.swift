#if MLX
import Foundation
import HearthBase
import HearthImport
import HearthInference

/// What MLX has to know about a model besides the places of its weights: the sizes and rules of its layers.
struct MLXDecoder: Sendable, Hashable {
    /// The rules of one layer.
    struct Layer: Sendable, Hashable {
        var ropeBase: Float
        var ropeScale: Float = 1
        /// Whether the factors of the waves apply.
        var hasFactors = true
        /// The tokens that a token sees, with itself; 0 for all.
        var window = 0
    }

    let hidden: Int
    let heads: Int
    let keyHeads: Int
    let headLength: Int
    let vocabulary: Int
    let trained: Int
    let epsilon: Float
    let isGemma: Bool
    let embeddingScale: Float
    let queryScale: Float
    let attentionCap: Float
    let finalCap: Float
    let layers: [Layer]
    /// The lengths of the rotation's waves over 2π for each pair; empty where the base gives them.
    let frequencies: [Float]

    /// The architectures that MLX computes here, by GGUF's names.
    static let architectures: Set<String> = ["llama", "qwen2", "qwen3", "gemma2", "gemma3"]

    /// Reads a model's facts.
    /// - Throws: `cannot-load-model` for a model that this engine does not compute, with the thing in its words.
    init(_ model: NativeModel) throws(LLMError) {
        func refused(_ what: String, _ expected: String? = nil) -> LLMError {
            LLMError(
                .cannotLoad, "MLX does not compute this model here: \(what)",
                context: ErrorContext(
                    file: model.files.first?.string, expected: expected, found: model.modelType,
                    remedy: "Use the model as it is imported."))
        }
        guard Self.architectures.contains(model.architecture) else {
            throw refused(
                "its type is \(model.modelType.quoted)", Self.architectures.sorted().joined(separator: ", "))
        }
        func size(_ key: String) throws(LLMError) -> Int {
            guard let size = model.integer(key), size > 0 else { throw refused("it has no \(key)") }
            return size
        }
        hidden = try size("embedding_length")
        heads = try size("attention.head_count")
        keyHeads = try size("attention.head_count_kv")
        headLength = try size("attention.key_length")
        vocabulary = try size("vocab_size")
        trained = try size("context_length")
        epsilon = model.number("attention.layer_norm_rms_epsilon") ?? 1e-6
        guard model.integer("rope.dimension_count") ?? headLength == headLength else {
            throw refused("only a part of each head is rotated")
        }
        let isSecond = model.architecture == "gemma2"
        isGemma = isSecond || model.architecture == "gemma3"
        let root = Float(hidden).squareRoot()
        // Gemma 3 rounds the factor to 16 bits, as it was trained.
        embeddingScale = isSecond ? root : isGemma ? root.roundedToBrain : 1
        let count = try size("block_count")
        // The largest models of Gemma scale by the width of all heads.
        let isLargest = isGemma && count == (isSecond ? 46 : 62)
        queryScale = 1 / Float(isLargest ? hidden / heads : headLength).squareRoot()
        attentionCap = model.number("attn_logit_softcapping") ?? 0
        finalCap = model.number("final_logit_softcapping") ?? 0

        var layer = Layer(ropeBase: model.number("rope.freq_base") ?? 10_000)
        switch model.text("rope.scaling.type") {
        case nil: break
        case "linear": layer.ropeScale = 1 / (model.number("rope.scaling.factor") ?? 1)
        case let other?: throw refused("its rotation is stretched by \(other.quoted)", "linear, or Llama 3's")
        }
        var windowed = layer
        windowed.window = isGemma ? model.integer("attention.sliding_window") ?? 0 : 0
        if let base = model.number("rope.freq_base_swa") { (windowed.ropeBase, windowed.ropeScale) = (base, 1) }
        let period = isGemma ? model.integer("attention.sliding_window_pattern") ?? 1 : 1
        layers = (1...count).map { $0.isMultiple(of: max(1, period)) ? layer : windowed }
        let (base, length) = (layer.ropeBase, Float(headLength))
        frequencies = model.factors.enumerated().map { pow(base, Float(2 * $0.offset) / length) * $0.element }
        guard frequencies.isEmpty || frequencies.count == headLength / 2 else {
            throw refused("its rotation has \(frequencies.count) factors", "\(headLength / 2)")
        }
    }

    /// The bytes of keys and values of a context window.
    func stateBytes(window: Int) -> UInt64 {
        // Room grows in steps of 256, and the old room of a layer lives beside the new one.
        let numbers = Double(2 * keyHeads * headLength) * Double((window + 255) / 256 * 256) * Double(layers.count + 1)
        return Self.bytes(numbers)
    }

    /// The bytes of the arrays while a part of a prompt is computed.
    func workBytes(window: Int, part: Int, feedForward: Int) -> UInt64 {
        let tokens = Double(min(window, part))
        // Scores, their maximum's differences and their softmax; gate, up and products; inputs in another order.
        let scores = Double(heads) * tokens * Double(window) * 3
        let numbers = scores + tokens * Double(6 * feedForward + 12 * hidden) + Double(vocabulary) * 3
        return Self.bytes(numbers)
    }

    /// The bytes of 32-bit numbers, at most 2^62.
    private static func bytes(_ numbers: Double) -> UInt64 { UInt64(min(numbers * 4, 0x1p62)) }
}

extension Float {
    /// The nearest number of bfloat16's 8 bits, as 32 bits; ties go to the even one.
    fileprivate var roundedToBrain: Float {
        let bits = bitPattern
        return Float(bitPattern: (bits &+ 0x7FFF &+ (bits >> 16 & 1)) & 0xFFFF_0000)
    }
}
#endif
