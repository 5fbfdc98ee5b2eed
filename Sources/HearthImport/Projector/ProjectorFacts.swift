import Foundation
import HearthBase

/// What a vision model sees with, as the engine knows it: Gemma 3's and Qwen 2.5 VL's towers.
struct ProjectorFacts: Sendable {
    /// The towers that the engine computes.
    enum Tower: Sendable { case gemma3, qwen25 }

    let tower: Tower
    let layers: Int
    let width: Int
    let feedForward: Int
    let patch: Int
    /// The pixels of a side of a picture.
    let image: Int
    /// The width of the text model.
    let textWidth: Int
    /// The entries of the GGUF file, all but its type.
    private(set) var metadata: [(key: String, value: GGUFValue)]

    /// Reads `vision_config` and `preprocessor_config.json`.
    /// - Returns: `nil` for a model that sees nothing, or with what the engine does not know.
    /// - Throws: ``ImportError`` with `damaged` for values out of range, `incompatible` for a tower that the engine
    ///   computes otherwise.
    init?(_ configuration: ModelConfiguration, _ dimensions: Dimensions, preprocessor: Data?) throws(ImportError) {
        guard let vision = configuration.part("vision_config") else { return nil }
        switch configuration.modelType {
        case "gemma3": tower = .gemma3
        case "qwen2_5_vl": tower = .qwen25
        default: return nil
        }
        let isGemma = tower == .gemma3
        layers = try vision.integer(isGemma ? "num_hidden_layers" : "depth", in: 1...200, default: isGemma ? 27 : 32)
        width = try vision.integer("hidden_size", in: 32...1 << 14, default: isGemma ? 1152 : 1280)
        feedForward = try vision.integer("intermediate_size", in: 32...1 << 16, default: isGemma ? 4304 : 3420)
        patch = try vision.integer("patch_size", in: 4...64, default: 14)
        image = try vision.integer("image_size", in: 32...1 << 13, default: isGemma ? 896 : 560)
        textWidth = dimensions.width
        let heads = try vision.integer(isGemma ? "num_attention_heads" : "num_heads", in: 1...256, default: 16)
        guard width.isMultiple(of: heads) else {
            throw vision.damaged("hidden_size", "heads do not divide the width", .integer(width))
        }
        let picture = try Self.picture(preprocessor, isGemma: isGemma)
        let epsilon = try vision.positive("layer_norm_eps", default: 1e-6)
        metadata = [
            ("clip.has_vision_encoder", .bool(true)),
            ("clip.projector_type", .string(isGemma ? "gemma3" : "qwen2.5vl_merger")),
            ("clip.vision.projection_dim", .uint32(UInt32(textWidth))),
            ("clip.vision.image_size", .uint32(UInt32(image))), ("clip.vision.patch_size", .uint32(UInt32(patch))),
            ("clip.vision.embedding_length", .uint32(UInt32(width))),
            ("clip.vision.feed_forward_length", .uint32(UInt32(feedForward))),
            ("clip.vision.block_count", .uint32(UInt32(layers))),
            ("clip.vision.attention.head_count", .uint32(UInt32(heads))),
            ("clip.vision.attention.layer_norm_epsilon", .float32(Float(epsilon))),
            ("clip.vision.image_mean", .floats(picture.mean)), ("clip.vision.image_std", .floats(picture.deviation)),
        ]
        metadata += isGemma ? try gemma(configuration) : try qwen(vision)
    }

    private func gemma(_ configuration: ModelConfiguration) throws(ImportError) -> [(key: String, value: GGUFValue)] {
        let tokens = try configuration.integer("mm_tokens_per_image", in: 1...1 << 16, default: 256)
        let (side, patches) = (Int(Double(tokens).squareRoot()), image / patch)
        guard side * side == tokens, patches.isMultiple(of: side) else {
            throw configuration.damaged("mm_tokens_per_image", "patches do not form whole tokens", .integer(tokens))
        }
        let factor = GGUFValue.uint32(UInt32(patches / side))
        return [("clip.use_gelu", .bool(true)), ("clip.vision.projector.scale_factor", factor)]
    }

    private func qwen(_ vision: ModelConfiguration) throws(ImportError) -> [(key: String, value: GGUFValue)] {
        for (key, value) in [("spatial_merge_size", 2), ("temporal_patch_size", 2), ("window_size", 112)]
        where try vision.integer(key, in: 1...1 << 16, default: value) != value {
            throw vision.unsupported(key, "another \(key)", expected: "\(value)")
        }
        let whole = (vision["fullatt_block_indexes"]?.items ?? [7, 15, 23, 31]).compactMap(\.unsigned)
        // Every so many layers one sees the whole picture.
        guard let first = whole.first, first < 1000,
            whole == (1...UInt64(whole.count)).map({ $0 * (first + 1) - 1 })
        else { throw vision.unsupported("fullatt_block_indexes", "an irregular order of windows") }
        return [("clip.use_silu", .bool(true)), ("clip.vision.n_wa_pattern", .uint32(UInt32(first + 1)))]
    }

    /// The mean and deviation of the colors that the model was trained on.
    private static func picture(
        _ preprocessor: Data?, isGemma: Bool
    ) throws(ImportError) -> (mean: [Float], deviation: [Float]) {
        let file = "preprocessor_config.json"
        let half: [Float] = [0.5, 0.5, 0.5]
        var (mean, deviation) =
            isGemma
            ? (half, half) : ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711])
        guard let preprocessor else { return (mean, deviation) }
        // The place of a syntax error in a stranger's file is no help to the person: the file is fetched again.
        guard let value = try? JSONValue(parsing: preprocessor) else { throw .damaged("it is no JSON", file: file) }
        func read(_ key: String, _ numbers: inout [Float]) throws(ImportError) {
            guard let items = value[key]?.items else { return }
            let found = items.compactMap(\.positive)
            guard items.count == 3, found.count == 3 else {
                throw .damaged("a list does not have three positive numbers", file: file, field: key)
            }
            numbers = found.map(Float.init)
        }
        try read("image_mean", &mean)
        try read("image_std", &deviation)
        return (mean, deviation)
    }
}
