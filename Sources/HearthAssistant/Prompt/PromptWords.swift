import Foundation

/// Finds the blocks of a prompt that words of a question suggest, in English and German.
struct PromptWords: Sendable {
    /// The actions, the likeliest first.
    private(set) var tags: [ActionTag] = []
    /// The names of the suggested sections.
    private(set) var sections: Set<String> = []

    /// The words of a block. One that ends in `*` stands for all words that begin so.
    private static let table: [(block: Block, words: [String])] = [
        (
            .action(.reminder),
            [
                "remind", "reminds", "reminder", "remember", "forget", "erinner*", "vergess*", "vergiss", "merk",
            ]
        ),
        (
            .action(.calendar),
            [
                "appointment*", "meeting*", "meet", "event", "events", "calendar", "schedule*", "reschedule", "lunch",
                "dinner", "book", "cancel", "termin*", "treff*", "besprechung*", "kalender*", "verabred*", "absag*",
                "verschieb*", "mittagessen", "abendessen", "eintrag*",
            ]
        ),
        (
            .action(.note),
            ["note", "notes", "jot", "write", "notiz*", "notier*", "aufschreib*", "schreib", "schreibe"]
        ),
        (.action(.habit), ["habit", "habits", "streak*", "log", "gewohnheit*", "serie", "protokollier*"]),
        (
            .action(.contactsSearch),
            [
                "contact*", "phone", "number", "email", "mail", "address", "birthday", "kontakt*", "telefon*", "handy*",
                "nummer", "adresse", "anschrift", "geburtstag*",
            ]
        ),
        (
            .action(.webSearch),
            [
                "search", "web", "internet", "online", "google", "news", "latest", "weather", "such", "suche",
                "nachrichten", "neuigkeiten", "neueste*", "wetter",
            ]
        ),
        (
            .section("calendar"),
            [
                "appointment*", "meeting*", "event", "events", "calendar", "agenda", "schedule", "today", "tomorrow",
                "week", "weekend", "busy", "free", "termin*", "besprechung*", "kalender*", "heute", "morgen", "woche",
                "wochenende", "frei",
            ]
        ),
        (
            .section("reminders"),
            [
                "reminders", "todo", "todos", "task*", "due", "pending", "erinnerungen", "aufgabe*", "fällig*",
                "erledig*",
            ]
        ),
        (
            .section("now"),
            [
                "time", "date", "day", "today", "tonight", "tomorrow", "yesterday", "now", "week*", "month", "year",
                "hour*",
                "minute*", "o'clock", "clock", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
                "sunday", "uhr", "uhrzeit", "spät", "datum", "tag", "heute", "morgen", "übermorgen", "gestern", "jetzt",
                "woche", "monat", "jahr", "stunde*", "montag*", "dienstag*", "mittwoch*", "donnerstag*", "freitag*",
                "samstag*", "sonntag*",
            ]
        ),
        (.section("facts"), ["i", "my", "me", "mine", "ich", "mein*", "mir", "mich"]),
    ]

    /// The sections that only words suggest. Those of an app are part of each prompt.
    private static let known: Set<String> = ["now", "calendar", "reminders", "facts"]

    private enum Block: Sendable, Hashable {
        case action(ActionTag)
        case section(String)
    }

    init() {}

    /// Reads a question.
    /// - Parameter offered: the tags of the actions that can be taken. Those of an app are suggested by their own words:
    ///   `WATER_PLANT` by "water" and "plant".
    init(of question: String, offered: [ActionTag]) {
        let words = Set(
            question.lowercased().precomposedStringWithCanonicalMapping
                .split { !($0.isLetter || $0.isNumber || $0 == "'" || $0 == "’") }
                .map { String($0).replacing("’", with: "'") })
        for (block, patterns) in Self.table where patterns.contains(where: { Self.fits($0, words) }) {
            switch block {
            case .action(let tag): if offered.contains(tag) { tags.append(tag) }
            case .section(let name): sections.insert(name)
            }
        }
        for tag in offered where !ActionTag.order.contains(tag) {
            let parts = tag.rawValue.lowercased().split(separator: "_").map(String.init)
            if parts.contains(where: { $0.count > 2 && words.contains($0) }) { tags.append(tag) }
        }
        takeTimes()
    }

    /// One action that the user asks for.
    init(for tag: ActionTag) {
        tags = [tag]
        takeTimes()
    }

    /// Suggests another action before the others.
    mutating func put(first tag: ActionTag) {
        tags.removeAll { $0 == tag }
        tags.insert(tag, at: 0)
        takeTimes()
    }

    /// An action with times needs the present one.
    private mutating func takeTimes() {
        if !Set(tags).isDisjoint(with: [.reminder, .calendar, .habit]) { sections.insert("now") }
    }

    /// Whether the prompt has a section.
    func includes(_ section: PromptSection) -> Bool {
        !Self.known.contains(section.name) || sections.contains(section.name)
    }

    private static func fits(_ pattern: String, _ words: Set<String>) -> Bool {
        guard pattern.hasSuffix("*") else { return words.contains(pattern) }
        return words.contains { $0.hasPrefix(pattern.dropLast()) }
    }
}
