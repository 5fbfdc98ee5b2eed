import Foundation
import HearthBase
import HearthInference
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// What the assistant tells models of each size.
@Suite struct PromptFormTests {
    @Test(
        arguments: [
            (134_515_008, 8192, .plain), (999_999_999, 131_072, .plain), (1_000_000_000, 8192, .short),
            (1_711_376_384, 8192, .short), (3_000_000_000, 4096, .short), (3_000_000_001, 4096, .full),
            (8_030_261_248, 4095, .plain), (1_711_376_384, 2048, .plain), (nil, 4096, .full), (nil, 128_000, .full),
        ] as [(UInt64?, Int, PromptForm)])
    func theModelDecides(parameters: UInt64?, window: Int, expected: PromptForm) {
        var information = ModelInformation(description: "m", contextLength: window)
        information.parameterCount = parameters
        #expect(PromptForm(for: information) == expected)
    }

    @Test(
        arguments: [
            ("hi", [], []),
            ("Why is the sky blue?", [], []),
            ("Remind me tomorrow at nine to call Anna", [.reminder], ["now", "facts"]),
            ("Erinnere mich morgen um neun an Anna", [.reminder], ["now", "calendar", "facts"]),
            ("What is on today?", [], ["now", "calendar"]),
            ("Was steht heute an?", [], ["now", "calendar"]),
            ("Lunch with Ben on Friday at noon", [.calendar], ["now"]),
            ("Trag das Treffen am Freitag ein", [.calendar], ["now"]),
            ("Which notes mention the plumber?", [.note], []),
            ("Notiere: Milch kaufen", [.note], []),
            ("What is Anna's number?", [.contactsSearch], []),
            ("Wie ist die Telefonnummer von Jürgen?", [.contactsSearch], []),
            ("What's the latest news about Swift?", [.webSearch], []),
            ("Such das im Internet", [.webSearch], []),
            ("Log that I went running", [.habit], ["now", "facts"]),
            ("Welche Aufgaben sind fällig?", [], ["reminders"]),
            ("WHAT IS DUE?", [], ["reminders"]),
            ("fa\u{308}llig", [], ["reminders"]),
            ("water the fern", ["WATER_PLANT"], []),
            ("the notebook is an eventful remainder", [], []),
            ("", [], []), ("\u{0}\u{202E} 🧵🧵", [], []),
        ] as [(String, [ActionTag], [String])])
    func wordsSuggestBlocks(question: String, tags: [ActionTag], sections: [String]) {
        let words = PromptWords(of: question, offered: ActionTag.order + ["WATER_PLANT"])
        #expect(words.tags == tags)
        let expected = Set(sections)
        // "tomorrow" also asks for the calendar.
        #expect(
            expected.isSubset(of: words.sections) && words.sections.subtracting(expected).isSubset(of: ["calendar"]))
        #expect(PromptWords(of: question, offered: []).tags.isEmpty)
    }

    private struct Fixed: PromptSource {
        var sections: [PromptSection]
        func sections(at moment: PromptMoment) async throws -> [PromptSection] { sections }
    }

    private func build(
        _ form: PromptForm, _ question: String, act: ActionTag? = nil, records: [PromptSection] = []
    ) async throws -> PromptBuilder.Prompt {
        let moment = PromptMoment(
            now: Date(timeIntervalSince1970: 1_795_500_000),
            timeZone: try #require(TimeZone(identifier: "Europe/Berlin")), locale: Locale(identifier: "de_DE"))
        let actions = [ActionTag.reminder, .note, .calendar].map {
            PromptAction(tag: $0, line: "long \($0)", shortLines: ["short \($0)", "more of \($0)"])
        }
        return await PromptBuilder(actions: actions, sources: [MomentSource(), Fixed(sections: records)])
            .build(form, of: question, act: act, at: moment, history: [], window: 8192, meter: TokenMeter(nil))
    }

    @Test func theSmallestFormIsEmptyUnlessAnActionIsAsked() async throws {
        #expect(try await build(.plain, "Remind me") == PromptBuilder.Prompt(system: "", tail: ""))
        let asked = try await build(.plain, "Remind me", act: .reminder)
        #expect(asked.system.isEmpty && asked.tags == [.reminder])
        #expect(asked.tail.contains("short REMINDER_ACTION") && asked.tail.contains("<now>"))
        #expect(!asked.tail.contains("NOTE_ACTION"))
    }

    @Test func theShortFormHasWhatTheQuestionSuggests() async throws {
        let records = [
            PromptSection(name: "calendar", text: "16:00 Stand-up", priority: 60),
            PromptSection(name: "reminders", text: "Water", priority: 50),
            PromptSection(name: "weather", text: "Sunny"),
        ]
        let identity = AssistantTexts().shortIdentity
        let greeting = try await build(.short, "hi", records: records)
        #expect(greeting.system == identity && greeting.tags.isEmpty)
        // The section of an app is part of each prompt.
        #expect(greeting.tail == "<weather>\nSunny\n</weather>")
        let agenda = try await build(.short, "What is on today?", records: records)
        #expect(agenda.system == identity)
        #expect(PromptMarks.sections(in: agenda.tail).map(\.name) == ["now", "calendar", "weather"])
        let note = try await build(.short, "Make a note", records: records)
        #expect(note.tags == [.note] && note.tail.contains("short NOTE_ACTION") && !note.tail.contains("<now>"))
        let act = try await build(.short, "Make a note", act: .calendar)
        #expect(act.tags == [.calendar, .note])
    }

    @Test func longRecordsAreCutToTheShortForm() async throws {
        let lines = (0..<80).map { "2026-11-24 16:00-17:00 Stand-up number \($0)" }.joined(separator: "\n")
        let records = [PromptSection(name: "calendar", text: lines, priority: 60, source: "team <evil>")]
        let prompt = try await build(.short, "What meetings are on my calendar this week?", records: records)
        let tokens = TokenMeter.estimate(prompt.system) + TokenMeter.estimate(prompt.tail)
        #expect(tokens <= PromptForm.shortTokens)
        #expect(prompt.tail.contains("<now>") && !prompt.tail.contains("<evil>"))
    }
}

