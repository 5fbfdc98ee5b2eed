#if Llama
import HearthBase
@testable import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

@Suite struct LoadPlanTests {
    private static let shape = ModelShape(
        weightBytes: 4 << 30,
        layers: Array(repeating: ModelShape.Layer(keyWidth: 1024, valueWidth: 1024), count: 32), width: 4096,
        innerWidth: 14_336, vocabulary: 128_000, trainedContext: 8192)

    private static func device(
        total: UInt64, free: UInt64, isGPU: Bool = true, isIntegrated: Bool = false
    ) -> LlamaFacts.Device {
        LlamaFacts.Device(
            name: "Made0", description: "made up", backEnd: "Made", isGPU: isGPU, isIntegrated: isIntegrated,
            memoryBytes: total << 20, freeBytes: free << 20)
    }

    private func layers(
        _ devices: [LlamaFacts.Device], asked: Int = -1, context: Int? = nil, projector: UInt64 = 0
    ) -> Int {
        let configuration = LlamaConfiguration(contextLength: context, deviceMemory: 64 << 30, gpuLayers: asked)
        return LoadPlan(shape: Self.shape, projector: projector, configuration: configuration).gpuLayers(on: devices)
    }

    @Test func thePlanCountsAllCellsOfThePool() {
        let small = LoadPlan(shape: Self.shape, configuration: LlamaConfiguration(contextLength: 1024))
        let large = LoadPlan(shape: Self.shape, configuration: LlamaConfiguration(contextLength: 1024, cells: 8192))
        #expect(large.estimate.cache == 8 * small.estimate.cache)
        let fewer = LoadPlan(shape: Self.shape, configuration: LlamaConfiguration(contextLength: 1024, cells: 8))
        #expect(fewer.estimate == small.estimate, "one conversation has the whole window")
    }

    @Test func withoutAKnownDeviceMemoryLlamaDecides() {
        #expect(layers([]) == -1)
        #expect(layers([Self.device(total: 64 << 10, free: 64 << 10, isGPU: false)]) == -1)
        #expect(layers([Self.device(total: 0, free: 0)]) == -1)
        #expect(layers([Self.device(total: 8 << 10, free: 8 << 10), Self.device(total: 0, free: 0)]) == -1)
    }

    @Test func asManyLayersAsItsFreeMemoryHolds() {
        #expect(layers([Self.device(total: 24 << 10, free: 24 << 10)]) == 33)
        #expect(layers([Self.device(total: 24 << 10, free: 100)]) == 0)
        let some = layers([Self.device(total: 24 << 10, free: 3 << 10)])
        #expect(some > 5 && some < 30)
        // A longer context or a projector on the GPU leaves less room for layers.
        #expect(layers([Self.device(total: 24 << 10, free: 3 << 10)], context: 1024) > some)
        #expect(layers([Self.device(total: 24 << 10, free: 3 << 10)], projector: 1 << 30) < some)
    }

    @Test func severalDevicesHoldMoreAndAnIntegratedOneIsTheLast() {
        let card = Self.device(total: 4 << 10, free: 3 << 10)
        let shared = Self.device(total: 32 << 10, free: 32 << 10, isIntegrated: true)
        #expect(layers([card, card]) > layers([card]))
        #expect(layers([shared, card]) == layers([card]))
        #expect(layers([shared]) == 33)
    }

    @Test(arguments: [0, 7, 99])
    func aNumberAskedForStays(count: Int) {
        #expect(layers([Self.device(total: 24 << 10, free: 100)], asked: count) == count)
    }

    /// llama.cpp would refuse such a cache, but only after the present model is unloaded.
    @Test(arguments: [nil, 2048])
    func headsThatEightBitsDoNotFitAreCachedInSixteen(context: Int?) throws {
        var shape = Self.shape
        for (width, type) in [(80, CacheType.f16), (128, .q8)] {
            shape.headWidths = [width, width]
            var plan = LoadPlan(
                shape: shape,
                configuration: LlamaConfiguration(contextLength: context, deviceMemory: 16 << 30).with(.q8))
            try plan.fit()
            #expect(plan.configuration.cacheType == type)
        }
    }

    /// llama.cpp uses flash attention with a smaller cache type in any case, so the plan counts it.
    @Test(arguments: [true, false])
    func aSmallerCacheHasFlashAttention(ignoresMemory: Bool) throws {
        var shape = Self.shape
        (shape.headWidths, shape.heads) = ([128, 128], 32)
        var estimates: [MemoryEstimate] = []
        for flashAttention in FlashAttention.allCases {
            var plan = LoadPlan(
                shape: shape,
                configuration: LlamaConfiguration(deviceMemory: 16 << 30, ignoresMemory: ignoresMemory)
                    .with(.q8, flashAttention))
            try plan.fit()
            #expect(plan.configuration.cacheType == .q8)
            estimates.append(plan.estimate)
        }
        #expect(Set(estimates).count == 1)
    }

    @Test func theDevicesMemoryIsNeverMoreThanTheControlGroupAllows() {
        #expect(LlamaConfiguration().deviceMemory == SystemMemory.usable)
        #expect(SystemMemory.usable <= SystemMemory.limit ?? .max)
        #expect(SystemMemory.usable > 0)
    }

