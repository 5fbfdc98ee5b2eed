import Foundation
import HearthBase
import HearthInference
import HearthRouting
import HearthTestSupport
import Testing

@testable import HearthAssistant

@Suite struct PromptBuilderTests {
    private struct Fixed: PromptSource {
        var sections: [PromptSection]
        func sections(at moment: PromptMoment) async throws -> [PromptSection] { sections }
    }

    private struct Broken: PromptSource {
        func sections(at moment: PromptMoment) async throws -> [PromptSection] {
            throw AssistantError(.unusableRecord, "broken")
        }
    }

    private func moment(_ seconds: TimeInterval = 0) throws -> PromptMoment {
        PromptMoment(
            now: Date(timeIntervalSince1970: 1_795_500_000 + seconds),
            timeZone: try #require(TimeZone(identifier: "Europe/Berlin")), locale: Locale(identifier: "de_DE"))
    }

    private func build(
        _ sources: [any PromptSource], history: [String] = [], window: Int = 8192,
        lines: [String] = ["[NOTE_ACTION:{}]"]
    ) async throws -> PromptBuilder.Prompt {
        let actions = lines.map { PromptAction(tag: .note, line: $0, shortLines: [$0]) }
        return try await PromptBuilder(actions: actions, sources: [MomentSource()] + sources)
            .build(at: moment(), history: history, window: window, meter: TokenMeter(nil))
    }

    @Test func whatChangesRarelyStandsInTheSystemMessageAndTheRestBehindTheQuestion() async throws {
        let facts = PromptSection(name: "facts", text: "Vegetarian", place: .instructions)
        let calendar = PromptSection(name: "calendar", text: "16:00 Stand-up")
        let prompt = try await build([Fixed(sections: [facts, calendar])])
        #expect(prompt.system.contains("[NOTE_ACTION:{}]") && prompt.system.contains("<facts>\nVegetarian\n</facts>"))
        #expect(!prompt.system.contains("Stand-up") && !prompt.system.contains("Berlin"))
        let names = PromptMarks.sections(in: prompt.tail).map(\.name)
        #expect(names == ["now", "calendar"])
        #expect(prompt.tail.contains("Tuesday 2026-11-24 07:00, Europe/Berlin (UTC+01:00), de_DE"))
        #expect(prompt.tail.contains("Tomorrow is Wednesday 2026-11-25"))
    }

    @Test func aSectionOfTheTailIsRepeatedOnlyWhenItChanged() async throws {
        let source = Fixed(sections: [PromptSection(name: "calendar", text: "16:00 <Stand-up>")])
        let first = try await build([source])
        let sent = PromptBuilder.question("hello", results: [], tail: first.tail)
        let second = try await build([source], history: [sent])
        #expect(second.tail.isEmpty)
        let other = Fixed(sections: [PromptSection(name: "calendar", text: "17:00 Run")])
        let third = try await build([other], history: [sent])
        #expect(PromptMarks.sections(in: third.tail).map(\.name) == ["calendar"])
        // A section of a message that may have been left out is repeated.
        let old = [sent] + Array(repeating: "x", count: PromptBuilder.rememberedMessages)
        #expect(try await build([source], history: old).tail == first.tail)
    }

    @Test func aSmallWindowKeepsWhoAndWhenAndDropsTheRest() async throws {
        let long = PromptSection(name: "calendar", text: String(repeating: "word ", count: 4000))
        let prompt = try await build([Fixed(sections: [long]), Broken()], window: 1024)
        #expect(PromptMarks.sections(in: prompt.tail).map(\.name) == ["now"])
        #expect(prompt.system.hasPrefix(AssistantTexts().identity))
    }

    @Test func withoutActionsThePromptTeachesNone() async throws {
        let prompt = try await build([], lines: [])
        #expect(!prompt.system.contains("[TAG:"))
    }

    @Test func resultsStandBeforeTheQuestionWithTheirSource() {
        let text = PromptBuilder.question(
            "the second", results: [MessageResult(source: "contacts", text: "1. Anna"), MessageResult(text: "note")],
            tail: "<now>\nx\n</now>")
        #expect(text.hasSuffix("the second\n\n<now>\nx\n</now>"))
        let outside = ChatHistory.outside(in: [ChatMessage(.user, text), ChatMessage(.assistant, text)])
        #expect(outside == [OutsideText(source: "contacts", text: "1. Anna")])
    }

    @Test func factsAreTheLinesOfAFile() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("facts.txt", Data("  Vegetarian  \n\nLives in Kyoto\r\n".utf8))
        let sections = try await FactSource(file: file).sections(at: moment())
        #expect(sections.map(\.text) == ["Vegetarian\nLives in Kyoto"])
        #expect(try await FactSource(file: folder.path("none")).sections(at: moment()).isEmpty)
    }
}
