#if Llama
import HearthBase
@testable import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    /// The memory that no load plan counts: the context for vectors, the states of conversations, encoded pictures.
    @Suite struct MemoryBesideTheModel {
        /// A configuration with the memory of a planned model and `room` bytes more.
        static func configuration(
            context: Int = 1024, projector: Path? = nil, room: UInt64, states: UInt64 = 0, sequences: Int = 2
        ) throws -> LlamaConfiguration {
            var configuration = LlamaConfiguration(
                contextLength: context, threadCount: 1, deviceMemory: 1 << 30, stateBytes: states,
                sequences: sequences
            ).with(.f16, .on)
            let plan = try #require(LoadPlan(TestModel.path, projector: projector, configuration: configuration))
            configuration.deviceMemory = 256 << 20 + plan.estimate.total + room
            return configuration
        }

        static func bytes(_ length: Int) throws -> UInt64 { try bytes(EmbeddingWindow(length: length)) }

        private static func bytes(_ window: EmbeddingWindow) throws -> UInt64 {
            let header = try GGUFHeader(file: TestModel.path)
            let shape = try #require(ModelShape(header, fileBytes: 1))
            return EmbeddingPlan(shape, window: window).hostBytes
        }

        /// The bytes of the smallest window.
        private static func least() throws -> UInt64 {
            var window = EmbeddingWindow(length: EmbeddingWindow.shortest)
            while let shorter = window.shorter { window = shorter }
            return try bytes(window)
        }

        func paris(_ engine: LlamaActor) async throws {
            let answer = try await Answer(engine.generate(capitalOfFrance, options: .greedy()))
            #expect(answer.text.contains("Paris"))
        }

        func ledger(_ engine: LlamaActor) async -> MemoryLedger {
            return await engine.visited { $0.memory }
        }

        @Test func aRefusedContextForVectorsChangesNothingElse() async throws {
            let least = try Self.least()
            var configuration = try Self.configuration(room: least - 1)
            let engine = try await LlamaActor.load(TestModel.path, configuration: configuration)
            for _ in 0..<2 {
                let error = await #expect(throws: LLMError.self) { _ = try await engine.embed(["fox"]) }
                #expect(error?.code == .doesNotFit && error?.context.remedy != nil)
                #expect(error?.context.expected == "at most \(least - 1) bytes")
                #expect(error?.context.found == "\(least) bytes")
            }
            try await paris(engine)
            // If the configuration ignores memory, the call succeeds; with one byte more it succeeds in any case.
            configuration.ignoresMemory = true
            try await engine.load(TestModel.path, configuration: configuration)
            #expect(try await engine.embed(["fox"]).count == 1)
            configuration.ignoresMemory = false
            configuration.deviceMemory += 1
            try await engine.load(TestModel.path, configuration: configuration)
            #expect(try await engine.embed(["fox"]).count == 1)
            #expect(await ledger(engine).room(for: .text).budget == 0)
            await engine.unload()
        }

        @Test(.enabled(if: TestExtent.isFull)) func aShorterWindowIsUsedIfOnlyThatFits() async throws {
            let configuration = try Self.configuration(room: try Self.bytes(1024) - 1)
            let engine = try await LlamaActor.load(TestModel.path, configuration: configuration)
            let texts = [300, 520].map { String(repeating: "word ", count: $0) }
            let vector = try await engine.embed([texts[0]])[0]
            let error = await #expect(throws: LLMError.self) { _ = try await engine.embed([texts[1]]) }
            #expect(error?.code == .exceededContextWindowSize)
            #expect(error?.context.expected == "at most 512 tokens")
            let made = try #require(await ledger(engine).entries[.text]?.vectors)
            #expect(made.window.length == 512)
            #expect(try made.hostBytes == Self.bytes(512))
            try await paris(engine)
            // The vector is the same as with much memory, and the context is freed with the model.
            try await engine.load(
                TestModel.path, configuration: LlamaConfiguration(contextLength: 1024, threadCount: 1))
            #expect(await ledger(engine).entries[.text]?.vectors == nil)
            let whole = try await engine.embed(texts)
            #expect(zip(vector, whole[0]).reduce(0) { $0 + $1.0 * $1.1 } > 0.9999)
            await engine.unload()
            #expect(await ledger(engine).hostBytes() == 0)
        }

        /// As if a model's layers left a card less memory than the machine has: the first attempts fail.
        @Test(.enabled(if: TestExtent.isFull)) func afterAFailureAShorterContextIsMade() async throws {
            var configuration = try Self.configuration(context: 2048, room: 1 << 30)
            for insists in [false, true] {
                configuration.ignoresMemory = insists
                let engine = try await LlamaActor.load(TestModel.path, configuration: configuration)
                let tried = try await engine.visited { engine in
                    let loop = engine.loop(.text)
                    let model = try #require(loop).model
                    var tried: [Int] = []
                    _ = try engine.makeRoom(forVectors: EmbeddingWindow(length: 2048)) { window in
                        tried.append(window.length)
                        guard window.length <= 512 else { throw LLMError(.generateFailed, "the card is full") }
                        let method = try EmbeddingMethod(model.weights, answers: true)
                        let made = try TextEmbedder(model.weights, method, window, threads: model.threads)
                        model.embedder = made
                        return made
                    }
                    return tried
                }
                #expect(tried == [2048, 1024, 512])
                #expect(try await ledger(engine).entries[.text]?.vectors?.hostBytes == Self.bytes(512))
                #expect(try await engine.embed([String(repeating: "word ", count: 300)]).count == 1)
                let error = await #expect(throws: LLMError.self) {
                    _ = try await engine.embed([String(repeating: "word ", count: 520)])
                }
                #expect(error?.context.expected == "at most 512 tokens")
                await engine.unload()
            }
        }

        @Test func ifAllAttemptsFailTheLastReasonIsReported() async throws {
            let engine = try await LlamaActor.load(
                TestModel.path, configuration: try Self.configuration(room: 1 << 30))
            let error = await #expect(throws: LLMError.self) {
                try await engine.visited { engine in
                    try engine.makeRoom(forVectors: EmbeddingWindow(length: 1024)) { window in
                        throw LLMError(.generateFailed, "no room for \(window.length) in calls of \(window.chunk)")
                    }
                }
            }
            #expect(error?.message == "no room for 256 in calls of 32")
            #expect(await ledger(engine).entries[.text]?.vectors == nil)
            #expect(try await engine.embed(["fox"]).count == 1)
            await engine.unload()
        }

        /// A weak reference.
        private struct Weak {
            weak var embedder: TextEmbedder?

            init(_ embedder: TextEmbedder?) { self.embedder = embedder }
        }

        /// The context was made while another model was being loaded, and grows after that model is unloaded.
        @Test(.enabled(if: TestExtent.isFull)) func aShorterWindowGrowsWhenThereIsRoom() async throws {
            func configuration(_ context: Int) -> LlamaConfiguration {
                LlamaConfiguration(
                    contextLength: context, threadCount: 1, deviceMemory: 6 << 30, stateBytes: 0, sequences: 1
                ).with(.f16, .on)
            }
            let engine = try await LlamaActor.load(TestModel.path, configuration: configuration(1024))
            let other = try #require(LoadPlan(TestModel.path, projector: nil, configuration: configuration(1024)))
            // All memory except that of a window of 512 beside both models.
            let taken =
                try MemoryPlan.Device(memory: 6 << 30).budget - other.estimate.total - Self.bytes(512)
            await engine.visited { $0.memory.entries[.text]?.hostBytes = taken }
            func embedder() async throws -> (length: Int?, object: ObjectIdentifier?) {
                return await engine.visited { engine in
                    let made = engine.loop(.text)?.model.embedder
                    return (made?.window.length, made.map { ObjectIdentifier($0) })
                }
            }
            let texts = [300, 520].map { String(repeating: "word ", count: $0) }
            let load = await BesideALoad.StoppedLoad(engine, .vision, configuration: configuration(1024))
            let vector = try await engine.embed([texts[0]])[0]
            #expect(load.isStopped)
            try await load.release()
            let short = try await embedder()
            #expect(short.length == 512)
            // The free memory has not grown: the context stays, and no text causes a new plan.
            for _ in 0..<2 {
                let error = await #expect(throws: LLMError.self) { _ = try await engine.embed([texts[1]]) }
                #expect(error?.context.expected == "at most 512 tokens")
            }
            #expect(try await embedder() == short)
            await engine.unload(.vision)
            let isGivenBack = try await engine.visited { engine in
                let loop = engine.loop(.text)
                let found = try #require(loop)
                let short = Weak(found.model.embedder)
                _ = try engine.embedder(of: found)
                return short.embedder == nil
            }
            #expect(isGivenBack)
            let vectors = try await engine.embed(texts)
            #expect(zip(vector, vectors[0]).reduce(0) { $0 + $1.0 * $1.1 } > 0.9999)
            #expect(try await embedder().length == 1024)
            #expect(try await ledger(engine).entries[.text]?.vectors?.hostBytes == Self.bytes(1024))
            await engine.unload()
        }

        /// Compares the sizes that llama.cpp logs for a new context with the prediction.
        @Test func itsMemoryIsPredicted() async throws {
            let configuration = LlamaConfiguration(contextLength: 2048, threadCount: 1)
            let engine = try await LlamaActor.load(TestModel.path, configuration: configuration)
            let log = await RecordedLog.start(.debug)
            defer { log.stop() }
            _ = try await engine.embed(["fox"])
            let plan = try #require(await ledger(engine).entries[.text]?.vectors)
            func sizes(_ name: String) -> [Double] {
                log.messages(of: "llama").filter { $0.contains(name) }.compactMap { line in
                    line.split(separator: "=").dropFirst().first?.split(separator: " ").first.flatMap { Double($0) }
                }
            }
            let given = plan.window.chunk * 4 * (49_152 + 576)
            let worked = Double(plan.estimate.compute - UInt64(given)) / 1_048_576
            // Other tests of this process may have made contexts of other sizes in the meantime.
            let made = sizes("compute buffer size")
            #expect(made.contains { abs(worked / $0 - 1) < 0.06 }, "\(worked) \(made)")
            let caches = sizes("KV buffer size")
            #expect(caches.contains(Double(plan.estimate.cache) / 1_048_576), "\(caches)")
            await engine.unload()
        }

        /// A model uses nearly all memory, and its context for vectors counts too.
        @Test(.enabled(if: TestExtent.isFull)) func theOtherRolesModelIsFittedBesideIt() async throws {
            func configuration(_ context: Int?) -> LlamaConfiguration {
                LlamaConfiguration(contextLength: context, threadCount: 1, deviceMemory: 6 << 30, stateBytes: 0)
            }
            let engine = try await LlamaActor.load(TestModel.path, configuration: configuration(256))
            let other = try #require(LoadPlan(TestModel.path, projector: nil, configuration: configuration(8192)))
            let budget = MemoryPlan.Device(memory: 6 << 30).budget
            let taken = budget - other.estimate.total
            await engine.visited { $0.memory.entries[.text]?.hostBytes = taken }
            // The second model fits without the context for vectors.
            try await engine.load(TestModel.path, role: .vision, configuration: configuration(8192))
            // The vectors do not fit beside the second model.
            var error = await #expect(throws: LLMError.self) { _ = try await engine.embed(["fox"]) }
            #expect(error?.code == .doesNotFit && error?.context.expected == "at most 0 bytes")
            await engine.unload(.vision)
            #expect(try await engine.embed(["fox"]).count == 1)
            error = await #expect(throws: LLMError.self) {
                try await engine.load(TestModel.path, role: .vision, configuration: configuration(8192))
            }
            #expect(error?.code == .doesNotFit && error?.message.contains("of the other model") == true)
            try await engine.load(TestModel.path, role: .vision, configuration: configuration(nil))
            #expect(try engine.modelInformation(.vision).contextLength == 4096)
            try await paris(engine)
            #expect(try await engine.embed(["fox"]).count == 1)
            // The context for vectors is freed with its model.
            try await engine.load(TestModel.path, configuration: configuration(256))
            await engine.visited { $0.memory.entries[.text]?.hostBytes = taken }
            try await engine.load(TestModel.path, role: .vision, configuration: configuration(8192))
            await engine.unload()
        }
    }
}
#endif
