import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthInference

@Suite struct ModelShapeTests {
    static func header(_ entries: [(String, GGUFValue)]) throws -> GGUFHeader {
        try GGUFHeader(data: GGUFBuilder(entries: entries.map { (key: $0.0, value: $0.1) }).header(), extent: .metadata)
    }

    private static func numbers(_ values: [UInt32]) -> GGUFValue {
        .array(GGUFArray(elementType: .uint32, count: UInt64(values.count), elements: values.map { .uint32($0) }))
    }

    static let base: [(String, GGUFValue)] = [
        ("general.architecture", .string("x")), ("x.block_count", .uint32(4)), ("x.embedding_length", .uint32(64)),
        ("x.attention.head_count", .uint32(4)), ("x.attention.head_count_kv", .uint32(2)),
        ("x.feed_forward_length", .uint32(128)), ("x.context_length", .uint32(2048)),
    ]

    @Test func readsThePlainKind() throws {
        let shape = try #require(ModelShape(try Self.header(Self.base), fileBytes: 1000))
        #expect(shape.weightBytes == 1000)
        #expect(shape.layers == Array(repeating: ModelShape.Layer(keyWidth: 32, valueWidth: 32), count: 4))
        #expect(shape.width == 64 && shape.innerWidth == 128 && shape.trainedContext == 2048)
        #expect(shape.recurrentBytes == 0)
    }

    @Test func readsLayersThatDiffer() throws {
        let entries =
            Self.base.filter { $0.0 != "x.attention.head_count_kv" } + [
                ("x.attention.head_count_kv", Self.numbers([2, 0, 2, 0])), ("x.attention.key_length", .uint32(32)),
                ("x.attention.value_length", .uint32(16)), ("x.ssm.inner_size", .uint32(128)),
                ("x.ssm.state_size", .uint32(16)), ("x.ssm.conv_kernel", .uint32(4)),
            ]
        let shape = try #require(ModelShape(try Self.header(entries), fileBytes: 1))
        #expect(shape.layers[0] == ModelShape.Layer(keyWidth: 64, valueWidth: 32))
        #expect(shape.layers[1] == ModelShape.Layer(keyWidth: 0, valueWidth: 0))
        // Two layers without attention: a state of 16 x 128 and three columns of 128 each, in F32.
        #expect(shape.recurrentBytes == 2 * 4 * (16 * 128 + 3 * 128))
    }

    /// A shape of the named architecture, from a header like `base`.
    private static func shape(_ architecture: String, _ entries: [(String, GGUFValue)]) throws -> ModelShape? {
        let keys = entries.map { "x." + $0.0 }
        let all = base.filter { !keys.contains($0.0) } + entries.map { ("x." + $0.0, $0.1) }
        return ModelShape(
            try header(
                all.map { key, value in
                    key == "general.architecture"
                        ? (key, .string(architecture)) : (architecture + key.dropFirst(), value)
                }), fileBytes: 1)
    }

    /// The gated delta nets of Qwen3.5: three of four layers keep a state, of 16 x 128 and three columns of 128 + 2 x 2 x 16.
    @Test(
        arguments: [
            ("qwen35", [], [0, 0, 0, 32]), ("qwen35", [("full_attention_interval", .uint32(2))], [0, 32, 0, 32]),
            ("y", [("full_attention_interval", .uint32(2))], [0, 32, 0, 32]), ("y", [], [32, 32, 32, 32]),
            // The layer that predicts a further token attends.
            ("qwen3next", [("nextn_predict_layers", .uint32(2))], [0, 0, 32, 32]),
            (
                "qwen35",
                [
                    (
                        "attention.recurrent_layers",
                        .array(
                            GGUFArray(
                                elementType: .bool, count: 4, elements: [true, false, false, true].map { .bool($0) }))
                    ), ("full_attention_interval", .uint32(2)),
                ], [0, 32, 32, 0]
            ),
        ] as [(String, [(String, GGUFValue)], [Int])])
    func hybridsAttendInSomeLayers(
        _ architecture: String, _ entries: [(String, GGUFValue)], _ widths: [Int]
    ) throws {
        let state: [(String, GGUFValue)] = [
            ("ssm.inner_size", .uint32(128)), ("ssm.state_size", .uint32(16)), ("ssm.conv_kernel", .uint32(4)),
            ("ssm.group_count", .uint32(2)),
        ]
        let shape = try #require(try Self.shape(architecture, state + entries))
        #expect(shape.layers.map(\.keyWidth) == widths && shape.layers.map(\.valueWidth) == widths)
        let recurrent = widths.contains(0) ? widths.count { $0 == 0 } : 4
        #expect(shape.recurrentBytes == UInt64(recurrent) * 4 * (16 * 128 + 3 * (128 + 2 * 2 * 16)))
    }

    /// Models without attention, with the sizes of one layer's state.
    @Test(
        arguments: [
            ("mamba", [("ssm.inner_size", 128), ("ssm.state_size", 16), ("ssm.conv_kernel", 4)], 16 * 128 + 3 * 128),
            ("rwkv7", [("wkv.head_size", 16)], 64 * (16 + 2)),
            ("rwkv6", [("wkv.head_size", 16), ("token_shift_count", 1)], 64 * (16 + 1)),
        ] as [(String, [(String, UInt32)], Int)])
    func modelsWithoutHeadsHaveAPlan(_ architecture: String, _ sizes: [(String, UInt32)], _ numbers: Int) throws {
        let entries =
            sizes.map { ($0.0, GGUFValue.uint32($0.1)) } + [
                ("attention.head_count", .uint32(0)), ("attention.head_count_kv", .uint32(0)),
                ("feed_forward_length", .uint32(0)),
            ]
        let shape = try #require(try Self.shape(architecture, entries))
        #expect(shape.layers.allSatisfy { $0.keyWidth == 0 && $0.valueWidth == 0 })
        #expect(shape.recurrentBytes == UInt64(4 * 4 * numbers) && shape.innerWidth > 0)
        #expect(try MemoryPlan(shape, on: MemoryPlan.Device(memory: 1 << 30)).contextLength == 2048)
    }

