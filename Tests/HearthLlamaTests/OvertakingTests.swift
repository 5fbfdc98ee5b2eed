#if Llama
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    @Suite struct Overtaking {
        /// A small request begins before an earlier one that has no room, and the earlier one begins at last.
        @Test func smallRequestsNeedNotWaitForALargeOne() async throws {
            let engine = try await LlamaActor.load(
                TestModel.path,
                configuration: LlamaConfiguration(contextLength: 512, threadCount: 1, sequences: 3))
            let order = Locked<[String]>([])
            @Sendable func ask(_ name: String, _ text: String, tokens: Int) async throws {
                var options = GenerationOptions.greedy(maximumNewTokens: tokens)
                options.keepsAllMessages = true
                let summary = try await engine.generate([ChatMessage(.user, text)], options: options) { event in
                    guard case .phase(.decode) = event else { return }
                    order.withLock { $0.append(name) }
                }
                #expect(summary.usage.generatedTokens > 0)
            }
            await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await ask("first", "Write a long story about a fox.", tokens: 300) }
                while !order.withLock({ $0.contains("first") }) { await Task.yield() }
                group.addTask { try await ask("large", StepBench.long("bear", sentences: 14), tokens: 250) }
                while engine.mailbox.withLock({ $0.waiting.count }) < 1 { await Task.yield() }
                group.addTask { try await ask("small", "Hello.", tokens: 4) }
                while order.withLock({ $0.count }) < 2 { await Task.yield() }
                #expect(order.withLock { $0 } == ["first", "small"])
                engine.stop()
                // The stopped requests end with an error.
                while let result = await group.nextResult() { _ = result }
            }
            try await ask("large", StepBench.long("bear", sentences: 14), tokens: 4)
            #expect(order.withLock { $0.last } == "large")
            await engine.unload()
        }

        @Test func aLackOfRoomIsToldFromALackOfSequences() async throws {
            try await blocking {
                let bench = try StepBench(sequences: 4, context: 1024)
                #expect(bench.loop.admit(bench.ask("Write a story.", tokens: 700)) == .begun)
                let large = bench.ask(StepBench.long("bear", sentences: 60), tokens: 300)
                #expect(bench.loop.admit(large) == .lacksRoom)
                for _ in 0..<3 { #expect(bench.loop.admit(bench.ask("Hello.", tokens: 4)) == .begun) }
                // All sequences are taken, which is another reason to wait.
                #expect(bench.loop.admit(bench.ask("Hello.", tokens: 4)) == .mustWait)
                bench.cancelAll()
                #expect(bench.loop.admit(large) == .begun)
                bench.cancelAll()
            }
        }
    }
}
#endif
