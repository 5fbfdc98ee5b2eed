/// Finds the words of a text that say a time: a scan from left to right, with a bounded look ahead at each word.
struct WordReader {
    /// Words that say a time, and what they say.
    struct Found {
        var said: Said
        /// The token after the words.
        var end: Int
    }

    /// The words of a text that say its time.
    struct Reading {
        var said: Said
        /// The tokens of these words.
        var used: [Range<Int>]
        /// Whether each part of them can also be a name.
        var isName: Bool
    }

    let tokens: [WordToken]
    let language: WordLanguage
    let kind: WordedKind
    let vocabulary: Vocabulary
    /// The end of the words that were found last.
    private(set) var usedEnd = -1
    private let isShouted: Bool

    init(_ tokens: [WordToken], _ language: WordLanguage, _ kind: WordedKind) {
        self.tokens = tokens
        self.language = language
        self.kind = kind
        vocabulary = .of(language)
        isShouted = tokens.allSatisfy(\.isCapital)
    }

    /// Reads all words.
    /// - Returns: `nil` if no word says a time, or if two say different ones.
    mutating func read() -> Reading? {
        var found: [(range: Range<Int>, said: Said)] = []
        var index = 0
        while index < tokens.count {
            guard let match = match(index) else {
                index += 1
                continue
            }
            found.append((index..<match.end, match.said))
            if found.count > Self.maximumParts { return nil }
            index = match.end
            usedEnd = match.end
        }
        let hasRule = found.contains { $0.said.rule != nil }
        // The number of times counts only in a repetition.
        if !hasRule { found.removeAll { $0.said.count != nil } }
        var said = Said()
        for other in found { guard said.add(other.said) else { return nil } }
        guard said.hasTime || said.until != nil || said.untilClock != nil else { return nil }
        let used = found.map(\.range)
        guard isBalanced(used), !namesOtherTime(used), !tearsPhrase(used) else { return nil }
        return Reading(said: said, used: used, isName: found.allSatisfy(\.said.isName))
    }

    private func match(_ index: Int) -> Found? {
        let token = tokens[index]
        guard !token.isQuoted, !token.word.isEmpty else { return nil }
        return repetition(index) ?? range(index) ?? until(index) ?? length(index) ?? offset(index)
            ?? dayWords(index) ?? clockWords(index) ?? partWords(index)
    }

    /// Whether no bracket is torn apart.
    private func isBalanced(_ used: [Range<Int>]) -> Bool {
        var depth = 0
        var end = -1
        for range in used {
            if range.lowerBound != end, depth != 0 { return false }
            for token in tokens[range] { depth += (token.opensBracket ? 1 : 0) - (token.closesBracket ? 1 : 0) }
            end = range.upperBound
        }
        return depth == 0
    }

    /// Whether the other words name a time as well: `Monday or Tuesday`, `next week at nine`, of which one alone was
    /// understood.
    private func namesOtherTime(_ used: [Range<Int>]) -> Bool {
        var index = 0
        for range in used + [tokens.count..<tokens.count] {
            for place in index..<max(index, range.lowerBound) {
                let isDay = vocabulary.weekdays[word(place)] != nil && word(place).count > 4
                if isDay && !isPartOfName(place) || Self.times.contains(plain(place)) { return true }
                if Self.spans.contains(word(place)), isAny(place - 1, Self.beforeSpans) { return true }
                if vocabulary.months[word(place)] != nil, isAny(place - 1, ["in", "im", "until", "bis", "by"]) {
                    return true
                }
            }
            index = range.upperBound
        }
        return false
    }

    /// Whether the word before a time leads to it and would be left alone: `tickets for Friday`.
    private func tearsPhrase(_ used: [Range<Int>]) -> Bool {
        used.contains { range in
            let before = range.lowerBound - 1
            return !used.contains { $0.contains(before) } && isAny(before, Self.leads) && !isEnd(range.lowerBound)
        }
    }

    private static let times: Set<String> = [
        "today", "tomorrow", "tonight", "yesterday", "heute", "übermorgen", "gestern", "evening", "afternoon", "abends",
        "nachmittags", "nachts",
    ]
    private static let spans: Set<String> = [
        "week", "weekend", "month", "year", "woche", "wochenende", "monat", "jahr", "quarter", "quartal",
    ]
    private static let beforeSpans: Set<String> = [
        "next", "this", "last", "the", "nächste", "nächsten", "nächster", "nächstes", "diese", "diesen", "dieses", "am",
        "übernächste", "kommende", "kommenden",
    ]
    private static let leads: Set<String> = [
        "for", "about", "of", "from", "to", "since", "after", "before", "with", "without", "than", "like", "or", "and",
        "between", "during", "around", "until", "till", "by", "on", "in", "at", "für", "über", "von", "nach", "vor",
        "seit",
        "zu", "zum", "zur", "bis", "bei", "mit", "ohne", "als", "wie", "oder", "und", "zwischen", "während", "gegen",
        "ab",
        "an", "am", "im", "um", "the", "a", "der", "die", "das", "den", "dem", "ein", "eine", "einen",
    ]
    private static let maximumParts = 12

