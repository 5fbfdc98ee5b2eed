#if Llama
import Dispatch
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Synchronization
import Testing

extension LlamaActor {
    /// Blocks the engine's thread until it is released.
    fileprivate func occupy(_ began: AsyncStream<Void>.Continuation, until released: DispatchSemaphore) {
        began.finish()
        released.wait()
    }

    /// Whether a load waits for the answers of the model it replaces.
    fileprivate var waitsForAnswers: Bool { arrival != nil }

    /// Runs `body` while the engine's thread is blocked.
    nonisolated func whileOccupied(_ body: () async throws -> Void) async rethrows {
        let released = DispatchSemaphore(value: 0)
        let (began, source) = AsyncStream<Void>.makeStream()
        Task { await occupy(source, until: released) }
        for await _ in began {}
        defer { released.signal() }
        try await body()
    }
}

extension RealModel {
    /// Requests that arrive while one model replaces another.
    @Suite struct AskedMeanwhile {
        private static let configuration = LlamaConfiguration(contextLength: 1024, threadCount: 1, stateBytes: 0)

        private func until(_ condition: () -> Bool) async { while !condition() { await Task.yield() } }

        @Test(.enabled(if: TestExtent.isFull)) func isAnsweredByTheNewModel() async throws {
            let engine = try await LlamaActor.load(TestModel.path, configuration: Self.configuration)
            let pieces = Locked(0)
            let isRead = Locked(false)
            var early: Task<Int?, any Error>?
            var load: Task<Void, any Error>?
            await engine.whileOccupied {
                let stream = engine.generate(Replacing.story, options: .greedy(maximumNewTokens: 80))
                early = Task {
                    var tokens: Int?
                    for try await event in stream {
                        if case .text = event { pieces.withLock { $0 += 1 } }
                        if case .finish(let facts) = event { tokens = facts.usage.generatedTokens }
                    }
                    return tokens
                }
                load = Task {
                    try await engine.load(TestModel.path) { value in
                        if value == 1 { isRead.withLock { $0 = true } }
                    }
                }
                await until { engine.executor.hasWaitingJobs }
            }
            // From now on the load has the thread, and the first answer continues before it.
            await until { !engine.executor.hasWaitingJobs }
            let before = pieces.withLock { $0 }
            await until { pieces.withLock { $0 } > before + 10 }
            #expect(!isRead.withLock { $0 })
            var tokens: Int?
            var wasRead: Bool?
            for try await event in engine.generate(Replacing.story, options: .greedy(maximumNewTokens: 12)) {
                if case .text = event { wasRead = wasRead ?? isRead.withLock { $0 } }
                if case .finish(let facts) = event { tokens = facts.usage.generatedTokens }
            }
            #expect(tokens == 12 && wasRead == true)
            #expect(try await early?.value == 80)
            try await load?.value
            await engine.unload()
        }

        /// After a cancelled load, the present model answers the requests that waited for the new one.
        @Test(.enabled(if: TestExtent.isFull)) func isAnsweredByTheOldModelWhenTheLoadIsCancelled() async throws {
            let engine = try await LlamaActor.load(TestModel.path, configuration: Self.configuration)
            let pieces = Locked(0)
            var early: Task<Void, any Error>?
            var load: Task<Void, any Error>?
            await engine.whileOccupied {
                let stream = engine.generate(Replacing.story, options: .greedy(maximumNewTokens: 150))
                early = Task {
                    for try await event in stream { if case .text = event { pieces.withLock { $0 += 1 } } }
                }
                load = Task { try await engine.load(TestModel.path) }
                await until { engine.executor.hasWaitingJobs }
            }
            await until { !engine.executor.hasWaitingJobs }
            let before = pieces.withLock { $0 }
            await until { pieces.withLock { $0 } > before + 10 }
            let stream = engine.generate(capitalOfFrance, options: .greedy())
            load?.cancel()
            #expect(try await Answer(stream).text.contains("Paris"))
            try await early?.value
            await #expect(throws: CancellationError.self) { try await load?.value }
            await engine.unload()
        }

        /// The device may lack the memory for both models at once.
        @Test func keepsNoWeightsWhileTheNextAreRead() async throws {
            final class Box: @unchecked Sendable {
                weak var weights: ModelWeights?
                init(_ weights: ModelWeights) { self.weights = weights }
            }
            let engine = try await LlamaActor.load(TestModel.path, configuration: Self.configuration)
            let old = Box(try engine.answering(.text).weights)
            let isDone = Locked(false)
            let texts = [String](repeating: String(repeating: "word ", count: 60), count: 400)
            var vectors: Task<Void, any Error>?
            await engine.whileOccupied {
                vectors = Task {
                    defer { isDone.withLock { $0 = true } }
                    _ = try await engine.embed(texts)
                }
                await until { engine.mailbox.withLock { !$0.vectors.isEmpty } }
            }
            let isGone = Locked<Bool?>(nil)
            try await engine.load(TestModel.path) { _ in
                isGone.withLock { $0 = $0 ?? (old.weights == nil) }
            }
            #expect(!isDone.withLock { $0 })
            #expect(isGone.withLock { $0 } == true)
            vectors?.cancel()
            await #expect(throws: CancellationError.self) { try await vectors?.value }
            await engine.unload()
        }

        /// A request for vectors of one model does not wait for the answers of the other, which is being replaced.
        @Test(.enabled(if: TestExtent.isFull), .timeLimit(.minutes(10)))
        func hasItsVectorsWhileALoadWaits() async throws {
            var configuration = Self.configuration
            configuration.deviceMemory = 16 << 30
            let engine = try await LlamaActor.load(TestModel.path, configuration: configuration)
            try await engine.load(TestModel.path, role: .vision)
            let pieces = Locked(0)
            let stream = engine.generate(Replacing.story, options: .greedy(maximumNewTokens: 500), role: .vision)
            let early = Task {
                for try await event in stream { if case .text = event { pieces.withLock { $0 += 1 } } }
            }
            await until { pieces.withLock { $0 } > 0 }
            let isReading = Locked(false)
            let load = Task {
                try await engine.load(TestModel.path, role: .vision) { _ in isReading.withLock { $0 = true } }
            }
            while await !engine.waitsForAnswers, !isReading.withLock({ $0 }) { await Task.yield() }
            #expect(try await engine.embed(["one", "two"]).count == 2)
            #expect(!isReading.withLock { $0 })
            load.cancel()
            await #expect(throws: CancellationError.self) { try await load.value }
            try await early.value
            await engine.unload()
        }

        @Test(arguments: [false, true])
        func waitsForItsVectors(isFirst: Bool) async throws {
            let engine = LlamaActor(configuration: Self.configuration)
            if !isFirst { try await engine.load(TestModel.path) }
            let (began, source) = AsyncStream<Void>.makeStream()
            let released = DispatchSemaphore(value: 0)
            let load = Task {
                try await engine.load(TestModel.path) { _ in
                    source.finish()
                    released.wait()
                    released.signal()
                }
            }
            for await _ in began {}
            let isDone = Locked(false)
            let vectors = Task {
                defer { isDone.withLock { $0 = true } }
                return try await engine.embed(["a", "b"])
            }
            await until {
                engine.waitingForChange > 0 || engine.mailbox.withLock { !$0.vectors.isEmpty } || isDone.withLock { $0 }
            }
            #expect(!isDone.withLock { $0 })
            released.signal()
            #expect(try await vectors.value.count == 2)
            try await load.value
            await engine.unload()
        }
    }
}
#endif
