extension WordReader {
    /// A time of day with the words that lead to it.
    func clockWords(_ index: Int) -> Found? {
        // `abends um acht`
        if language == .german, let (part, end) = partAfterClock(index), isAny(end, ["um"]), var found = clockWords(end)
        {
            found.said.clock?.part = part
            return found
        }
        var start = index
        var (isLed, isExact) = (false, true)
        switch (language, word(index)) {
        case (.english, "at"), (.english, "@"): (start, isLed) = (index + 1, true)
        case (.english, "by") where kind == .reminder: (start, isLed, isExact) = (index + 1, true, false)
        case (.german, "um"): (start, isLed) = (index + 1, true)
        case (.german, "gegen"), (.german, "ab"): (start, isLed, isExact) = (index + 1, true, false)
        default: break
        }
        if let (clock, end) = clock(start, isLed: isLed || index == usedEnd) {
            return Found(said: Said(clock: clock, isName: !isLed && index != usedEnd), end: end)
        }
        guard isLed, isExact, var (clock, end) = bareHour(start) else { return nil }
        guard index == 0 || index == usedEnd || followsHour(end) else { return nil }
        if let (part, after) = partAfterClock(end) { (clock.part, end) = (part, after) }
        return Found(said: Said(clock: clock), end: end)
    }

    /// Whether the words behind a bare hour leave it an hour: `at nine about the report`, but not `at 5 houses`.
    private func followsHour(_ end: Int) -> Bool {
        if isEnd(end) || partAfterClock(end) != nil || vocabulary.followers.contains(word(end)) { return true }
        if language == .german { return !vocabulary.measures.contains(word(end)) }
        return dayWords(end) != nil || repetition(end) != nil
    }

    /// An hour as a number alone.
    func bareHour(_ index: Int) -> (SaidClock, Int)? {
        let word = word(index).hasSuffix(".") && language == .english ? String(word(index).dropLast()) : word(index)
        let number = Self.digits(word) ?? vocabulary.numbers[word] ?? (language == .german && word == "ein" ? 1 : nil)
        guard let number, word.count <= 2 || Self.digits(word) == nil, (0...24).contains(number),
            !vocabulary.measures.contains(self.word(index + 1))
        else { return nil }
        return (SaidClock(hour: number, isOpen: !word.hasPrefix("0")), index + 1)
    }

    /// A time that is one without a word that leads to it: `9:30`, `21 Uhr`, `half past three`, `4pm`.
    /// - Parameter isLed: whether other words of time stand before it.
    func clock(_ index: Int, isLed: Bool) -> (SaidClock, Int)? {
        guard
            let (clock, end) = digitalClock(index, isLed: isLed) ?? spokenClock(index, isLed: isLed)
                ?? namedClock(index, isLed: isLed)
        else { return nil }
        guard let (part, after) = partAfterClock(end), clock.half == nil else { return (clock, end) }
        var result = clock
        result.part = part
        return (result, after)
    }

    // MARK: Numbers

    private func digitalClock(_ index: Int, isLed: Bool) -> (SaidClock, Int)? {
        let word = word(index)
        if let (hour, minute, half) = Self.numbers(of: word, language) {
            var clock = SaidClock(hour: hour, minute: minute ?? 0, half: half, isOpen: !word.hasPrefix("0"))
            var end = index + 1
            if half != nil { return Self.isTwelve(hour) ? (clock, end) : nil }
            if let half = Self.half(self.word(end)) {
                clock.half = half
                return Self.isTwelve(hour) ? (clock, end + 1) : nil
            }
            if language == .german, self.word(end) == "uhr" {
                clock.isOpen = false
                end += 1
                if minute == nil, let more = number(end), (1...59).contains(more),
                    !vocabulary.measures.contains(self.word(end + 1))
                {
                    if Self.digits(self.word(end)) == nil || self.word(end).count == 2 {
                        (clock.minute, end) = (more, end + 1)
                    }
                }
                return (clock, end)
            }
            if language == .english, isAny(end, ["o'clock", "oclock"]) { return (clock, halved(&clock, end + 1)) }
            guard let minute, word.contains(":"), isLed || minute % 5 == 0 && !isAny(index - 1, Self.beforeNumbers)
            else {
                return minute != nil && isLed && language == .german ? (clock, end) : nil
            }
            if language == .german { clock.isOpen = false }
            return (clock, end)
        }
        let number = vocabulary.numbers[word] ?? (word == "ein" && language == .german ? 1 : nil)
        guard let number, number <= 24 else { return nil }
        if language == .german {
            guard self.word(index + 1) == "uhr" else { return nil }
            var clock = SaidClock(hour: number)
            if let more = vocabulary.numbers[self.word(index + 2)], (1...59).contains(more) {
                clock.minute = more
                return (clock, index + 3)
            }
            return (clock, index + 2)
        }
        var clock = SaidClock(hour: number, isOpen: true)
        if let half = Self.half(self.word(index + 1)), Self.isTwelve(number) {
            clock.half = half
            return (clock, index + 2)
        }
        guard isAny(index + 1, ["o'clock", "oclock"]) else { return nil }
        return (clock, halved(&clock, index + 2))
    }