    /// Whether the word before a day of the week makes it a part of a name: `Black Friday`, `the Sunday edition`.
    func isPartOfName(_ index: Int) -> Bool {
        guard index > 0, index != usedEnd else { return false }
        let before = word(index - 1)
        if before.isEmpty || Self.beforeNames.contains(before) { return true }
        return language == .german && !isCapital(index - 1) && before != "oder"
            && (before.hasSuffix("er") || before.hasSuffix("es"))
    }

    private static let beforeNames: Set<String> = [
        "the", "a", "an", "last", "black", "good", "cyber", "ash", "easter", "holy", "ruby", "freaky", "fat", "casual",
        "bloody", "manic", "der", "die", "das", "ein", "einen", "weißer", "blauer", "schwarzer", "letzten", "of", "my",
        "her", "his", "our", "mein", "unser", "von", "vom", "palm", "super",
    ]

    // MARK: Words

    /// The word at a place; empty behind the end, and between quotation marks.
    func word(_ index: Int) -> String {
        tokens.indices.contains(index) && !tokens[index].isQuoted ? tokens[index].word : ""
    }

    /// The word at a place unless it is written like a part of a name: `Tomorrow Never Dies`.
    func plain(_ index: Int) -> String {
        let word = word(index)
        guard !word.isEmpty, tokens[index].isCapital, !isShouted else { return word }
        if index > 0 { return "" }
        if language == .english, tokens.count > 1, tokens[1].isCapital, vocabulary.weekdays[tokens[1].word] == nil,
            tokens[1].word != "i"
        {
            return ""
        }
        return word
    }

    func isCapital(_ index: Int) -> Bool { tokens.indices.contains(index) && tokens[index].isCapital && !isShouted }

    /// Whether a clause ends before a place.
    func isEnd(_ index: Int) -> Bool { index >= tokens.count || index > 0 && tokens[index - 1].endsClause }

    /// Whether nothing but words of time stands before a place.
    func isBeginning(_ index: Int) -> Bool { index == 0 || index == usedEnd }

    func isAny(_ index: Int, _ words: Set<String>) -> Bool { words.contains(word(index)) }

    /// The place after a sequence of words, if they stand at a place.
    func after(_ index: Int, _ words: String...) -> Int? {
        for (offset, wanted) in words.enumerated() where word(index + offset) != wanted { return nil }
        return index + words.count
    }

    // MARK: Numbers

    /// A whole number in digits or words, at most 9999.
    func number(_ index: Int) -> Int? {
        let word = word(index)
        if let digits = Self.digits(word) { return digits }
        return vocabulary.numbers[word]
    }

    /// A number of at most four digits.
    static func digits(_ word: some StringProtocol) -> Int? {
        guard !word.isEmpty, word.utf8.count <= 4, word.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(word)
    }

    /// An amount and the place after it: a number, `an`, `half an`, `anderthalb`.
    func amount(_ index: Int) -> (value: Double, end: Int)? {
        let word = word(index)
        let halves = ["einer", "eine", "ein", "einem", "half"]
        if language == .english {
            if word == "half", isAny(index + 1, ["a", "an"]) { return (0.5, index + 2) }
            if word == "a", let end = after(index, "a", "couple", "of") { return (2, end) }
            if word == "a" || word == "an" { return (1, index + 1) }
        } else {
            if halves.contains(word), isAny(index + 1, ["halben", "halbe", "halbes"]) { return (0.5, index + 2) }
            if ["ein", "eine", "einen", "einem", "einer"].contains(word) { return (1, index + 1) }
            if ["anderthalb", "eineinhalb"].contains(word) { return (1.5, index + 1) }
            if word == "zweieinhalb" { return (2.5, index + 1) }
        }
        if let number = number(index) { return (Double(number), index + 1) }
        let sides = word.split(whereSeparator: { $0 == "." || $0 == "," })
        if sides.count == 2, let whole = Self.digits(sides[0]), sides[1] == "5" {
            return (Double(whole) + 0.5, index + 1)
        }
        return nil
    }

    /// An amount with its unit: `two hours`, `20min`.
    func quantity(_ index: Int) -> (value: Double, unit: TimeUnit, end: Int)? {
        if let (value, end) = amount(index) {
            // `In 80 Days` is a name.
            let unit = language == .english && isCapital(end) ? nil : vocabulary.units[word(end)]
            guard let unit else { return nil }
            if let after = after(end + 1, "and", "a", "half") { return (value + 0.5, unit, after) }
            return (value, unit, end + 1)
        }
        let word = word(index)
        let digits = word.prefix { ("0"..."9").contains($0) }
        guard let value = Self.digits(digits), let unit = vocabulary.units[String(word.dropFirst(digits.count))],
            unit == .minute || unit == .hour
        else { return nil }
        return (Double(value), unit, index + 1)
    }
}
