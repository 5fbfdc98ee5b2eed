import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthImport

/// What vision models see with.
@Suite struct ProjectorTests {
    private static func configuration(
        _ type: String, _ vision: [String: JSONValue], _ changes: [String: JSONValue] = [:]
    ) throws -> ModelConfiguration {
        var members = SmallModel().configuration
        members["model_type"] = .string(type)
        members["vision_config"] = .object(JSONMembers(vision))
        for (key, value) in changes { members[key] = value }
        return try ModelConfiguration(parsing: Data(JSONValue.object(JSONMembers(members)).line.utf8))
    }

    private static let gemma: [String: JSONValue] = [
        "hidden_size": 32, "num_hidden_layers": 1, "intermediate_size": 48, "patch_size": 4, "image_size": 32,
        "num_attention_heads": 2,
    ]
    private static let qwen: [String: JSONValue] = [
        "hidden_size": 32, "depth": 1, "intermediate_size": 48, "patch_size": 4, "num_heads": 2,
        "fullatt_block_indexes": [7, 15],
    ]

    private static func facts(_ configuration: ModelConfiguration, _ preprocessor: String? = nil) throws
        -> ProjectorFacts?
    {
        try ProjectorFacts(
            configuration, Dimensions(configuration), preprocessor: preprocessor.map { Data($0.utf8) })
    }

    private static func plan(_ builder: SafetensorsBuilder, _ facts: ProjectorFacts) throws -> ProjectorPlan {
        let header = try SafetensorsHeader(parsing: builder.data, name: "m")
        let sources = try SourceTensors(
            shards: [(name: "m", header: header)], places: nil, part: .vision, hasOtherParts: true)
        return try ProjectorPlan(sources, facts, nil)
    }

    private static func add(_ name: String, _ shape: [Int], to builder: inout SafetensorsBuilder) {
        builder.add(name, shape, as: "BF16", [Float](repeating: 1, count: shape.reduce(1, *)))
    }

    /// Gemma's tower with the channels of its kernels first or last.
    private static func gemmasTower(isLast: Bool) -> SafetensorsBuilder {
        var builder = SafetensorsBuilder()
        let tower = "vision_tower.vision_model"
        add("\(tower).embeddings.patch_embedding.weight", isLast ? [32, 4, 4, 3] : [32, 3, 4, 4], to: &builder)
        add("\(tower).embeddings.patch_embedding.bias", [32], to: &builder)
        add("\(tower).embeddings.position_embedding.weight", [64, 32], to: &builder)
        for part in ["layer_norm1", "layer_norm2"] {
            for end in ["weight", "bias"] { add("\(tower).encoder.layers.0.\(part).\(end)", [32], to: &builder) }
        }
        for part in ["q_proj", "k_proj", "v_proj", "out_proj"] {
            add("\(tower).encoder.layers.0.self_attn.\(part).weight", [32, 32], to: &builder)
            add("\(tower).encoder.layers.0.self_attn.\(part).bias", [32], to: &builder)
        }
        add("\(tower).encoder.layers.0.mlp.fc1.weight", [48, 32], to: &builder)
        add("\(tower).encoder.layers.0.mlp.fc1.bias", [48], to: &builder)
        add("\(tower).encoder.layers.0.mlp.fc2.weight", [32, 48], to: &builder)
        add("\(tower).encoder.layers.0.mlp.fc2.bias", [32], to: &builder)
        for end in ["weight", "bias"] { add("\(tower).post_layernorm.\(end)", [32], to: &builder) }
        add("multi_modal_projector.mm_input_projection_weight", [32, 64], to: &builder)
        add("multi_modal_projector.mm_soft_emb_norm.weight", [32], to: &builder)
        return builder
    }

    @Test(arguments: [true, false]) func gemmasTowerIsPlanned(_ isLast: Bool) throws {
        let configuration = try Self.configuration("gemma3", Self.gemma, ["mm_tokens_per_image": 4])
        let facts = try #require(try Self.facts(configuration))
        let values = Dictionary(uniqueKeysWithValues: facts.metadata.map { ($0.key, $0.value) })
        #expect(values["clip.projector_type"] == .string("gemma3"))
        #expect(values["clip.vision.projector.scale_factor"] == .uint32(4))
        #expect(values["clip.vision.image_mean"] == .floats([0.5, 0.5, 0.5]))
        let items = try Self.plan(Self.gemmasTower(isLast: isLast), facts).items
        #expect(items.count == 23)
        #expect(items[0].output == GGUFWriter.Tensor(name: "v.patch_embd.weight", shape: [4, 4, 3, 32], storage: .f32))
        guard case .kernel(_, let patch) = items[0].conversion else { throw CancellationError() }
        #expect(patch.channelsAreLast == isLast)
        #expect(items.last?.conversion == .floats(.bfloat16, shift: 1))
        #expect(items.first { $0.output.name == "v.blk.0.ffn_up.weight" }?.output.shape == [32, 48])
    }

