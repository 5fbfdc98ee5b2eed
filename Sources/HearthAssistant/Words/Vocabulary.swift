/// A language of typed words.
package enum WordLanguage: String, Sendable, Hashable, Codable, CaseIterable {
    case english = "en"
    case german = "de"

    var other: Self { self == .english ? .german : .english }
}

/// A unit of a length of time.
enum TimeUnit: Sendable, Hashable { case minute, hour, day, week, month, year }

/// The words of a language for numbers, days and units, in lower case.
struct Vocabulary: Sendable {
    let numbers: [String: Int]
    let ordinals: [String: Int]
    /// 0 for Monday.
    let weekdays: [String: Int]
    /// Words for each such day: `mondays`, `montags`.
    let eachWeekday: [String: Int]
    let months: [String: Int]
    let units: [String: TimeUnit]
    /// Verbs whose object can be the name of a day, a month or a number: `watch`, `lesen`.
    let verbs: Set<String>
    /// Words that may follow a bare hour: `at nine with Anna`.
    let followers: Set<String>
    /// Words after a number that make it an amount: `um 5 Euro`.
    let measures: Set<String>

    static func of(_ language: WordLanguage) -> Vocabulary { language == .english ? english : german }

    /// The names of days with their abbreviations, numbered from Monday.
    fileprivate static func named(_ lists: [[String]], from first: Int = 0) -> [String: Int] {
        var result: [String: Int] = [:]
        for (number, names) in lists.enumerated() { for name in names { result[name] = number + first } }
        return result
    }

    private static let english: Vocabulary = {
        let ones = [
            "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
            "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
        ]
        var numbers = named(ones.map { [$0] })
        for (index, ten) in ["twenty", "thirty", "forty", "fifty"].enumerated() {
            numbers[ten] = 20 + index * 10
            for one in 1...9 { numbers["\(ten)-\(ones[one])"] = 20 + index * 10 + one }
        }
        let ordinals = [
            "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
            "twelfth",
        ]
        let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
        let short = [["mon"], ["tue", "tues"], ["wed"], ["thu", "thur", "thurs"], ["fri"], [], []]
        return Vocabulary(
            numbers: numbers, ordinals: named(ordinals.map { [$0] }, from: 1),
            weekdays: named(zip(days, short).map { [$0] + $1 }), eachWeekday: named(days.map { [$0 + "s"] }),
            months: named(
                [
                    ["january", "jan"], ["february", "feb"], ["march", "mar"], ["april", "apr"], ["may"],
                    ["june", "jun"], ["july", "jul"], ["august", "aug"], ["september", "sep", "sept"],
                    ["october", "oct"], ["november", "nov"], ["december", "dec"],
                ], from: 1),
            units: units([
                .minute: ["minute", "minutes", "min", "mins"], .hour: ["hour", "hours", "h", "hr", "hrs"],
                .day: ["day", "days"], .week: ["week", "weeks"], .month: ["month", "months"], .year: ["year", "years"],
            ]),
            verbs: [
                "watch", "rewatch", "read", "reread", "see", "buy", "call", "play", "replay", "order", "find", "hear",
                "text", "phone", "email", "invite", "meet", "ask", "visit", "count", "finish", "borrow", "rent",
                "stream", "download", "write", "study", "discuss", "celebrate", "plan",
            ],
            followers: [
                "with", "for", "about", "on", "in", "at", "to", "and", "before", "after", "until", "till", "every",
                "from", "by", "re", "next", "this", "tomorrow", "today", "tonight", "sharp", "if", "because", "when",
                "that", "or", "via", "near", "then", "each", "daily", "weekly", "monthly", "yearly", "-", "–",
            ],
            measures: [
                "miles", "mile", "km", "times", "people", "kg", "steps", "percent", "%", "dollars", "euros", "euro",
                "pounds", "pages", "points", "degrees", "meters", "metres", "years", "items", "pieces", "tickets",
            ])
    }()

    private static let german: Vocabulary = {
        let ones = [
            "null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf",
            "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn",
        ]
        var numbers = named(ones.map { [$0] })
        numbers["zwo"] = 2
        for (index, ten) in ["zwanzig", "dreißig", "vierzig", "fünfzig"].enumerated() {
            numbers[ten] = 20 + index * 10
            for one in 1...9 { numbers["\(one == 1 ? "ein" : ones[one])und\(ten)"] = 20 + index * 10 + one }
        }
        let stems = [
            "erst", "zweit", "dritt", "viert", "fünft", "sechst", "siebt", "acht", "neunt", "zehnt", "elft", "zwölft",
        ]
        let days = ["montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"]
        return Vocabulary(
            numbers: numbers, ordinals: named(stems.map { [$0 + "en", $0 + "er"] }, from: 1),
            weekdays: named(days.map { $0 == "samstag" ? [$0, "sonnabend"] : [$0] }),
            eachWeekday: named(days.map { $0 == "samstag" ? [$0 + "s", "sonnabends"] : [$0 + "s"] }),
            months: named(
                [
                    ["januar", "jänner", "jan"], ["februar", "feb"], ["märz", "maerz"], ["april", "apr"], ["mai"],
                    ["juni", "jun"], ["juli", "jul"], ["august", "aug"], ["september", "sep", "sept"],
                    ["oktober", "okt"], ["november", "nov"], ["dezember", "dez"],
                ], from: 1),
            units: units([
                .minute: ["minute", "minuten", "min"], .hour: ["stunde", "stunden", "std", "h"],
                .day: ["tag", "tage", "tagen"], .week: ["woche", "wochen"], .month: ["monat", "monate", "monaten"],
                .year: ["jahr", "jahre", "jahren"],
            ]),
            verbs: [
                "lesen", "schauen", "ansehen", "anschauen", "gucken", "sehen", "kaufen", "hören", "spielen",
                "bestellen", "anrufen", "besprechen", "suchen", "treffen", "zählen", "fertiglesen", "leihen",
                "ausleihen", "streamen", "schreiben", "lernen", "feiern", "planen", "besuchen", "einladen", "fragen",
            ],
            followers: [],
            measures: [
                "euro", "€", "eur", "cent", "prozent", "%", "kg", "kilo", "gramm", "meter", "km", "kilometer", "cm",
                "grad", "punkte", "jahre", "tage", "stunden", "minuten", "wochen", "monate", "ecken", "uhren",
                "plätze", "stellen", "seiten", "personen", "leute", "mal", "stück", "liter", "stufen", "erhöhen",
                "senken", "kürzen", "verlängern", "reduzieren", "dollar", "franken",
            ])
    }()

    private static func units(_ words: [TimeUnit: [String]]) -> [String: TimeUnit] {
        var result: [String: TimeUnit] = [:]
        for (unit, names) in words { for name in names { result[name] = unit } }
        return result
    }
}
