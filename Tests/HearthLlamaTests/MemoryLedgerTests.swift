#if Llama
    import HearthBase
    import HearthInference
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
                kept: MemoryLedger.Kept(states: states.map { $0 << 20 }, pictures: pictures.map { $0 << 20 }))
        }

        private func kept(_ states: UInt64?, _ pictures: UInt64?) -> MemoryLedger.Kept {
            MemoryLedger.Kept(states: states.map { $0 << 20 }, pictures: pictures.map { $0 << 20 })
        }

        private func plan(_ configuration: LlamaConfiguration = LlamaConfiguration(deviceMemory: 1 << 30)) -> LoadPlan {
            LoadPlan(Self.shape, configuration: configuration)
        }

        /// Of 1024 MiB 768 are for models.
        @Test func whatIsKeptIsBoundedByWhatIsLeft() {
            var ledger = MemoryLedger()
            #expect(ledger.kept(for: .text) == kept(nil, nil))
            ledger.entries[.text] = entry(500, states: 256)
            #expect(ledger.kept(for: .text) == kept(256, nil))
            ledger.entries[.text] = entry(600, states: 256)
            #expect(ledger.kept(for: .text) == kept(168, nil))
            // Half each where both exist, and never more than there would be anyway.
            ledger.entries[.text] = entry(600, states: 256, pictures: 20)
            #expect(ledger.kept(for: .text) == kept(84, 20))
            for used: UInt64 in [768, 900, 4000] {
                ledger.entries[.text] = entry(used, states: 256, pictures: 256)
                #expect(ledger.kept(for: .text) == kept(0, 0))
            }
        }

        @Test func modelsSideBySideShareWhatIsLeft() {
            var ledger = MemoryLedger(entries: [.text: entry(300, states: 256)])
            ledger.entries[.vision] = entry(300, states: 50, pictures: 256)
            #expect(ledger.kept(for: .text) == kept(56, nil))
            #expect(ledger.kept(for: .vision) == kept(50, 56))
            ledger.entries[.vision] = nil
            #expect(ledger.kept(for: .text) == kept(256, nil))
            // One on its way has its room before it is there.
            ledger.arrival = MemoryLedger.Arrival(hostBytes: 400 << 20, replaced: [])
            #expect(ledger.kept(for: .text) == kept(68, nil))
        }

        @Test func withoutAPlanAndForWhoInsistsNothingIsBounded() {
            var entry = entry(4000, states: 256, pictures: 100)
            entry.isBounded = false
            #expect(MemoryLedger(entries: [.text: entry]).kept(for: .text) == kept(256, 100))
        }

        @Test func aContextForVectorsCountsLikeTheModel() throws {
            var ledger = MemoryLedger(entries: [.text: entry(300, states: 256), .vision: entry(100)])
            #expect(ledger.hostBytes() == 400 << 20 && ledger.hostBytes(without: [.text]) == 100 << 20)
            #expect(try ledger.embedding(EmbeddingWindow(length: 2048), of: .text) == nil, "its sizes are not known")
            ledger.entries[.text]?.plan = plan()
            let made = try #require(try ledger.embedding(EmbeddingWindow(length: 2048), of: .text))
            #expect(made.window.length == 2048)
            ledger.entries[.text]?.embedding = made
            #expect(ledger.hostBytes() == 400 << 20 + made.hostBytes)
            #expect(ledger.hostBytes(without: [.vision]) == 300 << 20 + made.hostBytes)
            #expect(ledger.hostBytes(without: [.text]) == 100 << 20)
            #expect(ledger.kept(for: .text).states == 256 << 20)
            ledger.entries[.vision] = entry(300)
            #expect(ledger.kept(for: .text).states == 168 << 20 - made.hostBytes)
        }

        @Test func itHasWhatBothModelsLeave() throws {
            var ledger = MemoryLedger(entries: [.text: entry(300), .vision: entry(400)])
            ledger.entries[.text]?.plan = plan()
            let wanted = EmbeddingWindow(length: 2048)
            #expect(try ledger.embedding(wanted, of: .text)?.window.length == 512)
            ledger.entries[.vision] = entry(455)
            let error = #expect(throws: LLMError.self) { _ = try ledger.embedding(wanted, of: .text) }
            #expect(error?.code == .doesNotFit && error?.message.contains("13 MiB of the device's 1024 MiB") == true)
            // Who insists gets it as it is.
            ledger.entries[.text]?.plan = plan(LlamaConfiguration(deviceMemory: 1 << 30, ignoresMemory: true))
            #expect(try ledger.embedding(wanted, of: .text)?.window == wanted)
        }

        /// A model that is being replaced is still there, and the one that comes has its room already.
        @Test func aModelOnItsWayHasItsRoom() {
            var ledger = MemoryLedger(entries: [.text: entry(300), .vision: entry(200)])
            ledger.arrival = MemoryLedger.Arrival(hostBytes: 350 << 20, replaced: [.vision])
            #expect(ledger.hostBytes(beside: .text) == 650 << 20)
            ledger.arrival?.hostBytes = 100 << 20
            #expect(ledger.hostBytes(beside: .text) == 500 << 20)
            // What the old one of the role itself takes goes with it.
            ledger.arrival = MemoryLedger.Arrival(hostBytes: 600 << 20, replaced: [.text])
            #expect(ledger.hostBytes(beside: .text) == 500 << 20)
        }

        /// Its layers are not placed before the model it replaces has answered all.
        @Test func aModelOnItsWayToACardTakesOnlyItsPartOfTheMachine() throws {
            var shape = Self.shape
            shape.weightBytes = 400 << 20
            var order = LoadOrder(
                path: Path("model.gguf"), projector: nil, role: .vision, configuration: LlamaConfiguration(),
                plan: LoadPlan(shape, configuration: LlamaConfiguration(contextLength: 1024, deviceMemory: 1 << 30)),
                supportsVision: false, signal: StopSignal())
            let card = GPUMemory(free: 8 << 30)
            try order.plan?.fit(beside: 300 << 20, gpu: card)
            var ledger = MemoryLedger(entries: [.text: entry(300), .vision: entry(100)])
            ledger.entries[.text]?.plan = plan()
            ledger.arrival = MemoryLedger.Arrival(order, replaced: [.vision], gpu: card)
            let wanted = EmbeddingWindow(length: 2048)
            #expect(try ledger.embedding(wanted, of: .text)?.window == wanted)
            #expect(try #require(ledger.arrival).hostBytes < 100 << 20)
            // Without a card all of it is the machine's.
            ledger.arrival = MemoryLedger.Arrival(order, replaced: [.vision], gpu: .none)
            #expect(try ledger.embedding(wanted, of: .text)?.window.length == 256)
            order.plan = nil
            #expect(MemoryLedger.Arrival(order, replaced: [], gpu: card).hostBytes == 0)
        }

        @Test func aCardsMemoryComesBackWithWhatIsGivenBack() throws {
            var model = entry(100)
            model.gpuBytes = 50 << 20
            var configuration = LlamaConfiguration(deviceMemory: 1 << 30)
            configuration.gpuLayers = 31
            model.plan = plan(configuration)
            model.gpu = GPUMemory(free: 1 << 30)
            var ledger = MemoryLedger(entries: [.text: model, .vision: model])
            #expect(ledger.gpuBytes(of: [.text]) == 50 << 20)
            let made = try #require(try ledger.embedding(EmbeddingWindow(length: 2048), of: .text))
            #expect(made.hostBytes < made.estimate.total)
            ledger.entries[.text]?.embedding = made
            #expect(ledger.gpuBytes(of: [.text]) == 50 << 20 + made.estimate.total - made.hostBytes)
            #expect(ledger.gpuBytes(of: [.vision, .text]) == 100 << 20 + made.estimate.total - made.hostBytes)
        }

        /// What it was planned with may be more than could be made.
        @Test func aContextForVectorsCountsAsItWasMade() throws {
            var ledger = MemoryLedger(entries: [.text: entry(300)])
            ledger.count(EmbeddingWindow(length: 512), of: .text)
            ledger.count(EmbeddingWindow(length: 512), of: .vision)
            #expect(ledger.entries[.text]?.embedding == nil && ledger.entries[.vision] == nil)
            ledger.entries[.text]?.plan = plan()
            let planned = try #require(try ledger.embedding(EmbeddingWindow(length: 2048), of: .text))
            ledger.count(planned.window, of: .text)
            #expect(ledger.entries[.text]?.embedding == planned)
            ledger.count(EmbeddingWindow(length: 512), of: .text)
            let made = EmbeddingPlan(Self.shape, window: EmbeddingWindow(length: 512))
            #expect(made.hostBytes < planned.hostBytes && ledger.hostBytes() == 300 << 20 + made.hostBytes)
        }

        /// What it takes itself is not in the way of a longer one.
        @Test func aContextForVectorsIsPlannedInPlaceOfTheOneThereIs() throws {
            var ledger = MemoryLedger(entries: [.text: entry(300), .vision: entry(400)])
            ledger.entries[.text]?.plan = plan()
            let wanted = EmbeddingWindow(length: 2048)
            let short = try #require(try ledger.embedding(wanted, of: .text))
            ledger.count(short.window, of: .text)
            #expect(short.window.length == 512 && ledger.entries[.text]?.embedding == short)
            #expect(try ledger.embedding(wanted, of: .text) == short)
            let whole = EmbeddingPlan(Self.shape, window: wanted)
            ledger.entries[.vision]?.hostBytes = 468 << 20 - whole.hostBytes
            #expect(try ledger.embedding(wanted, of: .text) == whole)
        }

        @Test func aShortContextForVectorsIsOutgrownOnceOthersLeaveMore() throws {
            var ledger = MemoryLedger(entries: [.text: entry(300), .vision: entry(400)])
            ledger.entries[.text]?.plan = plan()
            let wanted = EmbeddingWindow(length: 2048)
            let short = EmbeddingWindow(length: 512)
            func outgrows(vision mebibytes: UInt64?, _ made: EmbeddingWindow = short) -> Bool {
                ledger.entries[.vision] = mebibytes.map { entry($0) }
                return ledger.outgrows(made, wanted: wanted, of: .text)
            }
            #expect(!outgrows(vision: nil), "there is none yet")
            ledger.entries[.vision] = entry(400)
            ledger.count(short, of: .text)
            #expect(!outgrows(vision: 400) && !outgrows(vision: 500) && !outgrows(vision: 398))
            #expect(!outgrows(vision: 380, wanted), "it is as long as wanted")
            ledger.arrival = MemoryLedger.Arrival(hostBytes: 1 << 20, replaced: [])
            #expect(!outgrows(vision: 300), "a model is on its way")
            ledger.arrival = nil
            #expect(outgrows(vision: 300))
            #expect(!outgrows(vision: 300), "that is decided")
            #expect(!outgrows(vision: 350) && outgrows(vision: nil))
        }

        /// Nothing is planned of a card's memory: more of it is a reason to try.
        @Test func whatACardGetsBackIsTried() {
            for known in [nil, plan(LlamaConfiguration(deviceMemory: 1 << 30, ignoresMemory: true)), plan()] {
                var ledger = MemoryLedger(entries: [.text: entry(300), .vision: entry(100)])
                ledger.entries[.text]?.plan = known
                ledger.entries[.vision]?.gpuBytes = 50 << 20
                let short = EmbeddingWindow(length: 512)
                func outgrows() -> Bool {
                    ledger.outgrows(short, wanted: EmbeddingWindow(length: 2048), of: .text)
                }
                ledger.count(short, of: .text)
                #expect(!outgrows())
                ledger.entries[.vision]?.gpuBytes = 40 << 20
                #expect(outgrows())
                // Where one of both has become less, the one there is stays.
                ledger.count(short, of: .text)
                ledger.entries[.vision] = entry(468)
                #expect(!outgrows())
                ledger.entries[.vision] = entry(10)
                ledger.entries[.vision]?.gpuBytes = 60 << 20
                #expect(!outgrows())
            }
        }

        @Test func sizesOfStrangersDoNotOverflow() {
            var huge = entry(0, states: 256)
            huge.hostBytes = .max
            huge.gpuBytes = .max
            let ledger = MemoryLedger(
                entries: [.text: huge, .vision: huge], arrival: MemoryLedger.Arrival(hostBytes: .max, replaced: []))
            #expect(ledger.hostBytes() >= 1 << 61 && ledger.gpuBytes(of: [.text, .vision]) >= 1 << 61)
            #expect(ledger.room(for: .text).budget == 0 && ledger.kept(for: .text) == kept(0, nil))
        }
    }
#endif
