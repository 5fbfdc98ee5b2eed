#if Llama
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Synchronization
import Testing

extension RealModel {
    /// A caller that is cancelled while it waits for another operation gets the error at once.
    @Suite struct CancelledWaits {
        private static let configuration = LlamaConfiguration(contextLength: 1024, threadCount: 1, stateBytes: 0)

        private func until(_ condition: () -> Bool) async { while !condition() { await Task.yield() } }

        /// Starts an operation and cancels it once it waits.
        private func cancelled<Result: Sendable>(
            _ body: @escaping @Sendable () async throws -> Result, once waits: () -> Bool
        ) async {
            let task = Task { try await body() }
            await until(waits)
            task.cancel()
            await #expect(throws: CancellationError.self) { _ = try await task.value }
        }

        @Test func aLoadForTheOneBeforeIt() async throws {
            let engine = LlamaActor(configuration: Self.configuration)
            let load = await BesideALoad.StoppedLoad(engine, .text)
            await cancelled {
                try await engine.load(TestModel.path, role: .vision)
            } once: {
                engine.waitingForChange == 1
            }
            #expect(load.isStopped && engine.waitingForChange == 0)
            try await load.release()
            // The cancelled load left no model, and the next load runs.
            #expect(throws: LLMError.self) { try engine.modelInformation(.vision) }
            try await engine.load(TestModel.path(.window), role: .vision)
            #expect(try await Answer(engine.generate(capitalOfFrance, options: .greedy())).text.contains("Paris"))
            await engine.unload()
        }

        @Test func vectorsForAModelBeingRead() async throws {
            let engine = LlamaActor(configuration: Self.configuration)
            let load = await BesideALoad.StoppedLoad(engine, .text)
            await cancelled {
                try await engine.embed(["a"])
            } once: {
                engine.waitingForChange > 0
            }
            #expect(load.isStopped)
            try await load.release()
            #expect(try await engine.embed(["a"]).count == 1)
            await engine.unload()
        }

        /// Texts are computed in steps: an unload runs after the current step, independently of the number of
        /// waiting texts.
        @Test func anUnloadWaitsForOneStepAtMost() async throws {
            let engine = try await LlamaActor.load(TestModel.path, configuration: Self.configuration)
            let made = Locked(0)
            let texts = Locked<[Task<Void, any Error>]>([])
            let unload = Locked<Task<Void, Never>?>(nil)
            await engine.whileOccupied {
                for index in 0..<8 {
                    let text = Task {
                        _ = try await engine.embed(["text \(index)"])
                        made.withLock { $0 += 1 }
                    }
                    texts.withLock { $0.append(text) }
                }
                await until { engine.mailbox.withLock { $0.vectors.count == 8 } }
                unload.withLock { $0 = Task { await engine.unload() } }
                await until { engine.executor.hasWaitingJobs }
            }
            await unload.withLock { $0 }?.value
            for text in texts.withLock({ $0 }) {
                do { try await text.value } catch let error as LLMError {
                    #expect(error.code == .modelNotLoaded)
                }
            }
            #expect(made.withLock { $0 } <= 1)
        }

        @Test func vectorsForTheEnginesThread() async throws {
            let engine = try await LlamaActor.load(TestModel.path, configuration: Self.configuration)
            await engine.whileOccupied {
                await cancelled {
                    try await engine.embed(["a"])
                } once: {
                    engine.mailbox.withLock { !$0.vectors.isEmpty }
                }
            }
            #expect(try await engine.embed(["a"]).count == 1)
            await engine.unload()
        }

        /// The load runs after the current step, finds its cancellation, and changes no model.
        @Test func aLoadForTheEnginesThread() async throws {
            let engine = try await LlamaActor.load(TestModel.path, configuration: Self.configuration)
            let before = try engine.answering(.text).weights
            var load: Task<Void, any Error>?
            await engine.whileOccupied {
                load = Task { try await engine.load(TestModel.path) }
                await until { engine.executor.hasWaitingJobs }
                load?.cancel()
            }
            await #expect(throws: CancellationError.self) { try await load?.value }
            #expect(try engine.answering(.text).weights === before)
            await engine.unload()
        }

        /// A cancelled count also leaves no work in the queue.
        @Test(.timeLimit(.minutes(10)))
        func countsBehindAnother() async throws {
            let engine = try await LlamaActor.load(TestModel.path(.window), configuration: Self.configuration)
            let old = Weak(try engine.answering(.text).weights)
            await engine.texts.short.turn {
                for _ in 0..<20 {
                    await cancelled {
                        try await engine.count(capitalOfFrance)
                    } once: {
                        engine.texts.short.waitingCount == 1
                    }
                    #expect(engine.texts.short.waitingCount == 0)
                }
                let late = Task { try await engine.count(capitalOfFrance) }
                await until { engine.texts.short.waitingCount == 1 }
                await engine.unload()
                // A waiting caller does not keep the model in memory.
                #expect(old.weights == nil)
                late.cancel()
                await #expect(throws: CancellationError.self) { _ = try await late.value }
            }
        }

        private final class Weak: @unchecked Sendable {
            weak var weights: ModelWeights?
            init(_ weights: ModelWeights) { self.weights = weights }
        }

        @Test func aCountOfTokens() async throws {
            let engine = try await SharedEngine.engine
            let counts: [@Sendable () async throws -> Int] = [
                { try await engine.tokenize("a").count },
                { try await engine.count(capitalOfFrance) },
            ]
            for count in counts {
                #expect(try await count() > 0)
                let task = Task {
                    await until { Task.isCancelled }
                    return try await count()
                }
                task.cancel()
                await #expect(throws: CancellationError.self) { _ = try await task.value }
            }
        }
    }
}
#endif