    /// Words whose number with a colon is no time.
    private static let beforeNumbers: Set<String> = [
        "chapter", "verse", "verses", "psalm", "section", "version", "ratio", "score", "kapitel", "vers", "abschnitt",
        "verhältnis", "endstand", "spielstand", "stand", "ergebnis",
    ]

    /// Takes `am` or `pm` behind a time, and returns the place after it.
    private func halved(_ clock: inout SaidClock, _ index: Int) -> Int {
        guard let half = Self.half(word(index)) else { return index }
        clock.half = half
        return index + 1
    }

    private static func isTwelve(_ hour: Int) -> Bool { (1...12).contains(hour) }

    private static func half(_ word: some StringProtocol) -> SaidClock.Half? {
        switch word {
        case "am", "a.m": .morning
        case "pm", "p.m": .afternoon
        default: nil
        }
    }

    /// The numbers of `9`, `9:30`, `10am`; in German of `9.30` as well.
    static func numbers(of word: String, _ language: WordLanguage) -> (hour: Int, minute: Int?, half: SaidClock.Half?)?
    {
        var rest = word[...]
        var half: SaidClock.Half?
        if language == .english {
            for ending in ["am", "pm"] where rest.hasSuffix(ending) {
                half = self.half(ending)
                rest = rest.dropLast(2)
            }
        } else if rest.hasSuffix("h") {
            rest = rest.dropLast()
        }
        guard rest.first?.isNumber == true, rest.utf8.count <= 5 else { return nil }
        let parts = rest.split(omittingEmptySubsequences: false) { $0 == ":" || $0 == "." }
        guard parts.count <= 2, let hour = digits(parts[0]), parts[0].count <= 2, hour <= 24 else { return nil }
        guard parts.count == 2 else { return (hour, nil, half) }
        guard parts[1].count == 2, let minute = digits(parts[1]), minute < 60, hour < 24 || minute == 0 else {
            return nil
        }
        return (hour, minute, half)
    }

    // MARK: Words

    /// `half past three`, `Viertel vor neun`, `halb acht`, `zehn nach acht`.
    private func spokenClock(_ index: Int, isLed: Bool) -> (SaidClock, Int)? {
        let start = language == .english && word(index) == "a" && word(index + 1) == "quarter" ? index + 1 : index
        let word = word(start)
        if language == .german, word == "halb" || word == "dreiviertel" {
            guard let hour = number(start + 1), (1...24).contains(hour),
                Self.digits(self.word(start + 1)) == nil || isLed,
                !vocabulary.measures.contains(self.word(start + 2))
            else { return nil }
            let isSaid = self.word(start + 2) != "uhr"
            return (Self.clock(hour, word == "halb" ? -30 : -15, isOpen: isSaid), isSaid ? start + 2 : start + 3)
        }
        let isQuarter = ["quarter", "viertel"].contains(word)
        let minutes: Int? = isQuarter ? 15 : word == "half" ? 30 : isLed ? number(start) : nil
        guard let minutes, (1...30).contains(minutes) else { return nil }
        let place = isAny(start + 1, ["minutes", "minuten"]) ? start + 2 : start + 1
        let sign: Int
        switch self.word(place) {
        case "past" where language == .english, "nach" where language == .german: sign = 1
        case "after" where language == .english && isQuarter: sign = 1
        case "to" where language == .english && minutes < 30, "vor" where language == .german: sign = -1
        case "before" where language == .english && isQuarter: sign = -1
        default: return nil
        }
        // `fünf vor halb acht`
        if language == .german, self.word(place + 1) == "halb", let hour = number(place + 2), (1...24).contains(hour) {
            return (Self.clock(hour, sign * minutes - 30, isOpen: true), place + 3)
        }
        guard let hour = number(place + 1), (1...24).contains(hour) else { return nil }
        var clock = Self.clock(hour, sign * minutes, isOpen: true)
        var end = place + 2
        if language == .english {
            end = halved(&clock, end)
        } else if self.word(end) == "uhr" {
            (clock.isOpen, end) = (false, end + 1)
        }
        return (clock, end)
    }

    /// An hour with minutes before or after it.
    private static func clock(_ hour: Int, _ minutes: Int, isOpen: Bool) -> SaidClock {
        let total = (hour * 60 + minutes + 1440) % 1440
        return SaidClock(hour: total / 60, minute: total % 60, isOpen: isOpen)
    }

    /// `noon`, `midnight`, `mittags`, `um Mitternacht`. Midnight is the end of its day.
    private func namedClock(_ index: Int, isLed: Bool) -> (SaidClock, Int)? {
        let word = plainNoun(index)
        let isAlone = isLed || isEnd(index + 1) && !isAny(index - 1, ["high", "the", "a", "after", "until"])
        switch word {
        case "noon", "midday": return isAlone ? (SaidClock(hour: 12), index + 1) : nil
        case "midnight": return isAlone ? (SaidClock(hour: 24), index + 1) : nil
        case "mittags": return (SaidClock(hour: 12), index + 1)
        case "mitternacht": return isLed ? (SaidClock(hour: 24), index + 1) : nil
        default: return nil
        }
    }

    private func plainNoun(_ index: Int) -> String { language == .german ? word(index) : plain(index) }
}
