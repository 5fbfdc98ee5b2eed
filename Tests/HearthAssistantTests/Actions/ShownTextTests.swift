import Foundation
import Testing

@testable import HearthAssistant

/// Cards show each character that displays as nothing, and no tower of marks.
@Suite struct ShownTextTests {
    @Test(arguments: [
        ("a\u{200D}b", "a‹U+200D›b"), ("\u{3164}", "‹U+3164›"), ("x\u{2800}y", "x‹U+2800›y"),
        ("e\u{034F}f", "e‹U+034F›f"), ("\u{202E}gnp.exe", "‹U+202E›gnp.exe"),
        ("\u{2066}a\u{2069}", "‹U+2066›a‹U+2069›"),
        ("a\u{E0041}\u{E007F}", "a‹U+E0041›‹U+E007F›"), ("a\u{FE0F}", "a‹U+FE0F›"), ("a\u{E0100}b", "a‹U+E0100›b"),
        ("\u{200B}\u{FEFF}\u{AD}\u{2060}", "‹U+200B›‹U+FEFF›‹U+00AD›‹U+2060›"), ("\u{61C}\u{200E}", "‹U+061C›‹U+200E›"),
        ("\u{115F}\u{1160}\u{FFA0}", "‹U+115F›‹U+1160›‹U+FFA0›"),
        ("\u{17B4}\u{180E}\u{180B}", "‹U+17B4›‹U+180E›‹U+180B›"),
        ("\u{1D173}\u{E0001}\u{FFF9}", "‹U+1D173›‹U+E0001›‹U+FFF9›"),
        ("a\u{1B}[2J\u{7}\u{9B}", "a‹U+001B›[2J‹U+0007›‹U+009B›"),
        ("a\u{2028}b\rc", "a‹U+2028›b‹U+000D›c"), ("a\u{200C}b", "a‹U+200C›b"), ("1\u{200D}2", "1‹U+200D›2"),
        // One joiner shapes; more hide data.
        ("می\u{200C}\u{200C}خواهم", "می‹U+200C›‹U+200C›خواهم"), ("👩\u{200D}\u{200D}👧", "👩‹U+200D›‹U+200D›👧"),
        ("❤\u{FE0F}\u{FE0F}\u{FE0E}", "❤\u{FE0F}‹U+FE0F›‹U+FE0E›"), ("👩\u{200D}a", "👩‹U+200D›a"),
        ("🏴\u{E0067}\u{E007F}", "🏴‹U+E0067›‹U+E007F›"), ("😀\u{E0101}\u{E0102}", "😀‹U+E0101›‹U+E0102›"),
        ("1\u{FE0F}2", "1‹U+FE0F›2"),
    ])
    func hiddenCharactersAreMarks(_ text: String, _ shown: String) {
        #expect(ShownText.of(text) == shown)
        #expect(ShownText.of(shown) == shown)
    }

    @Test(arguments: [
        "Überraschung! naïve façade", "a\nb\tc", "👩‍👩‍👧 👩🏽‍🚀 ❤️‍🔥 🏳️‍🌈 🏴‍☠️ 1️⃣ #️⃣ ©️ ☎︎ 🇩🇪 🏃🏽‍♀️",
        "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
        "می\u{200C}خواهم کتاب\u{200C}ها خانه\u{200C}ای", "ه\u{200D} ه\u{200D}", "क्\u{200D}ष क्\u{200C}ष", "র\u{200D}্য",
        "ശ്രീ ന്\u{200D} മലയാളം",
        "ශ්\u{200D}රී ලංකා", "tiếng Việt e\u{302}\u{301}", "בְּרֵאשִׁ֖ית", "ไทยที่", "བོད་སྐད", "한국어 日本語 葛\u{E0100}城", "ᠮᠣᠩᠭᠣᠯ",
        "a\u{301}\u{302}\u{303}\u{304}",
        "\u{600}12",
    ])
    func scriptsAndEmojiStay(_ text: String) { #expect(ShownText.of(text) == text) }

    @Test func marksAreCounted() {
        #expect(
            ShownText.of("e" + String(repeating: "\u{301}", count: 2000) + "f") == "e"
                + String(repeating: "\u{301}", count: 8) + "‹1992 marks›f")
        // Marks between hidden characters, and on nothing.
        let mixed = ShownText.of(String(repeating: "\u{301}\u{34F}\u{20DD}", count: 1000))
        #expect(mixed.unicodeScalars.count { $0.properties.generalCategory == .nonspacingMark } <= 8)
        #expect(
            ShownText.of("e" + String(repeating: "\u{301}", count: 9) + "f" + "\u{301}").hasSuffix("‹1 marks›f\u{301}"))
    }

    /// Every character of a plane is visible alone, is white space, or a mark.
    @Test func noCharacterDisplaysAsNothing() {
        for value in UInt32(0)...0xE0FFF {
            guard let scalar = Unicode.Scalar(value), scalar.properties.isDefaultIgnorableCodePoint else { continue }
            #expect(ShownText.of("a\(scalar)b") == "a\(ShownText.mark(scalar))b")
        }
    }

    /// All texts of a card are shown so, and the payload keeps the values.
    @Test func cardsShowMarksAndRecordsKeepTheValues() async throws {
        let bench = ActionBench(approval: ScriptedApproval(otherwise: .approve))
        let title = "a\u{3164}b\u{200D}c"
        let block =
            #"[NOTE_ACTION:{"action":"create","title":"\#(title)","body":"\#("e" + String(repeating: "\u{301}", count: 200))"}]"#
        let outcome = await bench.runner().run(ActionBench.scan(block).blocks, in: bench.turn())
        let card = try #require(await bench.approval.asked.first)
        #expect(card.fields.first?.value == "a‹U+3164›b‹U+200D›c")
        #expect(card.fields.last?.value.hasSuffix("‹192 marks›") == true)
        #expect(outcome.cards.map(\.state) == [.done])
        let note = try #require(try await bench.notes.records(matching: "", limit: 1).first)
        #expect(note.title == title && note.body.unicodeScalars.count == 201)
        var other = ActionCard(
            id: "1", tag: .note, title: "t\u{202E}", fields: [.init(name: "n", label: "l\u{200B}", value: "v\u{2800}")],
            items: [.init(title: "i\u{E0020}", detail: "d\u{FEFF}")], state: .done, payload: "{}", note: "n\u{61C}")
        #expect(
            [
                other.title, other.fields[0].label, other.fields[0].value, other.items[0].title, other.items[0].detail,
                other.note,
            ]
                == ["t‹U+202E›", "l‹U+200B›", "v‹U+2800›", "i‹U+E0020›", "d‹U+FEFF›", "n‹U+061C›"])
        other.note = "again\u{200D}"
        #expect(other.note == "again‹U+200D›")
    }
}
