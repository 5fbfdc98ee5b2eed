#if Llama
import CLlama
import HearthBase
import HearthInference
@testable import HearthLlama
import HearthTestSupport
import Testing

/// The writer of an answer whose every token the test chooses, by its logits.
private final class Dictation {
    private let model: LoadedModel
    private let writer: AnswerWriter
    private let outlet: AnswerOutlet
    private(set) var facts = GenerationFacts(promptTokens: 0)

    init(_ request: GenerationRequest, _ model: LoadedModel) throws {
        self.model = model
        let made = try PromptMaker(model).make(request)
        let prompt = made.prompt
        #expect((prompt.calls != nil) == !request.options.tools.isEmpty)
        outlet = AnswerOutlet(time: .system, request.reply.deliver)
        writer = try AnswerWriter(
            request, prompt: prompt,
            policy: StopPolicy(maximumNewTokens: 500, contextLength: 1000, timeout: .seconds(60)),
            weights: model.weights, outlet: outlet, constraint: made.constraint)
        // The values do not matter: the logits are replaced, and only have to exist.
        model.sequences.clear(0)
        var batch = TokenBatch(capacity: 1)
        batch.append([5], at: 0, outputs: .last)
        #expect(model.sequences.context.decode(batch) == 0)
    }

    /// The tokens that end the thinking in the model's place.
    var closing: [llama_token] { writer.closing }

    /// - Returns: the tokens to compute after each dictated one.
    @discardableResult
    func say(_ text: String) throws -> [[llama_token]] {
        try model.vocabulary.tokens(of: text, addSpecial: false, parseSpecial: true).map(say)
    }

    private func say(_ token: llama_token) throws -> [llama_token] {
        let logits = try model.sequences.context.logits(at: -1)
        let odds = UnsafeMutableBufferPointer(start: logits, count: model.vocabulary.count)
        odds.update(repeating: 0)
        odds[Int(token)] = 100
        let step = try writer.next(logits, usedContext: 10, &facts)
        guard case .compute(let tokens) = step else { return [] }
        return tokens
    }

    /// Shows the text that the reader holds.
    func end() { _ = writer.finish(&facts, reason: .endOfGeneration) }

    /// Shows the events that wait for the next piece.
    func handOver() { outlet.handOver() }
}

extension RealModel {
    /// The end of thinking that contains code.
    @Suite struct DictatedAnswers {
        private static let tool = ToolDefinition(
            name: "look", description: "Looks.", parameters: JSONSchema.object([.init("at", .string)]).json)

        private static func model(
            _ path: () throws -> Path, template: String? = nil
        ) -> Result<LoadedModel, any Error> {
            Result {
                try LoadedModel(
                    path: path(),
                    configuration: LlamaConfiguration(
                        contextLength: 1024, threadCount: 1, sequences: 1, chatTemplate: template),
                    progress: { _ in true })
            }
        }

        /// Loaded once: these tests run one after the other, and one thread at a time may use a model.
        private static let thinking = model { try TestModel.path(.thinking) }
        private static let calling = model({ TestModel.path }, template: ToolTemplates.hermes)

        /// The shown text of an answer.
        private func answer(
            _ options: GenerationOptions,
            by model: @autoclosure @escaping @Sendable () -> Result<LoadedModel, any Error>,
            _ body: @escaping @Sendable (Dictation) throws -> Void
        ) async throws -> Answer {
            let (stream, continuation) = AsyncThrowingStream<GenerationEvent, any Error>.makeStream()
            try await blocking {
                let model = try model().get()
                let request = GenerationRequest(
                    role: .text, messages: [ChatMessage(.user, "Why?")], options: options, signal: StopSignal(),
                    stopwatch: ManualClock().time.stopwatch(), reply: GenerationReply(continuation))
                let dictation = try Dictation(request, model)
                try body(dictation)
                dictation.handOver()
                continuation.finish()
            }
            return try await Answer(stream)
        }

        private func options(
            constraint: OutputConstraint? = nil, tools: [ToolDefinition] = [], control: ThinkingControl? = nil
        ) -> GenerationOptions {
            var options = GenerationOptions(
                sampling: .greedy, thinking: ThinkingOptions(answerTokens: 1, control: control),
                constraint: constraint)
            options.tools = tools
            return options
        }

        @Test func aMarkInCodeIsPartOfTheThinking() async throws {
            let answer = try await answer(options(), by: Self.thinking) { model in
                try model.say("Like\n```\nlet </think>\nvar\n```\nso.\n</think>\n\nYes.")
                model.end()
            }
            #expect(answer.thinking == "Like\n```\nlet </think>\nvar\n```\nso.")
            #expect(answer.text == "Yes.")
        }

