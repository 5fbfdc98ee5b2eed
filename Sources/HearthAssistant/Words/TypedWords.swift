import Foundation

/// The records that typed words can become.
package enum WordedKind: String, Sendable, Hashable, Codable, CaseIterable { case event, reminder, note, habit }

/// What typed words say of a new record. The person sees it in a form before anything is stored.
package struct WordedDraft: Sendable, Hashable {
    package var kind: WordedKind
    /// The words that say no time, in their order and spelling; the whole text if its time is not certain.
    package var title: String
    /// The text of a note, or the notes of an event: the lines after the first.
    package var text: String?
    /// The start of an event.
    package var start: EventTime?
    /// The end of an event, after a whole day the next one.
    package var end: EventTime?
    /// The time at which a reminder is due.
    package var due: EventTime?
    /// The place of an event.
    package var location: String?
    /// An RRULE value such as `FREQ=WEEKLY;BYDAY=MO`.
    package var recurrence: String?
    /// How often a habit is meant to be done.
    package var frequency: HabitFrequency?
}

/// Reads typed words such as `call Anna tomorrow at nine` without a model.
///
/// The rules are in docs/assistant.md. Words that say a time leave the title. A text whose time is not certain stays the
/// title as a whole, and the draft has no time: nothing is invented. The time to read a text grows with its
/// length alone.
package struct TypedWords: Sendable {
    package var text: String
    package var kind: WordedKind
    /// The moment of writing.
    package var now: Date
    /// The zone of the person's clock.
    package var zone: TimeZone
    /// The language that is tried first; the other one counts if more of its words say a time.
    package var language: WordLanguage

    package init(_ text: String, kind: WordedKind, now: Date, zone: TimeZone, language: WordLanguage) {
        self.text = text
        self.kind = kind
        self.now = now
        self.zone = zone
        self.language = language
    }

    /// What the words say.
    package var draft: WordedDraft {
        if kind == .note { return note }
        let (line, rest) = lines
        var draft = WordedDraft(kind: kind, title: line)
        if kind == .event {
            draft.text = rest.isEmpty ? nil : rest
        } else if !rest.isEmpty {
            draft.title += " " + rest.singleLine
        }
        guard line.utf8.count <= Self.maximumBytes else { return draft }
        guard let tokens = WordTokenizer.tokens(of: line, atMost: Self.maximumWords) else { return draft }
        guard let (reading, language) = reading(of: tokens) else { return draft }
        var used = reading.used
        let place = kind == .event ? WordedPlace.find(in: tokens, after: used, language) : nil
        if let place { used.append(place) }
        let title = WordedTitle.text(line, tokens, without: used)
        if title.isEmpty ? reading.isName : reading.isName && Vocabulary.of(language).verbs.contains(title.lowercased())
        {
            return draft
        }
        if title.allSatisfy({ !$0.isLetter && !$0.isNumber }), !title.isEmpty { return draft }
        let times = WordedTimes(now: now, zone: zone, language: language)
        guard times.fill(&draft, with: reading.said) else { return draft }
        draft.title = kind == .event || rest.isEmpty ? title : title + " " + rest.singleLine
        draft.location = place.map { WordedTitle.words(line, tokens, $0.lowerBound + 1..<$0.upperBound) }
        return draft
    }

    /// The most words of a text that is read for its time; a longer one is no command that a person has typed.
    static let maximumWords = 400
    /// The most bytes of such a text.
    static let maximumBytes = 16_384

    /// The first line, and the others.
    private var lines: (first: String, rest: String) {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let end = trimmed.firstIndex(where: \.isNewline) else { return (trimmed, "") }
        let rest = trimmed[end...].trimmingCharacters(in: .whitespacesAndNewlines)
        return (trimmed[..<end].trimmingCharacters(in: .whitespaces), rest)
    }

    /// A note has the first line as its title; a long line is its text alone.
    private var note: WordedDraft {
        let (line, rest) = lines
        if !line.dropFirst(200).isEmpty {
            return WordedDraft(kind: .note, title: "", text: rest.isEmpty ? line : line + "\n" + rest)
        }
        return WordedDraft(kind: .note, title: line, text: rest.isEmpty ? nil : rest)
    }

    /// What the words say in the language in which more of them say a time.
    private func reading(of tokens: [WordToken]) -> (WordReader.Reading, WordLanguage)? {
        func read(_ language: WordLanguage) -> WordReader.Reading? {
            var reader = WordReader(tokens, language, kind)
            return reader.read()
        }
        func size(_ reading: WordReader.Reading?) -> Int { reading?.used.reduce(0) { $0 + $1.count } ?? 0 }
        let own = read(language)
        let other = read(language.other)
        if size(other) > size(own), let other { return (other, language.other) }
        return own.map { ($0, language) }
    }
}

extension String {
    /// The text with one blank in place of each line break and control character.
    fileprivate var singleLine: String {
        unicodeScalars.split(whereSeparator: WordTokenizer.isBlank).map { String($0) }.joined(separator: " ")
    }
}