    @Test func qwensQueriesKeysAndValuesAreParted() throws {
        let configuration = try Self.configuration("qwen2_5_vl", Self.qwen)
        let facts = try #require(try Self.facts(configuration))
        let values = Dictionary(uniqueKeysWithValues: facts.metadata.map { ($0.key, $0.value) })
        #expect(values["clip.projector_type"] == .string("qwen2.5vl_merger"))
        #expect(values["clip.vision.n_wa_pattern"] == .uint32(8))
        var builder = SafetensorsBuilder()
        // MLX's name of the tower, and its order of the kernels.
        Self.add("vision_tower.patch_embed.proj.weight", [32, 2, 4, 4, 3], to: &builder)
        let block = "vision_tower.blocks.0"
        for norm in ["norm1", "norm2"] { Self.add("\(block).\(norm).weight", [32], to: &builder) }
        Self.add("\(block).attn.qkv.weight", [96, 32], to: &builder)
        Self.add("\(block).attn.qkv.bias", [96], to: &builder)
        let linear = [
            ("\(block).attn.proj", 32, 32), ("\(block).mlp.gate_proj", 48, 32), ("\(block).mlp.up_proj", 48, 32),
            ("\(block).mlp.down_proj", 32, 48), ("vision_tower.merger.mlp.0", 128, 128),
            ("vision_tower.merger.mlp.2", 64, 128),
        ]
        for (name, rows, columns) in linear {
            Self.add("\(name).weight", [rows, columns], to: &builder)
            Self.add("\(name).bias", [rows], to: &builder)
        }
        Self.add("vision_tower.merger.ln_q.weight", [32], to: &builder)
        let items = try Self.plan(builder, facts).items
        let places = Dictionary(uniqueKeysWithValues: items.map { ($0.output.name, $0) })
        let queries = try #require(places["v.blk.0.attn_q.weight"])
        let lastPart = try #require(places["v.blk.0.attn_v.weight"])
        #expect(queries.output.shape == [32, 32])
        #expect(lastPart.weights.offset == queries.weights.offset + 2 * 32 * 32 * 2)
        #expect(places["v.blk.0.attn_k.bias"]?.output.shape == [32])
        #expect(places["v.patch_embd.weight.1"]?.output.shape == [4, 4, 3, 32])
        #expect(places["mm.2.weight"]?.output.shape == [128, 64])
    }

    @Test func kernelsOfBothOrdersAreTheSame() throws {
        // Two kernels of two frames, three channels and four places; the numbers name their own place.
        let (kernels, frames, channels, area) = (2, 2, 3, 4)
        func number(_ kernel: Int, _ channel: Int, _ frame: Int, _ place: Int) -> Float {
            Float(kernel * 1000 + channel * 100 + frame * 10 + place)
        }
        var first: [Float] = []
        var last: [Float] = []
        for kernel in 0..<kernels {
            for channel in 0..<channels {
                for frame in 0..<frames { first += (0..<area).map { number(kernel, channel, frame, $0) } }
            }
            for frame in 0..<frames {
                for place in 0..<area { last += (0..<channels).map { number(kernel, $0, frame, place) } }
            }
        }
        for (numbers, isLast) in [(first, false), (last, true)] {
            var source = numbers
            var output = [Float](repeating: 0, count: kernels * channels * area)
            let patch = Conversion.Patch(frames: frames, frame: 1, size: 2, channelsAreLast: isLast)
            source.withUnsafeMutableBytes { weights in
                output.withUnsafeMutableBytes { output in
                    let none = UnsafeMutableRawBufferPointer(start: nil, count: 0)
                    let buffers = RowBuffers(weights: weights, scales: none, biases: none, output: output)
                    _ = Conversion.kernel(.float32, patch).run(
                        rows: kernels, columns: channels * area, head: 0, buffers)
                }
            }
            let wanted = (0..<kernels).flatMap { kernel in
                (0..<channels).flatMap { channel in (0..<area).map { number(kernel, channel, 1, $0) } }
            }
            #expect(output == wanted)
        }
    }

    @Test func modelsThatSeeOtherwiseHaveNoProjector() throws {
        #expect(try Self.facts(try Self.configuration("qwen2_vl", Self.qwen)) == nil)
        let blind = try ModelConfiguration(parsing: SmallModel().configurationData)
        #expect(try Self.facts(blind) == nil)
    }

    @Test(arguments: [
        ("hidden_size", "0"), ("hidden_size", "33"), ("patch_size", "1000"), ("num_hidden_layers", "-1"),
        ("image_size", "1e9"), ("layer_norm_eps", "0"),
    ]) func valuesOutOfRangeAreDamaged(_ key: String, _ text: String) throws {
        var vision = Self.gemma
        vision[key] = try JSONValue(parsing: text)
        let configuration = try Self.configuration("gemma3", vision, ["mm_tokens_per_image": 4])
        let error = #expect(throws: ImportError.self) { try Self.facts(configuration) }
        #expect(error?.code == .damaged)
    }

    @Test(arguments: ["", "{\"image_mean\":[1]}", "{\"image_std\":[1,1,0]}", "{\"image_std\":[1,1,\"1\"]}"])
    func aPreprocessorThatIsNoneIsDamaged(_ text: String) throws {
        let configuration = try Self.configuration("gemma3", Self.gemma, ["mm_tokens_per_image": 4])
        let error = #expect(throws: ImportError.self) { try Self.facts(configuration, text) }
        #expect(error?.code == .damaged)
    }

    @Test(arguments: [
        ("fullatt_block_indexes", "[7, 16]"), ("fullatt_block_indexes", "[]"), ("spatial_merge_size", "3"),
        ("window_size", "64"),
    ]) func towersThatTheEngineComputesOtherwiseAreRefused(_ key: String, _ text: String) throws {
        var vision = Self.qwen
        vision[key] = try JSONValue(parsing: text)
        let configuration = try Self.configuration("qwen2_5_vl", vision)
        let error = #expect(throws: ImportError.self) { try Self.facts(configuration) }
        #expect(error?.code == .incompatible)
    }
}
