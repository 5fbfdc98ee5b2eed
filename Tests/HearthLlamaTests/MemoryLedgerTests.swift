#if Llama
import HearthBase
@testable import HearthInference
@testable import HearthLlama
import Testing

@Suite struct MemoryLedgerTests {
    private static let shape = ModelShape(
        weightBytes: 90 << 20,
        layers: Array(repeating: ModelShape.Layer(keyWidth: 192, valueWidth: 192), count: 30), width: 576,
        innerWidth: 1536, vocabulary: 49_152, trainedContext: 8192)

    private func entry(
        _ mebibytes: UInt64, of memory: UInt64 = 1024, states: UInt64? = nil, pictures: UInt64? = nil
    ) -> MemoryLedger.Entry {
        MemoryLedger.Entry(
            deviceMemory: memory << 20, hostBytes: mebibytes << 20, gpuBytes: 0,
            kept: KeptBytes(states: states.map { $0 << 20 }, pictures: pictures.map { $0 << 20 }))
    }

    private func kept(_ states: UInt64?, _ pictures: UInt64?) -> KeptBytes {
        KeptBytes(states: states.map { $0 << 20 }, pictures: pictures.map { $0 << 20 })
    }

    private func plan(_ configuration: LlamaConfiguration = LlamaConfiguration(deviceMemory: 1 << 30)) -> LoadPlan {
        LoadPlan(shape: Self.shape, configuration: configuration)
    }

    /// 768 of 1024 MiB are for models.
    @Test func keptDataIsLimitedToTheFreeMemory() {
        var ledger = MemoryLedger()
        #expect(ledger.kept(for: .text) == kept(nil, nil))
        ledger.entries[.text] = entry(500, states: 256)
        #expect(ledger.kept(for: .text) == kept(256, nil))
        ledger.entries[.text] = entry(600, states: 256)
        #expect(ledger.kept(for: .text) == kept(168, nil))
        // Each kind gets at most half, and never more than without the limit.
        ledger.entries[.text] = entry(600, states: 256, pictures: 20)
        #expect(ledger.kept(for: .text) == kept(84, 20))
        for used: UInt64 in [768, 900, 4000] {
            ledger.entries[.text] = entry(used, states: 256, pictures: 256)
            #expect(ledger.kept(for: .text) == kept(0, 0))
        }
    }

    @Test func modelsSideBySideShareTheFreeMemory() {
        var ledger = MemoryLedger(entries: [.text: entry(300, states: 256)])
        ledger.entries[.vision] = entry(300, states: 50, pictures: 256)
        #expect(ledger.kept(for: .text) == kept(56, nil))
        #expect(ledger.kept(for: .vision) == kept(50, 56))
        ledger.entries[.vision] = nil
        #expect(ledger.kept(for: .text) == kept(256, nil))
        // The memory of a model being loaded is reserved.
        ledger.arrival = (400 << 20, [])
        #expect(ledger.kept(for: .text) == kept(68, nil))
    }

    @Test func withoutAPlanOrWithIgnoredMemoryNothingIsLimited() {
        var entry = entry(4000, states: 256, pictures: 100)
        entry.isBounded = false
        #expect(MemoryLedger(entries: [.text: entry]).kept(for: .text) == kept(256, 100))
    }

    @Test func aContextForVectorsCountsLikeTheModel() throws {
        var ledger = MemoryLedger(entries: [.text: entry(300, states: 256), .vision: entry(100)])
        #expect(ledger.hostBytes() == 400 << 20 && ledger.hostBytes(without: [.text]) == 100 << 20)
        let unknown = try ledger.planVectors(EmbeddingWindow(length: 2048), of: .text)
        #expect(unknown == nil, "its sizes are not known")
        ledger.entries[.text]?.plan = plan()
        let made = try #require(try ledger.planVectors(EmbeddingWindow(length: 2048), of: .text))
        #expect(made.window.length == 2048)
        ledger.entries[.text]?.vectors = made
        #expect(ledger.hostBytes() == 400 << 20 + made.hostBytes)
        #expect(ledger.hostBytes(without: [.vision]) == 300 << 20 + made.hostBytes)
        #expect(ledger.hostBytes(without: [.text]) == 100 << 20)
        #expect(ledger.kept(for: .text).states == 256 << 20)
        ledger.entries[.vision] = entry(300)
        #expect(ledger.kept(for: .text).states == 168 << 20 - made.hostBytes)
    }

    @Test func aContextForVectorsUsesTheMemoryThatBothModelsLeave() throws {
        var ledger = MemoryLedger(entries: [.text: entry(300), .vision: entry(400)])
        ledger.entries[.text]?.plan = plan()
        let wanted = EmbeddingWindow(length: 2048)
        #expect(try ledger.planVectors(wanted, of: .text)?.window.length == 512)
        ledger.entries[.vision] = entry(455)
        let error = #expect(throws: LLMError.self) { _ = try ledger.planVectors(wanted, of: .text) }
        #expect(error?.code == .doesNotFit && error?.message.contains("13 MiB of the device's 1024 MiB") == true)
        // If the configuration ignores memory, the plan stays unchanged.
        ledger.entries[.text]?.plan = plan(LlamaConfiguration(deviceMemory: 1 << 30, ignoresMemory: true))
        #expect(try ledger.planVectors(wanted, of: .text)?.window == wanted)
    }

