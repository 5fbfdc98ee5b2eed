import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@Suite struct DeviceRuleTests {
    @Test(arguments: [
        (0, 4096, 20), (4, 4096, 20), (6 * 1024 - 1, 4096, 20), (6 * 1024, 8192, 50), (16 * 1024, 8192, 50),
    ])
    func countsWholeGibibytes(mebibytes: Int, context: Int, history: Int) {
        let rule = DeviceRule(deviceMemory: UInt64(mebibytes) << 20)
        #expect(rule.contextLength == context)
        #expect(rule.historyLimit == history)
        #expect(rule.isSmall == (context == 4096))
    }
}

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
                ("x.attention.value_length", .uint32(16)), ("x.attention.sliding_window", .uint32(512)),
                ("x.attention.sliding_window_pattern", .uint32(2)), ("x.ssm.inner_size", .uint32(128)),
                ("x.ssm.state_size", .uint32(16)), ("x.ssm.conv_kernel", .uint32(4)),
            ]
        let shape = try #require(ModelShape(try Self.header(entries), fileBytes: 1))
        #expect(shape.layers[0] == ModelShape.Layer(keyWidth: 64, valueWidth: 32, window: 512))
        #expect(shape.layers[1] == ModelShape.Layer(keyWidth: 0, valueWidth: 0))
        // Two layers without attention: a state of 16 x 128 and three columns of 128 each, in F32.
        #expect(shape.recurrentBytes == 2 * 4 * (16 * 128 + 3 * 128))
    }

    /// Made of a header like `base`, of the named architecture.
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

    /// Models without any attention, by the sizes of one layer's state.
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

    /// A longer context costs them nothing, and with a cache none would fit here.
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
        // A call looks at no more than its own tokens.
        #expect(plan.estimate.compute == MemoryEstimate(shape, contextLength: 512).compute)
        #expect(MemoryEstimate(shape, contextLength: 256, batchSize: 256).compute < plan.estimate.compute)
    }

    @Test(arguments: ["x", "gemma3", "llama-embed", "t5", ""])
    func othersKeepWhatTheyCompute(_ architecture: String) throws {
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

    /// The largest sizes that are let through do not overflow anything.
    @Test func survivesTheLargestSizes() throws {
        let shape = ModelShape(
            weightBytes: .max,
            layers: Array(repeating: ModelShape.Layer(keyWidth: 1 << 32, valueWidth: 1 << 32), count: 4096),
            width: 1 << 20, innerWidth: 1 << 34, vocabulary: 1 << 30, trainedContext: 1 << 30, recurrentBytes: .max)
        for type in CacheType.allCases {
            let estimate = MemoryEstimate(
                shape, contextLength: .max, cacheType: type, batchSize: .max, sequences: 1 << 20, projector: .max)
            #expect(estimate.total == .max)
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

@Suite struct MemoryPlanTests {
    /// SmolLM2 135M, by its header.
    static let small = ModelShape(
        weightBytes: 96_570_000, layers: Array(repeating: ModelShape.Layer(keyWidth: 192, valueWidth: 192), count: 30),
        width: 576, innerWidth: 1536, vocabulary: 49_152, trainedContext: 8192)

    /// What llama-server of the pinned version logs for it: KV and compute buffer in MiB.
    @Test(arguments: [
        (8192, 512, CacheType.f16, 180.0, 21.51), (1024, 512, .f16, 22.5, 14.51), (2048, 512, .f16, 45, 15.51),
        (8192, 128, .f16, 180, 5.38), (8192, 256, .f16, 180, 10.76), (2048, 128, .f16, 45, 3.88),
        (8192, 512, .q8, 95.62, 20.42), (4096, 2048, .f16, 90, 70.05),
    ])
    func agreesWithWhatLlamaReports(context: Int, batch: Int, type: CacheType, cache: Double, compute: Double) {
        let estimate = MemoryEstimate(Self.small, contextLength: context, cacheType: type, batchSize: batch)
        let mebibytes = { (bytes: UInt64) in Double(bytes) / 1_048_576 }
        #expect(abs(mebibytes(estimate.cache) - cache) < 0.01)
        #expect(abs(mebibytes(estimate.compute) / (compute + 0.19) - 1) < 0.06)
    }

    /// The default model as a whole: 92.10 MiB weights, 180 MiB cache, 21.51 and 0.19 MiB to work with.
    @Test func predictsTheDefaultModel() throws {
        let size = try LocalFileSystem().status(at: TestModel.path, followLinks: true)?.size ?? 0
        let shape = try #require(ModelShape(try GGUFHeader(file: TestModel.path), fileBytes: size))
        let estimate = MemoryEstimate(shape, contextLength: 8192)
        let error = Double(estimate.total) / 1_048_576 / (92.10 + 180 + 21.51 + 0.19) - 1
        print("memory of the default model predicted with an error of \(error * 100) %")
        #expect(abs(error) < 0.01)
        #expect(shape.layers == Self.small.layers && shape.vocabulary == Self.small.vocabulary)
        // The same before a download, from the front of the file.
        let front = try Data(contentsOf: TestModel.path.url).prefix(4 << 20)
        let early = try #require(ModelShape(try GGUFHeader(data: front, extent: .metadata), fileBytes: size))
        let other = Double(MemoryEstimate(early, contextLength: 8192).total) / Double(estimate.total)
        #expect(abs(other - 1) < 0.02)
    }

    @Test func followsTheRuleWhereItFits() throws {
        let large = try MemoryPlan(Self.small, on: MemoryPlan.Device(memory: 16 << 30))
        #expect(large.contextLength == 8192 && large.historyLimit == 50 && large.cacheType == .f16)
        #expect(large.compromises.isEmpty && large.gpuLayers == 0)
        let less = try MemoryPlan(Self.small, on: MemoryPlan.Device(memory: 5 << 30))
        #expect(less.contextLength == 4096 && less.historyLimit == 20)
        var short = Self.small
        short.trainedContext = 2048
        #expect(try MemoryPlan(short, on: MemoryPlan.Device(memory: 16 << 30)).contextLength == 2048)
    }

    /// From plenty to nothing: first the cache shrinks, then the context, at last it is refused.
    @Test func givesUpAsLittleAsNeeded() throws {
        var seen: [String] = []
        for mebibytes in stride(from: 600, through: 300, by: -1) {
            let memory = UInt64(mebibytes) << 20
            let text: String
            do {
                let plan = try MemoryPlan(Self.small, on: MemoryPlan.Device(memory: memory))
                #expect(plan.estimate.total <= plan.budget)
                text = "\(plan.contextLength) \(plan.cacheType.rawValue)"
                #expect(
                    plan.compromises.count == (plan.contextLength < 4096 ? 1 : 0) + (plan.cacheType == .f16 ? 0 : 1))
            } catch {
                #expect(error.code == .doesNotFit)
                #expect(error.context.found?.contains("bytes") == true && error.message.contains("MiB"))
                text = "refused"
            }
            if seen.last != text { seen.append(text) }
        }
        #expect(
            seen == ["4096 f16", "4096 q8_0", "2048 f16", "2048 q8_0", "1024 f16", "1024 q8_0", "refused"])
    }

    @Test func keepsToWhatIsAskedFor() throws {
        let device = MemoryPlan.Device(memory: 500 << 20)
        // 8192 tokens in eight bits are 208 MiB with the rest; 244 are free.
        let plan = try MemoryPlan(Self.small, on: device, wishes: MemoryPlan.Wishes(contextLength: 8192))
        #expect(plan.contextLength == 8192 && plan.cacheType == .q8)
        #expect(throws: LLMError.self) {
            try MemoryPlan(Self.small, on: device, wishes: MemoryPlan.Wishes(contextLength: 8192, cacheType: .f16))
        }
        #expect(throws: LLMError.self) {
            try MemoryPlan(Self.small, on: device, wishes: MemoryPlan.Wishes(projector: 300 << 20))
        }
        // Heads that are no whole blocks cannot be stored in fewer bits.
        var odd = Self.small
        odd.layers[3].keyWidth = 80
        #expect(try MemoryPlan(odd, on: device).cacheType == .f16)
        var heads = Self.small
        heads.headWidths = [64, 80]
        #expect(try MemoryPlan(heads, on: device).cacheType == .f16)
        let asked = try MemoryPlan(heads, on: device, wishes: MemoryPlan.Wishes(cacheType: .q4))
        #expect(asked.cacheType == .f16 && asked.compromises.contains { $0.contains("f16") })
        heads.headWidths = [64, 96]
        #expect(try MemoryPlan(heads, on: device, wishes: MemoryPlan.Wishes(cacheType: .q4)).cacheType == .q4)
    }

    /// What another model takes is not there, and the message says so.
    @Test func leavesOthersWhatTheyTake() throws {
        let alone = MemoryPlan.Device(memory: 700 << 20)
        var device = alone
        device.occupied = 260 << 20
        #expect(device.budget == alone.budget - 260 << 20)
        #expect(try MemoryPlan(Self.small, on: alone).contextLength == 4096)
        let beside = try MemoryPlan(Self.small, on: device)
        #expect(beside.estimate.total <= device.budget && beside.compromises.count == 1)
        device.occupied = 400 << 20
        let error = #expect(throws: LLMError.self) { try MemoryPlan(Self.small, on: device) }
        #expect(error?.message.contains("44 MiB of the device's 700 MiB are free for it beside the 400 MiB of") == true)
        #expect(error?.context.expected == "at most \(44 << 20) bytes")
        #expect(error?.context.remedy?.hasPrefix("Unload the other model") == true)
        device.occupied = .max
        #expect(device.budget == 0)
    }

    @Test func placesLayersOnTheGPU() throws {
        func layers(_ mebibytes: UInt64) throws -> Int {
            try MemoryPlan(Self.small, on: MemoryPlan.Device(memory: 16 << 30, gpu: GPUMemory(free: mebibytes << 20)))
                .gpuLayers
        }
        #expect(try layers(0) == 0)
        #expect(try layers(10) == 0)
        #expect(try layers(24 << 10) == 31)
        let some = try layers(150)
        #expect(some > 5 && some < 25)
        let plan = try MemoryPlan(Self.small, on: MemoryPlan.Device(memory: 16 << 30, gpu: GPUMemory(free: 24 << 30)))
        #expect(plan.layers == 31 && plan.gpuMemory == 24 << 30)
    }

    /// A model of 20 GiB, 64 MiB of cache for each 1024 tokens.
    private static let large = ModelShape(
        weightBytes: 20 << 30, layers: Array(repeating: ModelShape.Layer(keyWidth: 512, valueWidth: 512), count: 32),
        width: 4096, innerWidth: 16_384, vocabulary: 64_000, trainedContext: 8192)

    /// The machine's memory holds what is not on the card.
    @Test func whatLiesOnACardNeedNotFitTheMachine() throws {
        func plan(_ free: UInt64, memory: UInt64 = 16, isShared: Bool = false, layers: Int? = nil) throws -> MemoryPlan
        {
            try MemoryPlan(
                Self.large,
                on: MemoryPlan.Device(memory: memory << 30, gpu: GPUMemory(free: free << 30, isShared: isShared)),
                wishes: MemoryPlan.Wishes(gpuLayers: layers))
        }
        #expect(throws: LLMError.self) { try plan(0) }
        let whole = try plan(24)
        #expect(whole.gpuLayers == 33 && whole.contextLength == 8192 && whole.compromises.isEmpty)
        // The table of the tokens stays, and what a call needs.
        #expect(whole.hostBytes == 64_000 * 4096 * 2 + whole.estimate.compute)
        let half = try plan(12)
        #expect(half.gpuLayers > 10 && half.gpuLayers < 25)
        #expect(half.hostBytes <= half.budget && half.estimate.total > half.budget)
        #expect(half.hostBytes > half.estimate.total - 12 << 30)
        // Nothing is won where both are the same memory, or where only a few layers may go there.
        #expect(throws: LLMError.self) { try plan(24, isShared: true) }
        #expect(try plan(24, memory: 32, isShared: true).hostBytes == whole.estimate.total)
        #expect(try plan(24, memory: 32, layers: 2).gpuLayers == 2)
        let error = #expect(throws: LLMError.self) { try plan(24, layers: 2) }
        #expect(error?.message.contains("besides what the GPU holds") == true)
        #expect(throws: LLMError.self) { try plan(24, layers: 0) }
        #expect(throws: LLMError.self) { try plan(12, memory: 8) }
    }

    @Test func theMachinesPartIsNeverMoreThanAllAndNeverNothing() {
        for shape in [Self.small, Self.large] {
            let estimate = MemoryEstimate(shape, contextLength: 4096, projector: 1 << 30)
            var last = UInt64.max
            for layers in -1...(shape.layers.count + 3) {
                let bytes = estimate.hostBytes(of: shape, gpuLayers: layers)
                #expect(bytes <= last && bytes <= estimate.total && bytes >= estimate.compute)
                last = bytes
            }
        }
    }
}
