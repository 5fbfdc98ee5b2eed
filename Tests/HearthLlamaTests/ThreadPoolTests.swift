#if Llama
import HearthBase
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    @Suite struct Threads {
        /// A computation pauses the threads of the one before it, so those must still exist.
        @Test(.timeLimit(.minutes(2))) func mayChangeInNumberBeforeEveryComputation() async throws {
            let computed = try await blocking {
                let weights = try ModelWeights(path: TestModel.light, configuration: LlamaConfiguration()) { _ in
                    true
                }
                var reason: UnsafeMutablePointer<CChar>?
                let shape = ModelContext.Shape(length: 512, batch: 32, chunk: 32, threads: 2)
                guard let context = ModelContext(weights, shape, reason: &reason) else { return 0 }
                var batch = TokenBatch(capacity: 1)
                for (position, count) in (0..<60).map({ ($0, 1 + $0 % 2) }) {
                    context.setThreadCount(count)
                    batch.removeAll()
                    batch.append([1], at: position, outputs: .last)
                    guard context.threadCount == count, context.decode(batch) == 0 else { return position }
                }
                return 60
            }
            #expect(computed == 60)
        }
    }
}
#endif