    /// The replaced model is still in memory, and the memory of the new one is already reserved.
    @Test func theMemoryOfAModelBeingLoadedIsReserved() {
        var ledger = MemoryLedger(entries: [.text: entry(300), .vision: entry(200)])
        ledger.arrival = (350 << 20, [.vision])
        #expect(ledger.room(for: .text).occupied == 650 << 20)
        ledger.arrival?.hostBytes = 100 << 20
        #expect(ledger.room(for: .text).occupied == 500 << 20)
        // The replaced model's memory, of the same role, is freed.
        ledger.arrival = (600 << 20, [.text])
        #expect(ledger.room(for: .text).occupied == 500 << 20)
    }

    /// The layers are not placed before the replaced model has answered all its requests.
    @Test func aModelBeingLoadedToACardReservesOnlyItsPartOfTheMachine() throws {
        var shape = Self.shape
        shape.weightBytes = 400 << 20
        var order = LoadOrder(
            path: Path("model.gguf"), projector: nil, role: .vision, configuration: LlamaConfiguration(),
            plan: LoadPlan(shape: shape, configuration: LlamaConfiguration(contextLength: 1024, deviceMemory: 1 << 30)),
            supportsVision: false, signal: StopSignal())
        let card = GPUMemory(free: 8 << 30)
        try order.plan?.fit(beside: 300 << 20, gpu: card)
        var ledger = MemoryLedger(entries: [.text: entry(300), .vision: entry(100)])
        ledger.entries[.text]?.plan = plan()
        ledger.arrival = (order.plan?.hostBytes(expecting: card) ?? 0, [.vision])
        let wanted = EmbeddingWindow(length: 2048)
        #expect(try ledger.planVectors(wanted, of: .text)?.window == wanted)
        #expect(try #require(ledger.arrival).hostBytes < 100 << 20)
        // Without a card all its memory is in the machine.
        ledger.arrival = (order.plan?.hostBytes(expecting: .none) ?? 0, [.vision])
        #expect(try ledger.planVectors(wanted, of: .text)?.window.length == 256)
    }

    @Test func unloadingModelsFreesACardsMemory() throws {
        var model = entry(100)
        model.gpuBytes = 50 << 20
        var configuration = LlamaConfiguration(deviceMemory: 1 << 30)
        configuration.gpuLayers = 31
        model.plan = plan(configuration)
        model.gpu = GPUMemory(free: 1 << 30)
        var ledger = MemoryLedger(entries: [.text: model, .vision: model])
        #expect(ledger.gpuBytes(of: [.text]) == 50 << 20)
        let made = try #require(try ledger.planVectors(EmbeddingWindow(length: 2048), of: .text))
        #expect(made.hostBytes < made.estimate.total)
        ledger.entries[.text]?.vectors = made
        #expect(ledger.gpuBytes(of: [.text]) == 50 << 20 + made.estimate.total - made.hostBytes)
        #expect(ledger.gpuBytes(of: [.vision, .text]) == 100 << 20 + made.estimate.total - made.hostBytes)
    }

    /// The memory of the present context is free for the next one.
    @Test func aContextForVectorsIsPlannedInPlaceOfThePresentOne() throws {
        var ledger = MemoryLedger(entries: [.text: entry(300), .vision: entry(400)])
        ledger.entries[.text]?.plan = plan()
        let wanted = EmbeddingWindow(length: 2048)
        let short = try #require(try ledger.planVectors(wanted, of: .text))
        #expect(short.window.length == 512 && ledger.entries[.text]?.vectors == short)
        #expect(ledger.hostBytes() == 700 << 20 + short.hostBytes)
        #expect(try ledger.planVectors(wanted, of: .text) == short)
        let whole = EmbeddingPlan(Self.shape, window: wanted)
        ledger.entries[.vision]?.hostBytes = 468 << 20 - whole.hostBytes
        #expect(try ledger.planVectors(wanted, of: .text) == whole)
        ledger.entries[.vision] = entry(468)
        #expect(throws: LLMError.self) { try ledger.planVectors(wanted, of: .text) }
        #expect(ledger.entries[.text]?.vectors == nil && ledger.hostBytes() == 768 << 20)
    }

    @Test func untrustedSizesDoNotOverflow() {
        var huge = entry(0, states: 256)
        huge.hostBytes = .max
        huge.gpuBytes = .max
        let ledger = MemoryLedger(
            entries: [.text: huge, .vision: huge], arrival: (.max, []))
        #expect(ledger.hostBytes() >= 1 << 61 && ledger.gpuBytes(of: [.text, .vision]) >= 1 << 61)
        #expect(ledger.room(for: .text).budget == 0 && ledger.kept(for: .text) == kept(0, nil))
    }
}
#endif
