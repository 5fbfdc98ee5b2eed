import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthFoundationModels

/// Requests for mlx-swift-lm, and the events of its pieces.
@Suite struct MLXRequestTests {
    @Test func optionsAreThoseOfTheLibrary() throws {
        var options = GenerationOptions(
            sampling: SamplingOptions(temperature: 0.5, topK: 4, topP: 0.9, minP: 0.1, repeatPenalty: 1.1),
            maximumNewTokens: GenerationOptions.windowLength)
        options.thinking.isEnabled = false
        let request = try MLXRequest([ChatMessage(.user, "?")], options: options, readsPictures: false)
        #expect(request.maximumTokens == nil && request.temperature == 0.5 && request.topK == 4)
        #expect(request.topP == 0.9 && request.minP == 0.1 && request.repeatPenalty == 1.1)
        #expect(request.penaltyWindow == 64 && !request.thinks)
        let plain = try MLXRequest([], options: GenerationOptions(maximumNewTokens: 5), readsPictures: false)
        #expect(plain.maximumTokens == 5 && plain.topP == 1 && plain.topK == 0 && plain.minP == 0 && plain.thinks)
    }

    @Test func callsAndResultsAreText() throws {
        let call = ToolCall(id: "1", name: "clock", arguments: "{}")
        let request = try MLXRequest(
            [ChatMessage(.assistant, "", toolCalls: [call]), ChatMessage(result: "9", of: call)],
            options: GenerationOptions(), readsPictures: false)
        #expect(request.messages.map(\.role) == [.assistant, .user])
        #expect(request.messages[0].content.contains("clock") && request.messages[1].content.contains("9"))
    }

    @Test func picturesAreLeftOutForAModelThatReadsNone() throws {
        let picture = try ChatImage(Array(TestPictures.jpeg))
        let messages = [ChatMessage(.user, "?", images: [picture, picture])]
        let blind = try MLXRequest(messages, options: GenerationOptions(), readsPictures: false)
        #expect(blind.picturesLeftOut == 2 && blind.messages[0].images.isEmpty)
        let seeing = try MLXRequest(messages, options: GenerationOptions(), readsPictures: true)
        #expect(seeing.picturesLeftOut == 0 && seeing.messages == messages)
    }

    @Test func shapesAreRefusedAndBlocksAreNot() throws {
        func code(_ constraint: OutputConstraint) -> String? {
            do {
                _ = try MLXRequest([], options: GenerationOptions(constraint: constraint), readsPictures: false)
                return nil
            } catch {
                return error.code.rawValue
            }
        }
        #expect(code(.jsonSchema("{}")) == "engine-missing" && code(.gbnf("root ::= \"a\"")) == "engine-missing")
        #expect(code(.jsonSchema("{}", after: ["EVENT:"])) == nil)
    }

    // MARK: Pieces

    private static func output(
        _ reader: AnswerReader, stopStrings: [String] = [], _ body: (StreamedOutput) -> GenerationSummary
    ) -> (events: [GenerationEvent], summary: GenerationSummary) {
        let events = Locked<[GenerationEvent]>([])
        let output = StreamedOutput(
            reader, stopStrings: stopStrings, watch: ManualClock().time.stopwatch()
        ) { event in events.withLock { $0.append(event) } }
        let summary = body(output)
        return (events.withLock { $0 }, summary)
    }

    @Test func thinkingIsToldApartFromTheAnswer() {
        let reader = AnswerReader(frame: AnswerFrame(tags: ThinkingTags.known))
        let (events, summary) = Self.output(reader) { output in
            for piece in ["<thi", "nk>Hm", "</think>", "\n\nYes"] { #expect(output.append(piece)) }
            return output.finish(.maximumNewTokens)
        }
        #expect(events == [.thinking("Hm"), .text("Yes")] && summary.reason == .maximumNewTokens)
    }

    @Test func anAnswerMayBeginInsideTheThinking() {
        let (events, _) = Self.output(AnswerReader(openedByPrompt: .think)) { output in
            _ = output.append("Hm</think>Yes")
            return output.finish(nil)
        }
        #expect(events == [.thinking("Hm"), .text("Yes")])
    }

    @Test func nothingFollowsAStopString() {
        let (events, summary) = Self.output(AnswerReader(stopStrings: ["END", "OWN"]), stopStrings: ["END"]) { output in
            #expect(output.append("a E") && !output.append("ND b") && !output.append("c"))
            return output.finish(nil)
        }
        #expect(events == [.text("a ")] && summary.reason == .stopString && summary.stopString == "END")
        let own = Self.output(AnswerReader(stopStrings: ["OWN"]), stopStrings: []) { output in
            _ = output.append("aOWN")
            return output.finish(nil)
        }
        #expect(own.summary.reason == .endOfGeneration && own.summary.stopString == nil)
    }

    @Test func aCallIsTheReasonOfTheEnd() {
        let call = ToolCall(id: "1", name: "clock", arguments: "{}")
        let (events, summary) = Self.output(AnswerReader()) { output in
            output.append(call)
            return output.finish(nil)
        }
        #expect(events == [.toolCall(call)] && summary.reason == .toolCalls)
    }
}
