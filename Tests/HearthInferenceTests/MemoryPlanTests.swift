import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthInference

@Suite struct MemoryPlanTests {
    /// The shape of SmolLM2 135M from its header.
    static let small = ModelShape(
        weightBytes: 96_570_000, layers: Array(repeating: ModelShape.Layer(keyWidth: 192, valueWidth: 192), count: 30),
        width: 576, innerWidth: 1536, vocabulary: 49_152, trainedContext: 8192, heads: 9)

    /// The KV and compute buffers that llama-server of the pinned version logs for it, in MiB.
    @Test(arguments: [
        (8192, 512, CacheType.f16, 180.0, 21.51), (1024, 512, .f16, 22.5, 14.51), (2048, 512, .f16, 45, 15.51),
        (8192, 128, .f16, 180, 5.38), (8192, 256, .f16, 180, 10.76), (2048, 128, .f16, 45, 3.88),
        (8192, 512, .q8, 95.62, 20.42), (4096, 2048, .f16, 90, 70.05),
    ])
    func agreesWithTheSizesLlamaReports(context: Int, batch: Int, type: CacheType, cache: Double, compute: Double) {
        let estimate = MemoryEstimate(Self.small, contextLength: context, cacheType: type, batchSize: batch)
        let mebibytes = { (bytes: UInt64) in Double(bytes) / 1_048_576 }
        #expect(abs(mebibytes(estimate.cache) - cache) < 0.01)
        #expect(abs(mebibytes(estimate.compute) / (compute + 0.19) - 1) < 0.06)
    }

    /// The same without flash attention, with room for the scores of a call.
    @Test(arguments: [
        (8192, 512, 166.38), (1024, 512, 26.38), (2048, 512, 46.38), (8192, 128, 41.6), (1024, 128, 6.6),
        (8192, 2048, 665.53),
    ])
    func agreesWithTheSizesLlamaReportsWithoutFlashAttention(context: Int, batch: Int, compute: Double) {
        let on = MemoryEstimate(Self.small, contextLength: context, batchSize: batch)
        let off = MemoryEstimate(Self.small, contextLength: context, batchSize: batch, flashAttention: .off)
        #expect(off.cache == on.cache && off.weights == on.weights)
        // The copy of the scores in F16 is not logged.
        let copy = 2 * Double(context * batch * 9)
        #expect(abs((Double(off.compute) - copy) / 1_048_576 / (compute + 0.19) - 1) < 0.06)
    }

    /// `n_embd_v_gqa_max` of llama.cpp's parameters: values are stored in rows as wide as the widest layer's, also in a
    /// layer without values.
    @Test func withoutFlashAttentionAllLayersKeepWideValues() {
        var uneven = Self.small
        uneven.layers[1] = ModelShape.Layer(keyWidth: 64, valueWidth: 64)
        uneven.layers[2] = ModelShape.Layer(keyWidth: 0, valueWidth: 0)
        let on = MemoryEstimate(uneven, contextLength: 1024)
        #expect(MemoryEstimate(uneven, contextLength: 1024, flashAttention: .off).cache - on.cache == 1024 * 320 * 2)
        // Smaller types use flash attention in any case, and a recurrent layer keeps only its state.
        let small = MemoryEstimate(uneven, contextLength: 1024, cacheType: .q8)
        #expect(MemoryEstimate(uneven, contextLength: 1024, cacheType: .q8, flashAttention: .off) == small)
        uneven.recurrentBytes = 1 << 20
        let hybrid = MemoryEstimate(uneven, contextLength: 1024, flashAttention: .off)
        #expect(hybrid.cache - on.cache - 1 << 20 == 1024 * 128 * 2)
    }

