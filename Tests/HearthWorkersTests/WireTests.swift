import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthWorkers

@Suite struct WireTests {
    private static var messages: [ChatMessage] {
        get throws {
            let call = ToolCall(id: "call00001", name: "look", arguments: #"{"at": "the sky"}"#, spelling: "<look>")
            return [
                ChatMessage(.system, "Be brief."),
                ChatMessage(
                    .user, "What is this? 日本 \u{0} é", images: [try ChatImage(TestPictures.png(width: 2, height: 2))]),
                ChatMessage(.assistant, "", thinking: "hm", toolCalls: [call]), ChatMessage(result: "blue", of: call),
            ]
        }
    }

    private static var options: GenerationOptions {
        var options = GenerationOptions(
            sampling: SamplingOptions(
                temperature: 0.1, seed: 7, topK: 40, topP: 0.9, minP: 0.1, repeatPenalty: 1.1, frequencyPenalty: -1,
                presencePenalty: 2, penaltyWindow: 3),
            maximumNewTokens: 9, timeout: .milliseconds(1500), stopStrings: ["", "END"],
            thinking: ThinkingOptions(
                isEnabled: false, maximumTokens: 4, maximumTime: .seconds(2), answerTokens: 5, answerTime: .zero,
                lastWords: "so"),
            constraint: OutputConstraint(blocks: [
                OutputConstraint.Block("EVENT:", .jsonSchema("{}"), closing: "\n", endsAnswer: true),
                OutputConstraint.Block("", .gbnf("root ::= \"a\"")),
            ]))
        options.sampling.logitBias = [3: -.infinity, 9: 2]
        options.thinking.tags = [.think, .seed]
        options.tools = [ToolDefinition(name: "look", description: "Looks.", parameters: "{}")]
        options.promptTokens = [1, 2, 300]
        (options.usesChatTemplate, options.keepsAllMessages, options.reusesPrompt) = (false, true, false)
        (options.window, options.leastAnswer) = (512, 64)
        options.continuesLastMessage = true
        var repetition = RepetitionRule()
        (repetition.shortest, repetition.longest, repetition.count, repetition.tokens) = (2, 33, 4, 5)
        options.repetition = repetition
        options.ownInstructions = 77
        options.toolChoice = .named("look")
        options.tokenReports = TokenReports(alternatives: 3, isAfterSampling: true)
        return options
    }

    private static var orders: [EngineOrder] {
        get throws {
            [
                .open([1, 2, 3]), .generate(try messages, options), .prepare(try messages, GenerationOptions()),
                .embed(["a", ""]), .tokenize("text", controlTokens: true, wholePrompt: false, limit: 7),
                .count(try messages),
                .pieces([1, 2]), .rendered(try messages, options), .unload, .cancel, .answerNow, .work([9]), .forget,
            ]
        }
    }

    private static var replies: [EngineReply] {
        var summary = GenerationSummary(
            reason: .stopString,
            usage: TokenUsage(promptTokens: 9, cachedTokens: 3, generatedTokens: 5, thinkingTokens: 1),
            timings: GenerationTimings(
                firstTokenSeconds: 0.5, prefillTokensPerSecond: 10, decodeTokensPerSecond: 20))
        (summary.cacheMiss, summary.stopString, summary.droppedBytes) = (.parted, "END", 2)
        let chance = TokenReport.Chance(token: 4, bytes: [0xE6], logProbability: -0.5)
        var information = ModelInformation(description: "tiny", contextLength: 512)
        (information.parameterCount, information.embeddingLength) = (1000, 8)
        return [
            .hello(1), .progress(0.5),
            .events([
                (1, .phase(.loading(fraction: 0.5))), (2, .phase(.connecting)),
                (1, .phase(.prefill(done: 1, total: 2))),
                (1, .phase(.decode)), (1, .truncated(dropped: 2)), (1, .picturesLeftOut(count: 1)),
                (1, .token(TokenReport(chosen: chance, alternatives: [chance], isThinking: true))),
                (1, .thinking("hm")),
                (1, .text("é")), (1, .toolCall(ToolCall(id: "1", name: "look", arguments: "{}"))),
            ]),
            .done(.done), .done(.opened(information, [.schema, .tools])), .done(.summary(summary)),
            .done(.vectors([[0.5, -1], []])), .done(.tokens([0, 7])), .done(.count(3)), .done(.pieces([[1], []])),
            .done(.rendered("<|im_start|>", 4)), .done(.content([1])), .failed(CancellationError()),
            .failed(
                LLMError(
                    .busy, "full", context: ErrorContext(model: "m", remedy: "Wait."), disposition: .tryLater)),
            .pulse([CallWatch.Call(kind: .step, wallSeconds: 1, processorSeconds: 2, silentSeconds: 3, bytes: 4)]),
            .log(.warning, name: "llama.memory", message: "a smaller window"),
        ]
    }

    @Test func ordersArriveAsTheyWere() throws {
        for order in try Self.orders {
            let message = order.message(77)
            let read = try EngineOrder.read(message)
            #expect(read.number == 77)
            #expect(read.order.message(77) == message)
        }
        guard case .generate(let messages, let options) = try EngineOrder.read(Self.orders[1].message(1)).order else {
            Issue.record("another order")
            return
        }
        #expect(messages == (try Self.messages) && messages.map(\.id).count == 4)
        #expect(options == Self.options)
    }

    @Test func repliesArriveAsTheyWere() throws {
        for reply in Self.replies {
            let message = reply.message(77)
            let read = try EngineReply.read(message)
            #expect(read.number == 77)
            #expect(read.reply.message(77) == message)
        }
    }

    /// Numbers that a server would divide by, convert or allocate.
    @Test(arguments: [-1, .nan, .infinity, 1e300, 1e-300, -0.5] as [Double]) func impossibleAmountsAreRefused(
        amount: Double
    ) throws {
        var message = EngineReply.pulse([
            CallWatch.Call(kind: .step, wallSeconds: 1, processorSeconds: 2, silentSeconds: 3, bytes: 4)
        ])
        .message()
        message.replaceSubrange(10..<18, with: withUnsafeBytes(of: amount.bitPattern.littleEndian, Array.init))
        #expect(throws: WireError.self) { try EngineReply.read(message) }
    }

    @Test(arguments: [1 << 23, 1 << 31, .max] as [Int]) func impossibleFactsAreRefused(number: Int) throws {
        var window = ModelInformation(description: "evil", contextLength: number)
        var slots = ModelInformation(description: "evil", contextLength: 512)
        slots.parallelAnswers = number
        window.embeddingLength = 1
        for facts in [window, slots] {
            let message = EngineReply.done(.opened(facts, [])).message()
            #expect(throws: WireError.self) { try EngineReply.read(message) }
        }
    }

    /// Every message cut short, and every message with something behind it.
    @Test func aPartIsNoMessage() throws {
        let whole = try Self.orders.map { $0.message(1) }
        for message in whole {
            for length in 0..<min(message.count, 400) {
                #expect(throws: WireError.self) { try EngineOrder.read(Array(message.prefix(length))) }
            }
            #expect(throws: WireError.self) { try EngineOrder.read(message + [0]) }
        }
        for reply in Self.replies {
            let message = reply.message(1)
            for length in 0..<message.count {
                // A list of events may end after each of them.
                if case .events = reply, (try? EngineReply.read(Array(message.prefix(length)))) != nil { continue }
                #expect(throws: WireError.self) { try EngineReply.read(Array(message.prefix(length))) }
            }
        }
    }

    /// Single changed bytes never trap, and what is read holds the promises.
    @Test func changedBytesAreReadOrRefused() throws {
        var generator = SystemRandomNumberGenerator()
        for reply in Self.replies {
            let message = reply.message(1)
            for place in message.indices {
                var changed = message
                changed[place] = UInt8.random(in: 0...255, using: &generator)
                guard let read = try? EngineReply.read(changed) else { continue }
                if case .done(.summary(let summary)) = read.reply {
                    #expect(summary.usage.cachedTokens <= summary.usage.promptTokens)
                    #expect(summary.usage.promptTokens >= 0 && summary.timings.firstTokenSeconds.isFinite)
                }
            }
        }
    }

    @Test(arguments: [
        [4, 0, 0, 0, 0, 3] + [255, 255, 255, 255], [4, 0, 0, 0, 0, 6] + [255, 255, 255, 127],
        [6, 0, 0, 0, 0] + [255, 255, 255, 255], [3, 0, 0, 0, 0, 1, 0, 0, 0, 6], [2, 0, 0, 0, 0, 0, 0, 192, 127],
        [4, 0, 0, 0, 0, 5] + [UInt8](repeating: 255, count: 8), [3, 0, 0, 0, 0, 1, 0, 0, 0, 8, 1, 0, 0, 0, 0xFF], [9],
        [],
    ])
    func liesAreRefused(bytes: [UInt8]) {
        #expect(throws: WireError.self) { try EngineReply.read(bytes) }
    }

    @Test func wordsForPeopleHaveNoControls() throws {
        let error = LLMError(.generateFailed, "a\u{1B}[2Jb\u{7}c")
        guard case .failed(let read) = try EngineReply.read(EngineReply.failed(error).message()).reply else {
            Issue.record("another reply")
            return
        }
        #expect((read as? LLMError)?.message == "a[2Jbc")
    }
}