/// Conversations with small models.
@Suite struct SmallModelTests {
    private static let answer: [ScriptedEngine.Step] = [.text("Hello"), .finish(.endOfGeneration)]

    private func notices(_ events: [ChatEvent]) -> [String] {
        events.compactMap { if case .notice(let text) = $0 { text } else { nil } }
    }

    @Test func aSmallModelGetsTheConversationAloneAndOneNotice() async throws {
        let fixture = ChatFixture(
            [Self.answer, Self.answer], capabilities: [.grammar], parameters: 134_515_008)
        let text = AssistantTexts.filled(AssistantTexts().withoutActions, "scripted")
        #expect(notices(await fixture.send("Make a note today")) == [text])
        #expect(notices(await fixture.send("And another")) == [])
        #expect(await fixture.engine.requests.last?.map(\.content) == ["Make a note today", "Hello", "And another"])
        #expect(await fixture.engine.options.allSatisfy { $0.constraint == nil && $0.tools.isEmpty })
    }

    @Test func anAskedActionIsDescribedAndForced() async throws {
        let fixture = ChatFixture([Self.answer], capabilities: [.grammar], parameters: 134_515_008)
        #expect(notices(await fixture.send("List them", act: .note)).isEmpty)
        let sent = try #require(await fixture.engine.requests.last)
        #expect(sent.count == 1 && sent[0].content.hasPrefix("List them\n\n"))
        #expect(sent[0].content.contains("[NOTE_ACTION:") && sent[0].content.hasSuffix("NOTE_ACTION block only."))
        #expect(await fixture.engine.options.last?.constraint?.coversAnswer == true)
    }

    @Test func theSettingInsistsOnTheWholePrompt() async throws {
        var settings = ChatSettings()
        settings.instructsSmallModels = true
        let fixture = ChatFixture([Self.answer], settings: settings, parameters: 134_515_008)
        #expect(notices(await fixture.send("hi")).isEmpty)
        #expect(await fixture.engine.requests.last?.first?.content.hasPrefix(AssistantTexts().identity) == true)
    }

    @Test func theShortFormOffersTheSuggestedActionsOnly() async throws {
        let fixture = ChatFixture(
            [Self.answer, Self.answer], capabilities: [.grammar], parameters: 1_711_376_384)
        #expect(notices(await fixture.send("hi")).isEmpty)
        #expect(await fixture.engine.options.last?.constraint == nil)
        await fixture.send("Make a note")
        #expect(await fixture.engine.options.last?.constraint?.blocks.map(\.opening) == ["[NOTE_ACTION:"])
        #expect(await fixture.engine.requests.last?.first?.content == AssistantTexts().shortIdentity)
    }

    @Test func anAnswerThatRepeatsItselfIsCut() async throws {
        let block = #"[NOTE_ACTION:{"action":"change","title":"x"}]"#
        let fixture = ChatFixture([[.text("so so so " + block), .finish(.repeating)]], capabilities: [.grammar])
        let events = await fixture.send("Go")
        #expect(notices(events) == [AssistantTexts().repeating])
        #expect(events.finished.first?.facts?.finish == .repeating)
        #expect(events.finished.first?.cards.map(\.state) == [.notCarriedOut])
    }
}