    @Test func theContextFollowsTheMemory() throws {
        var plan = LoadPlan(shape: Self.shape, configuration: LlamaConfiguration(deviceMemory: 16 << 30))
        try plan.fit()
        #expect(plan.configuration.contextLength == 8192 && plan.configuration.historyLimit == 50)
        plan = LoadPlan(shape: Self.shape, configuration: LlamaConfiguration(deviceMemory: 5 << 30))
        try plan.fit()
        #expect(try #require(plan.configuration.contextLength) < 4096)
        #expect(plan.configuration.historyLimit == 20)
        // A configured context stays, with as much history as fits.
        plan = LoadPlan(
            shape: Self.shape, configuration: LlamaConfiguration(contextLength: 512, deviceMemory: 16 << 30))
        try plan.fit()
        #expect(plan.configuration.contextLength == 512 && plan.configuration.historyLimit == nil)
    }

    @Test func theMemoryOfAnotherModelIsOccupied() throws {
        var first = LoadPlan(shape: Self.shape, configuration: LlamaConfiguration(deviceMemory: 23 << 29))
        try first.fit()
        #expect(first.configuration.contextLength == 8192)
        // The memory of a loaded model is its planned memory.
        #expect(first.estimate.weights == 4 << 30 && first.estimate.cache == 1 << 30)
        var second = LoadPlan(shape: Self.shape, configuration: LlamaConfiguration(deviceMemory: 23 << 29))
        try second.fit(beside: first.estimate.total)
        #expect(second.configuration.contextLength == 4096)
        second = LoadPlan(shape: Self.shape, configuration: LlamaConfiguration(deviceMemory: 23 << 29))
        #expect(throws: LLMError.self) { try second.fit(beside: 8 << 30) }
    }

    /// Layers on a card need no room in the machine's memory, for this model and for those beside it.
    @Test func aCardMakesAModelFit() throws {
        let card = GPUMemory(free: 24 << 30)
        var plan = LoadPlan(shape: Self.shape, configuration: LlamaConfiguration(deviceMemory: 4 << 30))
        #expect(throws: LLMError.self) { try plan.fit(gpu: GPUMemory(free: 24 << 30, isShared: true)) }
        try plan.fit(gpu: card)
        #expect(plan.configuration.contextLength == 4096)
        plan.place(on: [Self.device(total: 24 << 10, free: 24 << 10)])
        #expect(plan.configuration.gpuLayers == 33)
        #expect(plan.hostBytes(on: card) < 2 << 30 && plan.hostBytes(on: nil) == plan.estimate.total)
        // A configuration without GPU layers places none.
        var other = LoadPlan(shape: Self.shape, configuration: LlamaConfiguration(deviceMemory: 4 << 30, gpuLayers: 0))
        #expect(throws: LLMError.self) { try other.fit(gpu: card) }
    }

    /// Before the layers are placed, the memory counts as after their placement.
    @Test(arguments: [0, 100, 3 << 10, 24 << 10] as [UInt64], [nil, 7] as [Int?])
    func layersForACardAreNotCountedForTheMachine(free: UInt64, asked: Int?) throws {
        let card = GPUMemory(free: free << 20)
        var plan = LoadPlan(
            shape: Self.shape, configuration: LlamaConfiguration(deviceMemory: 16 << 30, gpuLayers: asked ?? -1))
        try plan.fit(gpu: card)
        #expect(plan.hostBytes(expecting: .none) == plan.estimate.total)
        #expect(plan.hostBytes(expecting: GPUMemory(free: free << 20, isShared: true)) == plan.estimate.total)
        let expected = plan.hostBytes(expecting: card)
        #expect((expected < plan.estimate.total) == (free > 100))
        guard asked == nil || free > 100 else { return }
        plan.place(on: [Self.device(total: 24 << 10, free: free)])
        #expect(expected == plan.hostBytes(on: card))
    }

    @Test func aModelThatDoesNotFitIsRefusedUnlessMemoryIsIgnored() throws {
        var configuration = LlamaConfiguration(deviceMemory: 4 << 30)
        var plan = LoadPlan(shape: Self.shape, configuration: configuration)
        let error = #expect(throws: LLMError.self) { try plan.fit() }
        #expect(error?.code == .doesNotFit)
        configuration.ignoresMemory = true
        plan = LoadPlan(shape: Self.shape, configuration: configuration)
        try plan.fit()
        #expect(plan.configuration == configuration)
    }
}

extension RealModel {
    @Suite struct SmallerCache {
        /// llama.cpp makes no quantized cache without flash attention, and a configuration that ignores memory has
        /// no plan to set it.
        @Test func usesFlashAttentionInAnyCase() async throws {
            let engine = try await LlamaActor.load(
                TestModel.path,
                configuration: LlamaConfiguration(
                    contextLength: 256, threadCount: 1, ignoresMemory: true
                ).with(.q8, .off))
            let question = [ChatMessage(.user, "Answer in one sentence: what is the capital of France?")]
            let answer = try await Answer(engine.generate(question, options: .greedy()))
            #expect(answer.text.contains("Paris"))
        }
    }
}
#endif