    /// Short convolutions (LFM2) and Kimi's delta attention, in the layers whose heads are 0.
    @Test(
        arguments: [
            ("lfm2", [("shortconv.l_cache", 3)], 64 * 2),
            ("kimi-linear", [("kda.head_dim", 8), ("ssm.conv_kernel", 4)], 3 * 3 * 4 * 8 + 8 * 8 * 4),
        ] as [(String, [(String, UInt32)], Int)])
    func layersWithoutHeadsKeepTheirState(
        _ architecture: String, _ sizes: [(String, UInt32)], _ numbers: Int
    ) throws {
        let entries = sizes.map { ($0.0, GGUFValue.uint32($0.1)) }
        let shape = try #require(
            try Self.shape(architecture, entries + [("attention.head_count_kv", Self.numbers([0, 2, 0, 0]))]))
        #expect(shape.layers.map(\.keyWidth) == [0, 32, 0, 0])
        #expect(shape.recurrentBytes == UInt64(3 * 4 * numbers))
    }

    /// A longer context needs no more memory, and with a cache none would fit here.
    @Test(arguments: [
        "bert", "eurobert", "gemma-embedding", "jina-bert-v2", "jina-bert-v3", "modern-bert", "neo-bert", "nomic-bert",
        "nomic-bert-moe",
    ])
    func encodersKeepNothing(_ architecture: String) throws {
        let shape = try #require(try Self.shape(architecture, [("context_length", .uint32(8192))]))
        #expect(shape.layers == Array(repeating: ModelShape.Layer(keyWidth: 0, valueWidth: 0), count: 4))
        #expect(shape.recurrentBytes == 0 && shape.headWidths == [16, 16])
        let plan = try MemoryPlan(shape, on: MemoryPlan.Device(memory: 258 << 20))
        #expect(plan.contextLength == 4096 && plan.cacheType == .f16 && plan.compromises.isEmpty)
        #expect(plan.estimate.cache == 0)
        // A call attends only to its own tokens.
        #expect(plan.estimate.compute == MemoryEstimate(shape, contextLength: 512).compute)
        #expect(MemoryEstimate(shape, contextLength: 256, batchSize: 256).compute < plan.estimate.compute)
    }

    @Test(arguments: ["x", "gemma3", "llama-embed", "t5", ""])
    func otherRequestsKeepTheirTokens(_ architecture: String) throws {
        let shape = try #require(try Self.shape(architecture, []))
        #expect(shape.layers == Array(repeating: ModelShape.Layer(keyWidth: 32, valueWidth: 32), count: 4))
        let estimate = MemoryEstimate(shape, contextLength: 2048)
        #expect(estimate.cache == 1 << 20 && estimate.compute == 512 * (4 * (4 * 64 + 3 * 128) + 2 * 2048))
    }

    @Test(arguments: [
        ("x.block_count", GGUFValue.uint64(.max)), ("x.block_count", .uint32(0)), ("x.block_count", .int32(-1)),
        ("x.embedding_length", .uint32(.max)), ("x.attention.head_count", .uint32(0)),
        ("x.attention.head_count", .string("4")), ("x.embedding_length", .float32(.nan)),
    ])
    func refusesImpossibleSizes(key: String, value: GGUFValue) throws {
        let entries = Self.base.filter { $0.0 != key } + [(key, value)]
        #expect(ModelShape(try Self.header(entries), fileBytes: 1) == nil)
    }

    /// The largest accepted sizes cause no overflow.
    @Test func survivesTheLargestSizes() throws {
        let shape = ModelShape(
            weightBytes: .max,
            layers: Array(repeating: ModelShape.Layer(keyWidth: 1 << 32, valueWidth: 1 << 32), count: 4096),
            width: 1 << 20, innerWidth: 1 << 34, vocabulary: 1 << 30, trainedContext: 1 << 30, recurrentBytes: .max,
            heads: .max)
        for type in CacheType.allCases {
            for flashAttention in FlashAttention.allCases {
                let estimate = MemoryEstimate(
                    shape, contextLength: .max, cacheType: type, batchSize: .max, sequences: 1 << 20, projector: .max,
                    flashAttention: flashAttention)
                #expect(estimate.total == .max)
            }
        }
        #expect(throws: LLMError.self) { try MemoryPlan(shape, on: MemoryPlan.Device(memory: .max)) }
    }

    @Test func readsAProjector() throws {
        let entries: [(String, GGUFValue)] = [
            ("general.architecture", .string("clip")), ("clip.vision.image_size", .uint32(448)),
            ("clip.vision.patch_size", .uint32(14)), ("clip.vision.embedding_length", .uint32(64)),
            ("clip.vision.feed_forward_length", .uint32(128)), ("clip.vision.attention.head_count", .uint32(4)),
        ]
        let shape = try #require(ProjectorShape(try Self.header(entries), fileBytes: 5000))
        #expect(shape.patches == 1024)
        #expect(shape.bytes == 5000 + 1024 * 4 * (4 * 64 + 2 * 128) + 1024 * 1024 * 16)
        #expect(ProjectorShape(try Self.header(Self.base), fileBytes: 1) == nil)
    }
}
