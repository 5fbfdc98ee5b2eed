#if Llama
import CLlama
import Foundation
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    @Suite struct Loading {
        static let small = LlamaConfiguration(contextLength: 256, threadCount: 1)

        @Test func reportsProgressAndFacts() async throws {
            let seen = Locked<[Float]>([])
            let engine = try await LlamaActor.load(TestModel.path, configuration: Self.small) { value in
                seen.withLock { $0.append(value) }
            }
            let values = seen.withLock { $0 }
            #expect(values.last == 1)
            #expect(values.sorted() == values)
            #expect(values.allSatisfy { (0...1).contains($0) })
            let facts = try engine.modelInformation
            #expect(facts.description.contains("Q4_1"))
            #expect(facts.parameterCount == 134_515_008)
            #expect(try #require(facts.size) > 80_000_000)
            #expect(facts.contextLength >= 256)
            #expect(facts.trainedContextLength == 8192)
            #expect(facts.batchSize == 256)
            #expect(facts.threadCount == 1)
            await engine.unload()
            #expect(throws: LLMError.self) { try engine.modelInformation }
        }

        /// llama.cpp counts the set-up of the first computation as loading time, so an answer has none of it.
        @Test func computesATokenBeforeTheFirstRequest() async throws {
            try await blocking {
                let model = try LoadedModel(
                    path: TestModel.path(.window), configuration: Self.small, progress: { _ in true })
                #expect(model.sequences.ledger(0).isEmpty && model.sequences.context.holds(0, in: 0))
                let context = model.sequences.context.raw
                llama_synchronize(context)
                let loading = llama_perf_context(context).t_load_ms
                var batch = TokenBatch(capacity: 1)
                batch.append([5], at: 0, outputs: .last)
                #expect(model.sequences.context.decode(batch) == 0)
                llama_synchronize(context)
                #expect(llama_perf_context(context).t_load_ms == loading)
            }
        }

        @Test(
            arguments: [(5 << 30, 4096), ((6 << 30) - 1, 4096), (6 << 30, 8192), (64 << 30, 8192)]
                as [(UInt64, Int)])
        func choosesTheContextByMemory(memory: UInt64, length: Int) {
            #expect(LlamaConfiguration.defaultContextLength(deviceMemory: memory) == length)
        }

        @Test func neverMakesALongerContextThanTheTrainedOne() async throws {
            let engine = try await LlamaActor.load(
                TestModel.path, configuration: LlamaConfiguration(contextLength: 1 << 20, threadCount: 1))
            #expect(try engine.modelInformation.contextLength == 8192)
        }

        @Test(arguments: [(512, 512), (0, 1), (-7, 1), (8192, 8192), (.max, 8192)] as [(Int, Int)])
        func boundsTheBatch(asked: Int, size: Int) {
            #expect(LlamaConfiguration(batchSize: asked).resolvedBatchSize == size)
        }

        @Test func computesShortChunksOnDevicesThatCannotStop() {
            #expect(LlamaConfiguration.chunkSize(batch: 512, isInterruptible: true) == 512)
            #expect(LlamaConfiguration.chunkSize(batch: 512, isInterruptible: false) == 256)
            #expect(LlamaConfiguration.chunkSize(batch: 100, isInterruptible: false) == 100)
        }

        @Test func withoutAModelNothingAnswers() async throws {
            let engine = LlamaActor()
            let error = await #expect(throws: LLMError.self) {
                _ = try await Answer(engine.generate(capitalOfFrance, options: .greedy()))
            }
            #expect(error?.code == .modelNotLoaded)
        }

        @Test func isCancelled() async throws {
            let engine = LlamaActor(configuration: Self.small)
            let (began, source) = AsyncStream<Void>.makeStream()
            let cancelled = DispatchSemaphore(value: 0)
            let task = Task {
                try await engine.load(TestModel.path) { _ in
                    source.yield()
                    cancelled.wait()
                    cancelled.signal()
                }
            }
            for await _ in began { break }
            task.cancel()
            cancelled.signal()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(throws: LLMError.self) { try engine.modelInformation }
        }

        @Test func endsWithUnloadEvenWhileItAnswers() async throws {
            let engine = try await LlamaActor.load(TestModel.path, configuration: Self.small)
            let story = [ChatMessage(.user, "Write a very long story about a fox.")]
            let running = engine.generate(story, options: .greedy())
            let waiting = engine.generate(story, options: .greedy())
            var unloading: Task<Void, Never>?
            await #expect(throws: CancellationError.self) {
                for try await event in running {
                    if case .text = event, unloading == nil { unloading = Task { await engine.unload() } }
                }
            }
            await #expect(throws: CancellationError.self) { _ = try await Answer(waiting) }
            await unloading?.value
            #expect(throws: LLMError.self) { try engine.modelInformation }
            try await engine.load(TestModel.path)
            let answer = try await Answer(engine.generate(capitalOfFrance, options: .greedy()))
            #expect(answer.text.contains("Paris"))
        }

        @Test(.enabled(if: TestExtent.isFull)) func isDoneManyTimesWithoutALeak() async throws {
            var sizes: [Int] = []
            for round in 0..<20 {
                let engine = try await LlamaActor.load(TestModel.path, configuration: Self.small)
                _ = try await Answer(engine.generate(capitalOfFrance, options: .greedy(maximumNewTokens: 2)))
                if round % 2 == 0 { await engine.unload() }
                sizes.append(try Self.residentBytes())
            }
            // One model in memory takes some 150 MB: a leak of one in five would show.
            #expect(try #require(sizes.last) - sizes[3] < 150 << 20, "\(sizes)")
        }

        private static func residentBytes() throws -> Int {
            #if os(Linux)
            let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            return try #require(Int(text.split(separator: " ")[1])) * 4096
            #else
            return 0
            #endif
        }
    }

    @Suite struct HostileFiles {
        private func failure(_ path: Path) async -> LLMError? {
            let engine = LlamaActor(configuration: Loading.small)
            return await #expect(throws: LLMError.self, "\(path)") { try await engine.load(path) }
        }

        private func expectClear(_ error: LLMError?, _ path: Path) {
            #expect(error?.code == .cannotLoad)
            #expect(error?.message.contains(path.lastComponent) == true)
            #expect(error?.message.contains("\n") == false)
            #expect(error?.context.file == path.string)
            #expect(error?.context.remedy != nil)
        }

        @Test func areRefusedWithAReason() async throws {
            let folder = try TemporaryFolder()
            let cases = [
                (folder.path("absent.gguf"), "no such file"),
                (try folder.write("empty.gguf", Data()), "empty"),
                (try folder.write("short.gguf", Data("GG".utf8)), "not a GGUF file"),
                (try folder.write("page.gguf", Data("<html>404</html>".utf8)), "a web page"),
                (
                    try folder.write("pointer.gguf", Data("version https://git-lfs.github.com/spec/v1\n".utf8)),
                    "Git LFS"
                ),
                (try folder.write("magic.gguf", Data("GGUF".utf8)), "past its end"),
                (try folder.write("zeros.gguf", Data("GGUF".utf8) + Data(count: 4096)), ""),
                (try folder.write("ones.gguf", Data("GGUF".utf8) + Data(repeating: 0xFF, count: 4096)), ""),
                (folder.path, "not a file"),
            ]
            for (path, reason) in cases {
                let error = await failure(path)
                expectClear(error, path)
                #expect(error?.message.contains(reason) == true || reason.isEmpty)
            }
        }

        @Test(arguments: [5, 24, 100, 4096, 500_000, 1_700_000, 2_000_000, 5_000_000, -1])
        func areRefusedWhenTheyEndEarly(length: Int) async throws {
            let folder = try TemporaryFolder()
            let whole = try Data(contentsOf: TestModel.light.url, options: .mappedIfSafe)
            let path = try folder.write("cut.gguf", whole.prefix(length < 0 ? whole.count + length : length))
            let error = await failure(path)
            expectClear(error, path)
            #expect(
                error?.message.contains("past its end") == true || error?.message.contains("it ends after") == true)
        }

        /// Each change violates an assertion in llama.cpp's loader, which would end the process.
        @Test(arguments: [(2845, 3), (1756, 2), (12942, 0)])
        func areRefusedForOneWrongBit(offset: Int, bit: UInt8) async throws {
            let folder = try TemporaryFolder()
            var bytes = try Data(contentsOf: TestModel.path.url)
            bytes[offset] ^= 1 << bit
            let path = try folder.write("flip.gguf", bytes)
            expectClear(await failure(path), path)
        }

        @Test func withABrokenTemplateAreRefused() async throws {
            let folder = try TemporaryFolder()
            var bytes = try Data(contentsOf: TestModel.path.url)
            let place = try #require(bytes.range(of: Data("{% for".utf8), in: 0..<4_000_000))
            bytes.replaceSubrange(place, with: Data("{% fxr".utf8))
            // Without these words llama.cpp's own list does not recognise the template either.
            for word in ["<|im_start|>", "<|im_end|>"] {
                let name = Data(word.utf8)
                let end = place.lowerBound + 2000
                while let found = bytes.range(of: name, in: place.lowerBound..<end) {
                    bytes.replaceSubrange(found, with: Data(word.replacing("im_", with: "xx_").utf8))
                }
            }
            let error = await failure(try folder.write("template.gguf", bytes))
            #expect(error?.code == .templateFailed)
            #expect(error?.message.contains("std::exception") == false)
        }

        /// llama.cpp's fixed list knows the template's marks; it does not take the place of the template.
        @Test(arguments: [
            ("{% fxr message in messages %}<|im_start|>{{ message }}<|im_end|>{% endfor %}", "fxr"),
            ("{{ 'a", "'a"), ("{% for m in messages %}{{ m.content }}", "cannot be parsed"), ("{{ messages[ }}", "}}"),
        ])
        func withASyntaxErrorNameItsPlace(_ template: String, _ place: String) async throws {
            let engine = LlamaActor(
                configuration: LlamaConfiguration(contextLength: 256, threadCount: 1, chatTemplate: template))
            let error = await #expect(throws: LLMError.self) { try await engine.load(TestModel.path) }
            #expect(error?.code == .templateFailed)
            #expect(error?.message.contains(place) == true, "\(error?.message ?? "")")
            #expect(error?.message.contains("\n") == false)
            #expect(error?.context.remedy?.contains("order of the messages") == false)
        }

        @Test func withATemplateThatAlwaysRaisesSaySo() throws {
            let template = "{{ raise_exception('never') }}"
            let model = try LoadedModel(
                path: TestModel.path,
                configuration: LlamaConfiguration(contextLength: 256, threadCount: 1, chatTemplate: template),
                progress: { _ in true })
            let conversation = [ChatMessage(.user, "a"), ChatMessage(.assistant, "b"), ChatMessage(.user, "c")]
            for messages in [conversation, [ChatMessage(.user, "a")]] {
                let error = #expect(throws: LLMError.self) { try model.weights.render(messages) }
                #expect(error?.code == .templateFailed && error?.message.contains("never") == true)
                #expect(error?.context.remedy?.contains("order of the messages") == false)
            }
        }

        @Test func ofAnUnknownArchitectureAreNotCalledDamaged() async throws {
            let folder = try TemporaryFolder()
            var bytes = try Data(contentsOf: TestModel.path.url)
            // The name of the architecture, and the beginnings of its keys, in as many bytes.
            while let found = bytes.range(of: Data("llama".utf8), in: 0..<20_000) {
                bytes.replaceSubrange(found, with: Data("nosuc".utf8))
            }
            let path = try folder.write("other.gguf", bytes)
            let error = await failure(path)
            expectClear(error, path)
            #expect(error?.context.found == "\"nosuc\"", "\(error?.message ?? "")")
            #expect(error?.context.remedy?.contains("etch it again") == false)
        }

        @Test func leaveTheEngineReadyForAnother() async throws {
            let folder = try TemporaryFolder()
            let path = try folder.write("bad.gguf", Data("GGUF".utf8) + Data(count: 64))
            let engine = LlamaActor(configuration: Loading.small)
            await #expect(throws: LLMError.self) { try await engine.load(path) }
            try await engine.load(TestModel.path)
            let answer = try await Answer(engine.generate(capitalOfFrance, options: .greedy()))
            #expect(answer.text.contains("Paris"))
        }
    }
}
#endif
