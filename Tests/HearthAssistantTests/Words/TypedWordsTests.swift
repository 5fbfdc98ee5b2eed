import Foundation
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// The table of sentences. Half of it was written before the grammar; a third are traps, which stay the title as they are.
struct Sentence: Sendable, CustomTestStringConvertible {
    let language: WordLanguage
    let kind: WordedKind
    let words: String
    let title: String
    /// The other values, such as `due=2026-11-25T09:00`, on the clock of the zone; the end of whole days is the last one.
    let values: String

    var isTrap: Bool { values.isEmpty && title == words }
    var testDescription: String { words }

    static let all: [Sentence] = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "sentences.tsv")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").dropFirst().compactMap { line in
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
                .map { String($0).replacing("\\n", with: "\n") }
            guard columns.count == 5, let language = WordLanguage(rawValue: columns[0]),
                let kind = WordedKind(rawValue: columns[1])
            else { return nil }
            return Sentence(
                language: language, kind: kind, words: columns[2], title: columns[3] == "=" ? columns[2] : columns[3],
                values: columns[4])
        }
    }()
}

/// Writes a draft as the table does.
struct DraftText {
    var zone = TypedWordsTests.berlin

    func text(_ draft: WordedDraft) -> String {
        [
            draft.due.map { "due=" + local($0) }, draft.start.map { "start=" + local($0) },
            draft.end.map { "end=" + local($0, isEnd: true) }, draft.recurrence.map { "repeat=" + $0 },
            draft.location.map { "place=" + $0 }, draft.text.map { "text=" + $0 },
            draft.frequency.map { "frequency=" + $0.rawValue },
        ].compactMap(\.self).joined(separator: " ")
    }

    func local(_ time: EventTime, isEnd: Bool = false) -> String {
        if time.isAllDay { return String((isEnd ? time.date - 86_400 : time.date).ISO8601Format().prefix(10)) }
        return (time.date + Double(zone.secondsFromGMT(for: time.date))).ISO8601Format().prefix(16).description
    }
}

@Suite("Typed words")
struct TypedWordsTests {
    static let berlin = TimeZone(identifier: "Europe/Berlin") ?? .gmt
    /// A Tuesday.
    static let now = "2026-11-24T14:30"

    private func draft(
        _ words: String, _ kind: WordedKind = .reminder, now: String = Self.now, zone: TimeZone = Self.berlin,
        _ language: WordLanguage = .english
    ) throws -> WordedDraft {
        let moment = try #require(PayloadTime(now)).date(in: zone)
        return TypedWords(words, kind: kind, now: moment, zone: zone, language: language).draft
    }

    @Test("At least 108 of 120 sentences are right; the others stay title, and nothing is invented")
    func sentences() throws {
        let all = Sentence.all
        #expect(all.count == 120)
        #expect(all.count { $0.language == .german } == 60)
        #expect(all.count(where: \.isTrap) >= 40)
        var right = 0
        for sentence in all {
            let draft = try draft(sentence.words, sentence.kind, sentence.language)
            let values = DraftText().text(draft)
            if draft.title == sentence.title, values == sentence.values {
                right += 1
            } else {
                print("not understood: \(sentence.words) -> \(draft.title) \(values)")
                #expect(draft.title == sentence.words && values.isEmpty, "\(sentence.words): \(values)")
            }
        }
        print("typed words: \(right) of \(all.count) sentences are right")
        #expect(right >= 108)
    }

    @Test(
        "Days that exist once a year, a month or four years, and clocks that are put forward",
        arguments: [
            ("2026-12-31T23:50", "call Anna in 20 minutes", "due=2027-01-01T00:10"),
            ("2026-12-31T14:00", "call Anna tomorrow at nine", "due=2027-01-01T09:00"),
            ("2027-01-31T10:00", "pay in a month", "due=2027-02-28"),
            ("2027-01-31T10:00", "pay on the 30th at 8am", "due=2027-03-30T08:00"),
            ("2027-02-28T10:00", "sing on February 29", "due=2028-02-29"),
            ("2028-02-29T10:00", "sing in a year", "due=2029-02-28"),
            // On 28 March 2027 the clock goes from 2:00 to 3:00.
            ("2027-03-27T10:00", "call Anna tomorrow at 2:30am", "due=2027-03-28T03:30"),
            ("2027-03-28T01:50", "call Anna in 20 minutes", "due=2027-03-28T03:10"),
            // On 25 October 2026 the clock goes from 3:00 to 2:00.
            ("2026-10-24T10:00", "call Anna tomorrow at nine", "due=2026-10-25T09:00"),
            ("2026-11-24T09:00", "call Anna at nine", "due=2026-11-25T09:00"),
            ("2026-11-24T08:59", "call Anna at nine", "due=2026-11-24T09:00"),
            ("2026-11-24T20:30", "call Anna tonight", "due=2026-11-24"),
            ("2026-11-24T14:30", "call Anna tonight at midnight", "due=2026-11-25T00:00"),
            ("9999-12-31T10:00", "call Anna in 900 years", ""),
        ])
    func calendar(now: String, words: String, values: String) throws {
        #expect(DraftText().text(try draft(words, now: now)) == values)
    }

