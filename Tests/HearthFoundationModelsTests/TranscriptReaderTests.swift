import HearthInference
import HearthTestSupport
import Testing

@testable import HearthFoundationModels

/// Transcripts, whole and shortened, as the messages of a conversation.
@Suite struct TranscriptReaderTests {
    private static let call = ToolCall(id: "c1", name: "weather", arguments: #"{"city":"Paris"}"#)
    private static let other = ToolCall(id: "c2", name: "clock", arguments: "{}")

    private static func read(
        _ contents: [TranscriptEntry.Content], readsPictures: Bool = false
    ) throws -> [ChatMessage] {
        let entries = contents.enumerated().map { TranscriptEntry($0.element, id: "e\($0.offset)") }
        return try TranscriptReader.messages(of: entries, readsPictures: readsPictures)
    }

    private static func output(_ text: String, _ call: ToolCall) -> TranscriptEntry.Content {
        .toolOutput([.text(text)], call: call.id, tool: call.name)
    }

    private static func failure(_ contents: [TranscriptEntry.Content], readsPictures: Bool = false) -> RequestFailure? {
        do {
            _ = try read(contents, readsPictures: readsPictures)
            return nil
        } catch {
            return error as? RequestFailure
        }
    }

    @Test func eachKindOfEntryHasItsMessage() throws {
        let messages = try Self.read([
            .instructions([.text("Be brief."), .text("Be kind.")]), .prompt([.text("Weather and time?")]),
            .reasoning([.text("Two calls.")]), .response([.text("I look.")]), .toolCalls([Self.call, Self.other]),
            Self.output("sunny", Self.call), .toolOutput([.structure(#"{"h":9}"#)], call: "c2", tool: "clock"), .other,
            .reasoning([.text("Done.")]), .response([.structure(#"{"answer":"9"}"#)]),
        ])
        let calling = ChatMessage(.assistant, "I look.", thinking: "Two calls.", toolCalls: [Self.call, Self.other])
        #expect(
            messages == [
                ChatMessage(.system, "Be brief.\nBe kind."), ChatMessage(.user, "Weather and time?"), calling,
                ChatMessage(result: "sunny", of: Self.call), ChatMessage(result: #"{"h":9}"#, of: Self.other),
                ChatMessage(.assistant, #"{"answer":"9"}"#, thinking: "Done."),
            ])
        #expect(messages.map(\.id) == ["e0", "e1", "e3", "e5", "e6", "e9"])
    }

    @Test func callsWithoutTextAreAnAnswer() throws {
        let messages = try Self.read([
            .prompt([.text("?")]), .reasoning([.text("Look.")]), .toolCalls([Self.call]), Self.output("x", Self.call),
        ])
        #expect(messages[1] == ChatMessage(.assistant, "", thinking: "Look.", toolCalls: [Self.call]))
        #expect(messages[2].role == .tool && messages[2].toolCallID == "c1" && messages[2].toolName == "weather")
    }

    @Test func laterCallsAreAnswersOfTheirOwn() throws {
        let messages = try Self.read([
            .prompt([.text("?")]), .toolCalls([Self.call]), Self.output("x", Self.call), .toolCalls([Self.other]),
            Self.output("y", Self.other),
        ])
        #expect(messages.map(\.role) == [.user, .assistant, .tool, .assistant, .tool])
    }

    // MARK: Shortened transcripts

    @Test func aCallWithoutAResultIsLeftOut() throws {
        let messages = try Self.read([
            .prompt([.text("a")]), .response([.text("I look.")]), .toolCalls([Self.call, Self.other]),
            Self.output("9", Self.other), .prompt([.text("b")]),
        ])
        #expect(messages[1].toolCalls == [Self.other])
        let none = try Self.read([.prompt([.text("a")]), .toolCalls([Self.call]), .prompt([.text("b")])])
        #expect(none.map(\.content) == ["a", "b"])
    }

    @Test func aResultWithoutItsCallIsAMessageOfTheUser() throws {
        let messages = try Self.read([Self.output("sunny", Self.call), .prompt([.text("?")])])
        #expect(messages.map(\.role) == [.user, .user])
        #expect(messages[0].content.contains("sunny") && messages[0].toolCallID == nil)
        // The second result of a call has no call either.
        let twice = try Self.read([
            .toolCalls([Self.call]), Self.output("a", Self.call), Self.output("b", Self.call),
        ])
        #expect(twice.map(\.role) == [.assistant, .tool, .user])
    }

    @Test func thinkingWithoutAnAnswerIsDropped() throws {
        let messages = try Self.read([
            .prompt([.text("a")]), .reasoning([.text("lost")]), .prompt([.text("b")]), .response([.text("c")]),
        ])
        #expect(messages.last == ChatMessage(.assistant, "c"))
    }

    @Test(arguments: [[], [.other], [.reasoning([.text("alone")])]] as [[TranscriptEntry.Content]])
    func aTranscriptWithoutMessagesIsRefused(contents: [TranscriptEntry.Content]) {
        let places = Array(contents.indices)
        #expect(Self.failure(contents) == .unsupportedContent(places, "the transcript has no message"))
    }

    // MARK: Pictures and schemas

    @Test func picturesComeBeforeTheTextWithTheirLabels() throws {
        let picture = Array(TestPictures.jpeg)
        let messages = try Self.read(
            [.prompt([.text("Compare"), .picture(picture, label: "image-0"), .picture(picture), .text("please")])],
            readsPictures: true)
        #expect(messages[0].content == "Compare\n[image-0]\nplease")
        #expect(messages[0].images == [try ChatImage(picture), try ChatImage(picture)])
    }

    @Test func aPictureForAModelThatReadsNoneIsAMissingCapability() {
        let failure = Self.failure([.prompt([.picture(Array(TestPictures.jpeg))])])
        guard case .unsupportedCapability(.vision, _) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test(arguments: [TranscriptSegment.picture([1, 2, 3]), .unreadable])
    func contentThatCannotBeReadIsNamedByItsPlace(segment: TranscriptSegment) {
        let failure = Self.failure([.prompt([.text("a")]), .prompt([segment])], readsPictures: true)
        guard case .unsupportedContent([1], _) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test func aQuestionKeepsTheSchemaThatItWasShownWith() throws {
        let schema = #"{"type":"object","properties":{"b":{},"a":{}},"x-order":["a","b"]}"#
        let first = try Self.read([.prompt([.text("a")], schema: schema)])
        let later = try Self.read([
            .prompt([.text("a")], schema: schema), .response([.text("{}")]), .prompt([.text("b")]),
        ])
        #expect(first[0] == later[0], "the computed prefix stays valid")
        #expect(first[0].content.hasSuffix(#"{"type":"object","properties":{"a":{},"b":{}}}"#))
    }
}
