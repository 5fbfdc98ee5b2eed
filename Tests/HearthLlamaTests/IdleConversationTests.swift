#if Llama
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    @Suite struct IdleConversationTests {
        /// A step also passes over the cells of idle conversations in the context.
        @Test(arguments: [1 << 30, 0])
        func leaveTheContextIfThereIsMemoryForThem(savedBytes: UInt64) throws {
            let model = try LoadedModel(
                path: TestModel.path(.window),
                configuration: LlamaConfiguration(
                    contextLength: 512, threadCount: 1, stateBytes: 0, sequences: 2),
                progress: { _ in true })
            let memory = ConversationMemory(model, maker: "m", savedBytes: savedBytes)
            func turn(_ prompt: Prompt) throws -> ConversationMemory.Place {
                let place = try #require(memory.place(prompt, need: 128))
                let rest = prompt.ledger[place.plan.reused...]
                var batch = TokenBatch(capacity: rest.count)
                batch.append(rest, at: place.plan.reused, of: place.sequence, outputs: .last)
                try #require(model.sequences.context.decode(batch) == 0)
                model.sequences.didCompute(rest, in: place.sequence)
                memory.end(place.sequence)
                return place
            }
            let fox = Prompt([.tokens(Array(2..<122))], text: "")
            let bear = Prompt([.tokens((2..<122).reversed())], text: "")
            let first = try turn(fox)
            let second = try turn(bear)
            #expect(first.plan.reused == 0 && second.plan.reused == 0)
            #expect(model.sequences.ledger(first.sequence).isEmpty == (savedBytes > 0))
            // Both conversations are reused.
            let again = try turn(fox)
            #expect(again.plan.reused == 119)
            #expect(model.sequences.ledger(again.sequence) == fox.ledger)
            #expect(try turn(bear).plan.reused == 119)
        }
    }
}
#endif
