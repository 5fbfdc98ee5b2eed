import Foundation
import HearthBase
import HearthInference
import Testing

@testable import HearthAssistant

/// The decisions of a turn, without engine, stores or clock.
@Suite struct TurnTests {
    private static let tags: [ActionTag] = [.webSearch, .note, .reminder]

    private func turn() -> Turn {
        Turn(AssistantMessage(id: "m", role: .assistant, date: Date(timeIntervalSince1970: 0)), tags: Self.tags)
    }

    static func ended(_ reason: FinishReason = .endOfGeneration) -> Turn.Event {
        .ended(
            GenerationSummary(
                reason: reason, usage: TokenUsage(promptTokens: 3, cachedTokens: 1, generatedTokens: 2),
                timings: GenerationTimings(
                    firstTokenSeconds: 0, prefillTokensPerSecond: 0, decodeTokensPerSecond: 0)))
    }

    static func card(_ state: ActionCard.State, _ tag: ActionTag = .webSearch) -> ActionCard {
        ActionCard(id: "k-\(tag)", tag: tag, title: "t", state: state, payload: #"{"query":"q"}"#)
    }

    /// The steps that follow, without what is only shown.
    private func steps(_ effects: [Turn.Effect]) -> [Turn.Effect] {
        effects.filter { if case .show = $0 { false } else { true } }
    }

    private func block(_ tag: ActionTag, _ payload: String, _ index: Int = 0, complete: Bool = true) -> ScannedBlock {
        ScannedBlock(tag: tag, payload: payload, index: index, isComplete: complete)
    }

    // MARK: Text and thinking

    @Test func thinkingEndsAtTheAnswerAndIsKept() {
        var turn = turn()
        #expect(turn.begin() == [.generate(.answer)])
        #expect(turn.handle(.thinking("hm")) == [.show(.thinking("hm"))])
        #expect(turn.message.isThinking)
        #expect(turn.handle(.text("Yes")) == [.show(.thinkingEnded), .show(.text("Yes"))])
        #expect(!turn.message.isThinking && turn.message.thinkingContent == "hm")
        #expect(turn.handle(Self.ended()) == [.end(.complete)])
        #expect(turn.message.content == "Yes" && turn.message.rawContent == nil && turn.hasEnded)
        #expect(turn.handle(.text("late")) == [])
    }

    @Test(arguments: [
        Turn.Event.stopped, .timedOut, .failed(FailureBody(code: "x", message: "Broken.")),
        Self.ended(.maximumNewTokens),
        Self.ended(),
    ])
    func thinkingEndsWithEveryEnd(_ end: Turn.Event) {
        var turn = turn()
        _ = turn.begin()
        _ = turn.handle(.thinking("hm"))
        let effects = turn.handle(end)
        #expect(effects.first == .show(.thinkingEnded))
        #expect(!turn.message.isThinking && turn.hasEnded)
    }

    @Test(arguments: [
        (Self.ended(.maximumNewTokens), AssistantTexts().cutShort),
        (Self.ended(.contextFull), AssistantTexts().cutShort),
        (Self.ended(.interrupted), AssistantTexts().interrupted),
        (Self.ended(.contentFilter), AssistantTexts().filtered),
        (Self.ended(.timedOut), AssistantTexts().timedOut), (.timedOut, AssistantTexts().timedOut),
    ])
    func aPartialAnswerStaysWithANotice(_ end: Turn.Event, _ notice: String) {
        var turn = turn()
        _ = turn.begin()
        _ = turn.handle(.text("Half an"))
        let effects = turn.handle(end)
        #expect(turn.message.content == "Half an" && turn.message.notices == [notice])
        #expect(effects.last == .end(.partial) && effects.contains(.show(.notice(notice))))
    }

    @Test(arguments: ["", "Half"]) func stopKeepsWhatCameAndIsNoError(_ text: String) {
        var turn = turn()
        _ = turn.begin()
        if !text.isEmpty { _ = turn.handle(.text(text)) }
        let effects = turn.handle(.stopped)
        #expect(steps(effects) == [.halt, .end(text.isEmpty ? .removed : .partial)])
        #expect(turn.message.notices.isEmpty && turn.message.content == text)
        #expect(turn.message.failure?.code == (text.isEmpty ? nil : Turn.stoppedCode))
    }

    @Test func anErrorStaysWithTheMessageAndNotInLaterPrompts() {
        var turn = turn()
        _ = turn.begin()
        _ = turn.handle(.text("Half"))
        _ = turn.handle(.failed(FailureBody(code: "generation-failed", message: "Broken.")))
        #expect(turn.message.content == "Half" && turn.message.rawContent == nil)
        #expect(turn.message.failure?.code == "generation-failed" && turn.message.isOpen == nil)
    }

    @Test func aMissingModelStaysWithTheEmptyMessage() {
        var turn = turn()
        _ = turn.begin()
        let failure = FailureBody(code: "model-not-loaded", message: "None.")
        #expect(turn.handle(.failed(failure)) == [.show(.failed(failure)), .end(.partial)])
        #expect(turn.message.content.isEmpty && turn.message.failure == failure)
    }

    @Test func anEmptyAnswerSaysSo() {
        var turn = turn()
        _ = turn.begin()
        #expect(turn.handle(Self.ended()).last == .end(.complete))
        #expect(turn.message.notices == [AssistantTexts().empty])
    }

    @Test func aDeletedMessageEndsTheTurn() {
        var turn = turn()
        _ = turn.begin()
        _ = turn.handle(.text("x"))
        #expect(turn.handle(.gone) == [.halt, .end(.gone)])
        #expect(turn.handle(.text("y")) == [])
    }

    // MARK: Blocks

    @Test func blocksAreHiddenAndCarriedOutAfterTheEnd() {
        var turn = turn()
        _ = turn.begin()
        #expect(turn.handle(.text("Noted. [NOTE_ACT")) == [.show(.text("Noted."))])
        #expect(turn.handle(.text(#"ION:{"a":1}]"#)) == [])
        let effects = turn.handle(Self.ended())
        #expect(steps(effects) == [.act([block(.note, #"{"a":1}"#)])])
        let outcome = ActionOutcome(
            cards: [Self.card(.done, .note)], results: [.init(tag: .note, text: "1. x", outsideSource: "contacts")])
        #expect(steps(turn.handle(.acted(outcome))) == [.end(.complete)])
        #expect(turn.message.rawContent == #"Noted. [NOTE_ACTION:{"a":1}]"#)
        #expect(turn.message.cards.map(\.state) == [.done])
        #expect(turn.message.results == [MessageResult(source: "contacts", text: "1. x")])
    }

    @Test(arguments: [Turn.Event.stopped, .timedOut, Self.ended(.maximumNewTokens), Self.ended(.interrupted)])
    func blocksOfAnIncompleteAnswerBecomeCards(_ end: Turn.Event) {
        var turn = turn()
        _ = turn.begin()
        _ = turn.handle(.text(#"a [NOTE_ACTION:{"a":1}] b [REMINDER_ACTION:{"x"#))
        let effects = steps(turn.handle(end)).filter { $0 != .halt }
        #expect(effects == [.shelve([block(.note, #"{"a":1}"#)])])
        #expect(steps(turn.handle(.shelved([Self.card(.notCarriedOut, .note)]))) == [.end(.partial)])
        #expect(turn.message.cards.map(\.state) == [.notCarriedOut])
    }

    @Test func aToolCallIsTheBlockItStandsFor() {
        var turn = turn()
        _ = turn.begin()
        _ = turn.handle(.text("Sure."))
        _ = turn.handle(.call(block(.note, #"{"a":1}"#)))
        #expect(steps(turn.handle(Self.ended(.toolCalls))) == [.act([block(.note, #"{"a":1}"#)])])
        _ = turn.handle(.acted(ActionOutcome(cards: [Self.card(.done, .note)])))
        #expect(turn.message.rawContent == #"Sure.[NOTE_ACTION:{"a":1}]"#)
    }

    // MARK: Repair

    @Test func aMalformedBlockIsANoteAndOneRepairPass() {
        var turn = turn()
        _ = turn.begin()
        _ = turn.handle(.text(#"Ok [NOTE_ACTION:{"a":1}] [REMINDER_ACTION:{"b":2}]"#))
        _ = turn.handle(Self.ended())
        let flaw = ActionOutcome.Malformed(block: block(.reminder, #"{"b":2}"#, 1), reason: "no title")
        #expect(steps(turn.handle(.acted(ActionOutcome(malformed: [flaw])))) == [.generate(.repair)])
        #expect(turn.message.notices == ["An action could not be read: no title."])
        #expect(turn.complaint.contains(#"[REMINDER_ACTION:{"b":2}] (no title)"#))
        // The model repeats everything: only the corrected tag runs, with its own key, and nothing is shown twice.
        #expect(turn.handle(.text(#"Ok [NOTE_ACTION:{"a":1}] [REMINDER_ACTION:{"b":3}]"#)) == [])
        let effects = steps(turn.handle(Self.ended()))
        #expect(effects == [.act([block(.reminder, #"{"b":3}"#, 1001)])])
        // A second flaw is not repaired again.
        #expect(steps(turn.handle(.acted(ActionOutcome(malformed: [flaw])))) == [.end(.complete)])
        #expect(turn.message.content == "Ok")
    }

    // MARK: Search

    private func searching() -> Turn {
        var turn = turn()
        _ = turn.begin()
        _ = turn.handle(.text(#"Let me look. [WEB_SEARCH:{"query":"q"}] [NOTE_ACTION:{"a":1}]"#))
        return turn
    }

    @Test func aSearchClearsTheMessageAndDropsOtherBlocks() {
        var turn = searching()
        #expect(steps(turn.handle(Self.ended())) == [.decide(block(.webSearch, #"{"query":"q"}"#))])
        let approved = Self.card(.proposed)
        #expect(
            turn.handle(.decided(approved, query: "q")) == [
                .show(.cleared), .show(.card(approved)), .search(approved, query: "q"),
            ])
        #expect(turn.message.content.isEmpty)
        let result = MessageResult(source: "web search x", text: "1. hit")
        let effects = turn.handle(.searched(Self.card(.done), results: [result]))
        #expect(steps(effects) == [.generate(.searched)])
        #expect(turn.written.contains("WEB_SEARCH"))
        // A second search in the turn is refused; other blocks of the second answer run.
        _ = turn.handle(.text(#"Found. [WEB_SEARCH:{"query":"more"}][NOTE_ACTION:{"b":1}]"#))
        #expect(steps(turn.handle(Self.ended())) == [.act([block(.note, #"{"b":1}"#, 1)])])
        #expect(turn.message.notices == [AssistantTexts().oneSearch])
        #expect(turn.message.results == [result] && turn.message.cards.map(\.state) == [.done])
    }

    @Test func aDeclinedSearchKeepsTheAnswerAndItsBlocks() {
        var turn = searching()
        _ = turn.handle(Self.ended())
        let effects = turn.handle(.decided(Self.card(.declined), query: nil))
        #expect(steps(effects) == [.act([block(.note, #"{"a":1}"#, 1)])])
        #expect(turn.message.content == "Let me look.")
    }

    @Test func aTurnHasAtMostThreePasses() {
        var turn = searching()
        _ = turn.handle(Self.ended())
        _ = turn.handle(.decided(Self.card(.proposed), query: "q"))
        _ = turn.handle(.searched(Self.card(.done), results: []))
        _ = turn.handle(.text(#"[NOTE_ACTION:{"a":1}]"#))
        _ = turn.handle(Self.ended())
        let flaw = ActionOutcome.Malformed(block: block(.note, #"{"a":1}"#), reason: "no title")
        #expect(steps(turn.handle(.acted(ActionOutcome(malformed: [flaw])))) == [.generate(.repair)])
        _ = turn.handle(.text(#"[NOTE_ACTION:{"a":2}]"#))
        _ = turn.handle(Self.ended())
        #expect(steps(turn.handle(.acted(ActionOutcome(malformed: [flaw])))) == [.end(.complete)])
        #expect(turn.facts?.usage.promptTokens == 9)
    }

    @Test func anUnusableSearchIsRepairedOnce() {
        var turn = turn()
        _ = turn.begin()
        _ = turn.handle(.text(#"[WEB_SEARCH:{"query":"#))
        let effects = turn.handle(Self.ended())
        #expect(steps(effects) == [.generate(.repair)])
        #expect(turn.message.notices.count == 1)
    }

    // MARK: Continuation

    @Test func anInterruptedAnswerContinuesInItsMessage() {
        var message = AssistantMessage(
            id: "m", role: .assistant, content: "One two", cards: [Self.card(.notCarriedOut, .note)],
            notices: [AssistantTexts().interrupted], date: Date(timeIntervalSince1970: 0))
        message.rawContent = nil
        var turn = Turn(message, tags: Self.tags)
        #expect(turn.resume(after: #"One [NOTE_ACTION:{"a":1}] two"#) == [.generate(.continuation)])
        #expect(turn.message.content == "One two" && turn.message.cards.isEmpty && turn.message.notices.isEmpty)
        _ = turn.handle(.text(" three"))
        #expect(steps(turn.handle(Self.ended())) == [.act([block(.note, #"{"a":1}"#)])])
        #expect(turn.message.content == "One two three")
    }
}