        /// Thinking that repeats itself is closed in the model's place; the answer that repeats itself ends.
        @Test func repeatsEndTheThinkingAndThenTheAnswer() async throws {
            let circle = String(repeating: " so", count: 95)
            let answer = try await answer(options(), by: Self.thinking) { model in
                let thoughts = try model.say(circle)
                #expect(thoughts.count == 95 && !thoughts.contains([]))
                let last = try model.say(" so so")
                #expect(last.last == model.closing && last.first?.count == 1)
                let said = try model.say(circle + " so")
                #expect(said.firstIndex(of: []) == 95)
                model.end()
            }
            #expect(answer.thinking.hasSuffix("so so") && answer.text.hasSuffix("so so"))
        }

        /// Repeats in a block whose shape a grammar demands do not count, and neither do those before it.
        @Test func repeatsInABlockDoNotCount() async throws {
            let constraint = OutputConstraint(blocks: [.init("[N:", .gbnf(#"root ::= (" so")+"#), closing: "]")])
            let half = String(repeating: " so", count: 60)
            let answer = try await answer(options(constraint: constraint), by: Self.thinking) { model in
                let said = try model.say("</think>\n\n" + half + " [N:" + half + half + "]" + half + ".")
                #expect(!said.contains([]))
                model.end()
            }
            #expect(answer.text.hasSuffix("so."))
        }

        /// An answer with a grammar begins with the first character after the mark.
        @Test func theFirstMarkEndsItBeforeAnAnswerOfAGrammar() async throws {
            let options = options(constraint: .gbnf(#"root ::= "certainly""#))
            let answer = try await answer(options, by: Self.thinking) { model in
                try model.say("Like\n```\nlet </think>\n\nSure, of course.")
            }
            #expect(answer.thinking == "Like\n```\nlet")
            #expect(!answer.text.isEmpty && "certainly".hasPrefix(answer.text), "\(answer.text)")
        }

        @Test func theFirstMarkEndsItBeforeAnAnswerThatMayCall() async throws {
            let said = "<think>\nLike\n```\nlet </think>\n\nI look."
            for tools in [[], [Self.tool]] {
                let answer = try await answer(options(tools: tools), by: Self.calling) { try $0.say(said) }
                // Without tools, a mark in a line of code is part of the thinking.
                #expect(answer.text.hasPrefix("I look") == !tools.isEmpty, "\(answer.text)")
            }
        }

        /// Blocks stay active beside tools, each with its own shape, and a call may follow them.
        @Test func blocksAreHeldToTheirShapesBesideTools() async throws {
            let constraint = OutputConstraint(blocks: [
                .init("[N:", .gbnf("root ::= [0-9]+"), closing: "]"),
                .init("[W:", .gbnf("root ::= [a-z]+"), closing: "]"),
            ])
            let options = options(constraint: constraint, tools: [Self.tool])
            let called = try await answer(options, by: Self.calling) { model in
                try model.say("So [N:12] and [W:ab].\n")
                try model.say("<tool_call>\n{\"name\": \"look\", \"arguments\": {\"at\": \"me\"}}\n</tool_call>")
                model.end()
            }
            #expect(called.text.hasPrefix("So [N:12] and [W:ab]."), "\(called.text)")
            #expect(called.toolCalls.map(\.name) == ["look"], "\(called.text)")
            let refused = try await answer(options, by: Self.calling) { model in
                try model.say("So [N:")
                try model.say("x")
                model.end()
            }
            #expect(refused.text.hasPrefix("So [N:") && !refused.text.contains("x"), "\(refused.text)")
        }

        /// If the answer has begun when the user requests it, it continues, and no mark is written in the model's
        /// place.
        @Test func anAnswerThatMayHaveBegunIsTheAnswer() async throws {
            for hasBegun in [false, true] {
                let control = ThinkingControl()
                let answer = try await answer(options(control: control), by: Self.thinking) { model in
                    let said = "Like\n```\nlet\n" + (hasBegun ? "</think>\n\nI say" : "I think")
                    #expect(try model.say(said).allSatisfy { $0.count == 1 })
                    let count = model.facts.generatedTokens
                    control.answerNow()
                    let next = try #require(try model.say(" yes.").first)
                    #expect(model.closing.count > 1 && (next == model.closing) == !hasBegun)
                    #expect(model.facts.generatedTokens > count)
                    model.end()
                }
                #expect(answer.thinking == "Like\n```\nlet" + (hasBegun ? "" : "\nI think"))
                #expect(hasBegun ? answer.text == "I say yes." : !answer.text.contains("I"), "\(answer.text)")
            }
        }
    }
}
#endif
