#if Llama
import CLlama
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

extension RealModel {
    /// The thinking options that reach the engine.
    @Suite struct ThinkingLimits {
        /// Only the test advances the clock, so that no other limit ends the thinking.
        @Test func theTimeAllowedEndsItWithTheLastWords() async throws {
            let clock = ManualClock()
            let (stream, continuation) = AsyncThrowingStream<GenerationEvent, any Error>.makeStream()
            try await blocking {
                let model = try LoadedModel(
                    path: TestModel.path(.thinking),
                    configuration: LlamaConfiguration(contextLength: 512, threadCount: 1, sequences: 1),
                    progress: { _ in true })
                let loop = GenerationLoop(model, load: CoreLoad(), time: clock.time)
                let options = GenerationOptions(
                    sampling: .greedy, maximumNewTokens: 80,
                    thinking: ThinkingOptions(maximumTime: .seconds(5), lastWords: "That is enough."))
                let request = GenerationRequest(
                    role: .text, messages: [ChatMessage(.user, "Write a very long story about a fox.")],
                    options: options, signal: StopSignal(), stopwatch: clock.time.stopwatch(),
                    reply: GenerationReply(continuation))
                #expect(loop.admit(request) == .begun)
                let run = try #require(loop.runs.first)
                let end = try model.vocabulary.tokens(
                    of: "\n\nThat is enough.\n</think>\n\n", addSpecial: false, parseSpecial: true)
                func isClosed() -> Bool {
                    let said = model.sequences.ledger(0).dropFirst(run.prompt.ledger.count)
                    return said.indices.contains { said[$0...].starts(with: end) }
                }
                while run.phase == .prefill { _ = loop.step() }
                for _ in 0..<6 { _ = loop.step() }
                clock.advance(by: .milliseconds(4999))
                for _ in 0..<6 { _ = loop.step() }
                #expect(!isClosed())
                clock.advance(by: .milliseconds(1))
                // One token that was chosen before, and the end.
                for _ in 0..<2 { _ = loop.step() }
                #expect(isClosed())
                while !loop.runs.isEmpty { _ = loop.step() }
            }
            let answer = try await Answer(stream)
            #expect(!answer.thinking.isEmpty && !answer.thinking.contains("enough"))
            #expect(!answer.text.isEmpty)
        }

        private static let template = """
            {% for message in messages %}<|im_start|>{{ message.role }}
            {{ message.content }}<|im_end|>
            {% endfor %}<|im_start|>assistant
            {% if not enable_thinking %}<think>

            </think>

            {% endif %}
            """

        @Test func theTemplateIsToldWhetherItMayThink() async throws {
            let template = try ChatTemplate(model: nil, source: Self.template)
            let question = [ChatMessage(.user, "Why?")]
            let thinking = try template.render(question, enableThinking: true).text
            let plain = try template.render(question, enableThinking: false).text
            #expect(!thinking.contains("<think>") && plain.contains("</think>"))
            // The same with the button.
            let engine = try await LlamaActor.load(
                TestModel.path(.window),
                configuration: LlamaConfiguration(
                    contextLength: 512, threadCount: 1, chatTemplate: Self.template))
            func tokens(_ thinking: ThinkingOptions) async throws -> Int {
                let options = GenerationOptions(sampling: .greedy, maximumNewTokens: 1, thinking: thinking)
                return try #require(try await Answer(engine.generate(question, options: options)).summary)
                    .usage.promptTokens
            }
            #expect(try await tokens(.disabled) > tokens(ThinkingOptions()) + 2)
        }
    }
}
#endif