    /// Smaller caches need flash attention. If it is switched off, the plan shortens the context or uses the configured
    /// cache type, and reports it.
    @Test func withoutFlashAttentionTheCacheIsNotMadeSmaller() throws {
        let device = MemoryPlan.Device(memory: 500 << 20)
        let plan = try MemoryPlan(Self.small, on: device, settings: MemoryPlan.Settings(flashAttention: .off))
        #expect(plan.contextLength == 2048 && plan.cacheType == .f16 && plan.compromises.count == 1)
        let settings = MemoryPlan.Settings(cacheType: .q8, flashAttention: .off)
        let asked = try MemoryPlan(Self.small, on: MemoryPlan.Device(memory: 16 << 30), settings: settings)
        #expect(asked.cacheType == .q8 && asked.contextLength == 8192)
        #expect(asked.compromises == ["flash attention is on, since the cache is stored as q8_0"])
        #expect(asked.flashAttention == .automatic && plan.flashAttention == .off)
        let error = #expect(throws: LLMError.self) {
            try MemoryPlan(
                Self.small, on: device, settings: MemoryPlan.Settings(contextLength: 8192, flashAttention: .off))
        }
        #expect(error?.context.remedy?.contains("flash attention") == true)
    }

    /// A processor decodes one conversation faster without flash attention; the plan switches it off if the scores fit.
    @Test func aProcessorAnswersFewConversationsWithoutFlashAttention() throws {
        let large = MemoryPlan.Device(memory: 16 << 30)
        func chosen(_ device: MemoryPlan.Device, _ settings: MemoryPlan.Settings = MemoryPlan.Settings()) throws
            -> MemoryPlan
        {
            try MemoryPlan(Self.small, on: device, settings: settings)
        }
        let plan = try chosen(large)
        #expect(plan.flashAttention == .off && plan.cacheType == .f16 && plan.compromises.isEmpty)
        #expect(plan.estimate == MemoryEstimate(Self.small, contextLength: 8192, flashAttention: .off))
        #expect(try chosen(large, MemoryPlan.Settings(sequences: 8, streams: 2)).flashAttention == .off)
        #expect(try chosen(large, MemoryPlan.Settings(sequences: 8, streams: 8)).flashAttention == .automatic)
        #expect(try chosen(large, MemoryPlan.Settings(flashAttention: .on)).flashAttention == .on)
        #expect(try chosen(large, MemoryPlan.Settings(cacheType: .q8)).flashAttention == .automatic)
        let card = MemoryPlan.Device(memory: 16 << 30, gpu: GPUMemory(free: 8 << 30))
        #expect(try chosen(card).flashAttention == .automatic)
        // If the scores do not fit, it stays on, with the same context.
        let scores = plan.estimate.total - MemoryEstimate(Self.small, contextLength: 8192).total
        let tight = MemoryPlan.Device(memory: 16 << 30, occupied: large.budget - plan.estimate.total + scores / 2)
        let kept = try chosen(tight)
        #expect(kept.flashAttention == .automatic && kept.contextLength == 8192 && kept.cacheType == .f16)
        #expect(kept.compromises.isEmpty)
        var encoder = Self.small
        encoder.layers = encoder.layers.map { _ in ModelShape.Layer(keyWidth: 0, valueWidth: 0) }
        #expect(try MemoryPlan(encoder, on: large).flashAttention == .automatic)
    }

    /// The whole default model: 92.10 MiB of weights, 180 MiB of cache, compute buffers of 21.51 and 0.19 MiB.
    @Test func predictsTheDefaultModel() throws {
        let size = try LocalFileSystem().status(at: TestModel.path, followLinks: true)?.size ?? 0
        let shape = try #require(ModelShape(try GGUFHeader(file: TestModel.path), fileBytes: size))
        let estimate = MemoryEstimate(shape, contextLength: 8192)
        let error = Double(estimate.total) / 1_048_576 / (92.10 + 180 + 21.51 + 0.19) - 1
        print("memory of the default model predicted with an error of \(error * 100) %")
        #expect(abs(error) < 0.01)
        #expect(shape.layers == Self.small.layers && shape.vocabulary == Self.small.vocabulary && shape.heads == 9)
        // The same before a download, from the first bytes of the file.
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

    /// A model that was trained for more gets up to 32,768 tokens, as long as it takes at most half of the memory.
    @Test(arguments: [
        (131_072, 24 << 10, 32_768), (20_000, 24 << 10, 20_000), (131_072, 8 << 10, 16_384), (131_072, 6 << 10, 16_384),
        (131_072, 5 << 10, 4096), (4096, 24 << 10, 4096),
    ])
    func aLongWindowIsChosenWhereMuchMemoryIsFree(trained: Int, mebibytes: UInt64, context: Int) throws {
        // 120 KiB of cache for each token.
        var shape = Self.small
        shape.layers = Array(repeating: ModelShape.Layer(keyWidth: 1024, valueWidth: 1024), count: 30)
        shape.trainedContext = trained
        let device = MemoryPlan.Device(memory: mebibytes << 20)
        let plan = try MemoryPlan(shape, on: device)
        #expect(plan.contextLength == context && plan.compromises.isEmpty)
        #expect(
            plan.hostBytes <= device.budget / (context > DeviceRule(deviceMemory: device.memory).contextLength ? 2 : 1))
    }

    /// While the memory shrinks, first the cache shrinks, then the context, and at last the plan is refused.
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

    @Test func keepsConfiguredValues() throws {
        let device = MemoryPlan.Device(memory: 500 << 20)
        // 8192 tokens in eight bits are 208 MiB with the rest; 244 are free.
        let plan = try MemoryPlan(Self.small, on: device, settings: MemoryPlan.Settings(contextLength: 8192))
        #expect(plan.contextLength == 8192 && plan.cacheType == .q8)
        #expect(throws: LLMError.self) {
            try MemoryPlan(Self.small, on: device, settings: MemoryPlan.Settings(contextLength: 8192, cacheType: .f16))
        }
        #expect(throws: LLMError.self) {
            try MemoryPlan(Self.small, on: device, settings: MemoryPlan.Settings(projector: 300 << 20))
        }
        // Heads whose width is no multiple of a block cannot be stored in fewer bits.
        var odd = Self.small
        odd.layers[3].keyWidth = 80
        #expect(try MemoryPlan(odd, on: device).cacheType == .f16)
        var heads = Self.small
        heads.headWidths = [64, 80]
        #expect(try MemoryPlan(heads, on: device).cacheType == .f16)
        let asked = try MemoryPlan(heads, on: device, settings: MemoryPlan.Settings(cacheType: .q4))
        #expect(asked.cacheType == .f16 && asked.compromises.contains { $0.contains("f16") })
        heads.headWidths = [64, 96]
        #expect(try MemoryPlan(heads, on: device, settings: MemoryPlan.Settings(cacheType: .q4)).cacheType == .q4)
    }

    /// The memory of another model is occupied, and the message says so.
    @Test func leavesOtherModelsTheirMemory() throws {
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

    /// The machine's memory holds the layers that are not on the card.
    @Test func layersOnACardNeedNotFitTheMachine() throws {
        func plan(_ free: UInt64, memory: UInt64 = 16, isShared: Bool = false, layers: Int? = nil) throws -> MemoryPlan
        {
            try MemoryPlan(
                Self.large,
                on: MemoryPlan.Device(memory: memory << 30, gpu: GPUMemory(free: free << 30, isShared: isShared)),
                settings: MemoryPlan.Settings(gpuLayers: layers))
        }
        #expect(throws: LLMError.self) { try plan(0) }
        let whole = try plan(24)
        #expect(whole.gpuLayers == 33 && whole.contextLength == 8192 && whole.compromises.isEmpty)
        // The token table and the compute buffers stay in the machine.
        #expect(whole.hostBytes == 64_000 * 4096 * 2 + whole.estimate.compute)
        let half = try plan(12)
        #expect(half.gpuLayers > 10 && half.gpuLayers < 25)
        #expect(half.hostBytes <= half.budget && half.estimate.total > half.budget)
        #expect(half.hostBytes > half.estimate.total - 12 << 30)
        // A GPU does not help if it shares the machine's memory, or if it may hold only a few layers.
        #expect(throws: LLMError.self) { try plan(24, isShared: true) }
        #expect(try plan(24, memory: 32, isShared: true).hostBytes == whole.estimate.total)
        #expect(try plan(24, memory: 32, layers: 2).gpuLayers == 2)
        let error = #expect(throws: LLMError.self) { try plan(24, layers: 2) }
        #expect(error?.message.contains("besides what the GPU holds") == true)
        #expect(throws: LLMError.self) { try plan(24, layers: 0) }
        #expect(throws: LLMError.self) { try plan(12, memory: 8) }
    }

    @Test func theMachinesPartIsAboveZeroAndAtMostTheWhole() {
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
