#if Llama
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import Hearth
@testable import HearthLlama

/// What is planned before anybody loads is what loading does.
@Suite struct GPUPlanTests {
    private static func device(free: UInt64, isIntegrated: Bool = false, isGPU: Bool = true) -> LlamaFacts.Device {
        LlamaFacts.Device(
            name: "Made0", description: "made up", backEnd: "Made", isGPU: isGPU, isIntegrated: isIntegrated,
            memoryBytes: 1 << 30, freeBytes: free << 20)
    }

    @Test(arguments: [
        [device(free: 1000)], [device(free: 150)], [device(free: 20)], [device(free: 60), device(free: 90)],
        [device(free: 900, isIntegrated: true), device(free: 100)], [device(free: 120, isIntegrated: true)],
    ])
    func asManyLayersAsTheLoadPlaces(devices: [LlamaFacts.Device]) throws {
        let gpu = try #require(LlamaFacts.gpuMemory(of: devices))
        for memory in [UInt64(16) << 30, 500 << 20] {
            let shown = try #require(
                try MemoryPlanning.plan(file: TestModel.path, deviceMemory: memory, gpu: gpu))
            // As an engine is opened.
            var configuration = LlamaConfiguration(contextLength: shown.contextLength, deviceMemory: memory)
            configuration.cacheType = shown.cacheType
            let load = try #require(LoadPlan(TestModel.path, projector: nil, configuration: configuration))
            #expect(shown.gpuLayers == load.gpuLayers(on: devices))
            #expect(shown.estimate == load.estimate)
        }
    }

    @Test func whereThereIsNoneOrOneDoesNotSayNothingIsPlanned() {
        let silent = LlamaFacts.Device(
            name: "Made1", description: "made up", backEnd: "Made", isGPU: true, isIntegrated: false,
            memoryBytes: 0, freeBytes: 0)
        #expect(LlamaFacts.gpuMemory(of: []) == nil)
        #expect(LlamaFacts.gpuMemory(of: [Self.device(free: 9, isGPU: false)]) == nil)
        #expect(LlamaFacts.gpuMemory(of: [Self.device(free: 9), silent]) == nil)
    }

    /// Only cards have memory of their own, and not every back end says what is one.
    @Test(arguments: [
        ("CUDA", false, false), ("Vulkan", false, false), ("Vulkan", true, true), ("MTL", false, true),
        ("OpenCL", false, true),
    ])
    func whetherTheMemoryIsTheMachinesOwn(backEnd: String, isIntegrated: Bool, isShared: Bool) {
        let device = LlamaFacts.Device(
            name: "Made0", description: "made up", backEnd: backEnd, isGPU: true, isIntegrated: isIntegrated,
            memoryBytes: 1 << 30, freeBytes: 1 << 29)
        #expect(LlamaFacts.gpuMemory(of: [device]) == GPUMemory(free: 1 << 29, isShared: isShared))
    }

    @Test func onlyAGPUsOwnMemoryIsTold() {
        #expect(EngineOpening.describe(Self.device(free: 9, isGPU: false)) == "Made0: made up (Made)")
        #expect(
            EngineOpening.describe(Self.device(free: 512)) == "Made0: made up (Made), 536.9 MB of 1.1 GB free")
    }
}
#endif