    @Test("The zone is that of the person, not of the device")
    func zones() throws {
        for name in ["Pacific/Auckland", "America/New_York", "Asia/Kathmandu", "UTC"] {
            let zone = try #require(TimeZone(identifier: name))
            let draft = try draft("call Anna tomorrow at nine", zone: zone)
            #expect(DraftText(zone: zone).text(draft) == "due=2026-11-25T09:00")
            #expect(draft.due?.timeZone == zone.identifier)
        }
    }

    @Test(
        "Words of which one alone is understood stay title",
        arguments: [
            "call Anna next week at nine", "buy tickets for Friday", "pay on Monday or Tuesday", "evening run at 6",
            "um 8 und um 9 anrufen", "Anna am Montag oder Dienstag anrufen", "am Wochenende Fahrrad reparieren",
            "party on Feb 30", "Friday", "watch Friday", "finish by end of day", "im Mai um 9 Uhr anrufen",
        ])
    func uncertain(words: String) throws {
        for language in WordLanguage.allCases {
            for kind in [WordedKind.event, .reminder] {
                #expect(try draft(words, kind, language) == WordedDraft(kind: kind, title: words))
            }
        }
    }

    @Test(
        "From one hour to another is a span, not minutes before an hour",
        arguments: [
            ("meeting from 10 to 11", "start=2026-11-24T10:00 end=2026-11-24T11:00"),
            ("dinner with Ben tomorrow from 19 to 21", "start=2026-11-25T19:00 end=2026-11-25T21:00"),
            ("dinner from 7 to 9 tomorrow", "start=2026-11-25T07:00 end=2026-11-25T09:00"),
            ("dentist at 10 to 11", "start=2026-11-24T10:50"),
        ])
    func spans(words: String, values: String) throws {
        #expect(DraftText().text(try draft(words, .event, now: "2026-11-24T09:00")) == values)
    }

    @Test("Words alone fill the times, and the other language counts if it says more")
    func partial() throws {
        let alone = try draft("tomorrow at nine")
        #expect(alone.title.isEmpty && DraftText().text(alone) == "due=2026-11-25T09:00")
        let foreign = try draft("Anna anrufen morgen um halb acht")
        #expect(foreign.title == "Anna anrufen" && DraftText().text(foreign) == "due=2026-11-25T07:30")
        #expect(try draft("", .event) == WordedDraft(kind: .event, title: ""))
        let event = try draft("Dinner tomorrow at 7pm\nbring wine", .event)
        #expect(event.title == "Dinner" && event.text == "bring wine")
        #expect(try draft("call Anna\ntomorrow").title == "call Anna tomorrow")
        let long = String(repeating: "a", count: 300)
        #expect(try draft(long, .note).text == long)
    }

    @Test(
        "Half a megabyte of nonsense takes a bounded time and stays title",
        arguments: [
            "at ", "every ", "from 3 to ", "am 3. bis ", "\u{1}x ", "\"", "in 20 ", "(tomorrow ", "May 3 ", "9:30-",
            "abc ", "\u{202E}", "e\u{301}", "🏳️‍🌈", "\u{0}", "halb ", "1.", "٣ ",
        ].prefix(TestExtent.isFull ? 18 : 6))
    func hostile(unit: String) throws {
        let text = "x" + String(repeating: unit, count: 512_000 / unit.utf8.count) + "x"
        let clock = ContinuousClock()
        for kind in WordedKind.allCases {
            var draft = WordedDraft(kind: kind, title: "")
            let time = try clock.measure { draft = try self.draft(text, kind) }
            #expect(time < .seconds(10))
            #expect((draft.title.isEmpty ? draft.text : draft.title) == text)
            #expect(draft.due == nil && draft.start == nil && draft.recurrence == nil && draft.frequency == nil)
        }
    }
}
