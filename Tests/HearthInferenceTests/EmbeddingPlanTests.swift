import HearthBase
import Testing

@testable import HearthInference

@Suite struct EmbeddingPlanTests {
    private static let small = MemoryPlanTests.small

    private func mebibytes(_ bytes: UInt64) -> Double { Double(bytes) / 1_048_576 }

    /// The memory of a context of the pinned version with the default model (`llama_get_memory_breakdown` after a whole
    /// call), in MiB: its cache and its compute buffers. It also stores a vector and the logits of all tokens for each
    /// token of a call.
    @Test(arguments: [
        (2048, false, 45.0, 25.63), (1024, false, 22.5, 24.56), (512, false, 11.25, 24.56), (256, false, 5.625, 24.56),
        (2048, true, 45, 410.05), (256, true, 5.625, 49.13),
    ])
    func agreesWithTheSizesOfLlamasContexts(length: Int, looksAhead: Bool, cache: Double, compute: Double) {
        let window = EmbeddingWindow(length: length, looksAhead: looksAhead)
        let plan = EmbeddingPlan(Self.small, window: window)
        let given = Double(window.chunk * 4 * (49_152 + 576)) / 1_048_576
        #expect(plan.estimate.weights == 0 && plan.estimate.projector == 0)
        #expect(mebibytes(plan.estimate.cache) == cache)
        #expect(abs((mebibytes(plan.estimate.compute) - given) / compute - 1) < 0.06)
        #expect(abs(mebibytes(plan.estimate.total) / (cache + compute + given) - 1) < 0.03)
        #expect(plan.hostBytes == plan.estimate.total)
    }

    @Test func theWindowIsBounded() {
        #expect(EmbeddingWindow(length: 8192).length == 2048)
        #expect(EmbeddingWindow(length: .min).length == 1)
        #expect(EmbeddingWindow(length: 2048).chunk == 128 && EmbeddingWindow(length: 40).chunk == 40)
        // A model whose tokens attend to later ones computes a text in one call.
        #expect(EmbeddingWindow(length: 2048, looksAhead: true).chunk == 2048)
        #expect(EmbeddingWindow(length: 300, answers: false).chunk == 300)
    }

    /// The windows that are chosen while the memory shrinks.
    private func seen(_ length: Int, looksAhead: Bool = false) -> [String] {
        var seen: [String] = []
        let wanted = EmbeddingWindow(length: length, looksAhead: looksAhead)
        for mebibytes in stride(from: 1500, through: 280, by: -1) {
            let device = MemoryPlan.Device(memory: UInt64(mebibytes) << 20, occupied: 20 << 20)
            let text: String
            do {
                let plan = try EmbeddingPlan(Self.small, atMost: wanted, on: device)
                #expect(plan.hostBytes <= device.budget && plan.window.looksAhead == looksAhead)
                text = "\(plan.window.length)"
            } catch {
                #expect(error.code == .doesNotFit)
                text = "refused"
            }
            if seen.last != text { seen.append(text) }
        }
        return seen
    }

    @Test func theWindowShrinksBeforeItIsRefused() {
        #expect(seen(8192) == ["2048", "1024", "512", "256", "refused"])
        #expect(seen(8192, looksAhead: true) == ["2048", "1024", "512", "256", "refused"])
        // llama.cpp makes contexts of multiples of 256 tokens; a model whose tokens attend to later ones gets no text
        // longer than a call.
        #expect(seen(1500) == ["1500", "512", "256", "refused"])
        #expect(seen(700, looksAhead: true) == ["700", "256", "refused"])
        #expect(seen(200) == ["200", "refused"])
    }

    /// Shorter windows are tried one after the other until one can be made.
    @Test func afterAFailureAShorterWindowIsTried() throws {
        struct Full: Error, Equatable { let attempt: Int }
        /// The length and the tokens of a call of each attempt; the attempt number `success` succeeds.
        func attempts(_ wanted: EmbeddingWindow, until success: Int) throws(Full) -> [[Int]] {
            var tried: [[Int]] = []
            return try wanted.longest { (window) throws(Full) in
                tried.append([window.length, window.chunk])
                if tried.count < success { throw Full(attempt: tried.count) }
                return tried
            }
        }
        let window = EmbeddingWindow(length: 2048)
        #expect(try attempts(window, until: 1) == [[2048, 128]])
        #expect(try attempts(window, until: 3) == [[2048, 128], [1024, 128], [512, 128]])
        #expect(try attempts(window, until: 6).suffix(3) == [[256, 128], [256, 64], [256, 32]])
        #expect(throws: Full(attempt: 6)) { _ = try attempts(window, until: 7) }
        let whole = EmbeddingWindow(length: 700, looksAhead: true)
        #expect(try attempts(whole, until: 2) == [[700, 700], [256, 256]])
        #expect(throws: Full(attempt: 2)) { _ = try attempts(whole, until: 3) }
    }

    @Test func aRefusalHasBothNumbersAndARemedy() throws {
        let device = MemoryPlan.Device(memory: 400 << 20, occupied: 130 << 20)
        let wanted = EmbeddingWindow(length: 2048)
        let error = #expect(throws: LLMError.self) { try EmbeddingPlan(Self.small, atMost: wanted, on: device) }
        var window = wanted
        while let shorter = window.shorter { window = shorter }
        #expect(window.length == 256 && window.chunk == 32, "fewer tokens a call are tried at last")
        let least = EmbeddingPlan(Self.small, window: window).hostBytes
        #expect(error?.context.expected == "at most \(14 << 20) bytes" && error?.context.found == "\(least) bytes")
        let message = try #require(error?.message)
        for part in ["256 tokens", "18 MiB", "14 MiB", "400 MiB", "the 130 MiB of what is loaded"] {
            #expect(message.contains(part), "\(message)")
        }
        #expect(error?.context.remedy?.hasPrefix("Unload") == true)
    }

    /// The model has no cache and computes no logits, but llama.cpp allocates memory for them.
    @Test func anEncoderNeedsLessMemory() {
        let window = EmbeddingWindow(length: 2048, answers: false)
        let plan = EmbeddingPlan(Self.small, window: window)
        let answering = EmbeddingPlan(Self.small, window: EmbeddingWindow(length: 2048, looksAhead: true))
        #expect(plan.estimate.cache == 0 && answering.estimate.cache > 0)
        let logits = UInt64(2048 * 4 * 49_152)
        #expect(plan.estimate.compute >= logits && plan.estimate.compute + logits / 2 < answering.estimate.compute)
    }

    @Test func layersOnACardNeedNotFitTheMachine() throws {
        let window = EmbeddingWindow(length: 2048)
        let all = EmbeddingPlan(Self.small, window: window)
        let placed = EmbeddingPlan(Self.small, window: window, gpuLayers: 31)
        #expect(placed.estimate == all.estimate)
        #expect(placed.hostBytes == all.estimate.compute)
        #expect(EmbeddingPlan(Self.small, window: window, gpuLayers: .min).hostBytes == all.hostBytes)
    }

    /// The largest accepted sizes cause no overflow.
    @Test func survivesTheLargestSizes() {
        let shape = ModelShape(
            weightBytes: .max,
            layers: Array(repeating: ModelShape.Layer(keyWidth: 1 << 32, valueWidth: 1 << 32), count: 4096),
            width: 1 << 20, innerWidth: 1 << 34, vocabulary: 1 << 30, trainedContext: 1 << 30, recurrentBytes: .max)
        for looksAhead in [false, true] {
            let window = EmbeddingWindow(length: .max, looksAhead: looksAhead)
            #expect(EmbeddingPlan(shape, window: window).hostBytes == .max)
            #expect(EmbeddingPlan(shape, window: window, gpuLayers: .max).hostBytes > 1 << 40)
            for device in [MemoryPlan.Device(memory: .max), MemoryPlan.Device(memory: 1, occupied: .max)] {
                #expect(throws: LLMError.self) { try EmbeddingPlan(shape, atMost: window, on: device) }
            }
        }
    }
}
