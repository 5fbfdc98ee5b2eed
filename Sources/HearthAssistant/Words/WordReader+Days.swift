extension WordReader {
    /// A day with the words that lead to it, and the part of the day or the hour behind it.
    func dayWords(_ index: Int) -> Found? {
        var start = index
        var isLed = false
        switch (language, word(index)) {
        case (.english, "on"), (.english, "starting"), (.english, "beginning"): (start, isLed) = (index + 1, true)
        case (.english, "by") where kind == .reminder: (start, isLed) = (index + 1, true)
        case (.german, "am"), (.german, "ab"), (.german, "den"): (start, isLed) = (index + 1, true)
        default: break
        }
        guard let (day, end, isName) = day(start, isLed: isLed) else { return nil }
        var said = Said(day: day, isName: isName && !isLed)
        var next = end
        if let (part, after) = partAfterDay(end) {
            said.part = part
            next = after
        }
        // `tomorrow 9`
        if word(next).count <= 2, let hour = Self.digits(word(next)), hour <= 24, isEnd(next + 1) {
            said.clock = SaidClock(hour: hour, isOpen: true)
            next += 1
        }
        return Found(said: said, end: next)
    }

    /// A day at a place.
    /// - Parameter isLed: whether a word such as `on` stands before it.
    func day(_ index: Int, isLed: Bool) -> (day: SaidDay, end: Int, isName: Bool)? {
        if let (days, end) = relativeDay(index) { return (.relative(days), end, false) }
        if let (day, end) = date(index, isLed: isLed, weekday: nil) { return (day, end, !Self.isISO(word(index))) }
        return weekday(index, isLed: isLed)
    }

    private func relativeDay(_ index: Int) -> (Int, Int)? {
        if language == .english {
            switch plain(index) {
            case "today": return (0, index + 1)
            case "tomorrow", "tmrw": return (1, index + 1)
            case "the": return after(index, "the", "day", "after", "tomorrow").map { (2, $0) }
            case "day": return after(index, "day", "after", "tomorrow").map { (2, $0) }
            default: return nil
            }
        }
        switch plain(index) {
        // `heute in zwei Wochen` is the offset alone.
        case "heute": return (0, index + 1)
        case "morgen": return isAny(index - 1, ["guten", "am", "jeden", "diesen", "den"]) ? nil : (1, index + 1)
        case "übermorgen", "uebermorgen": return (2, index + 1)
        default: return nil
        }
    }

    // MARK: Days of the week

    private func weekday(_ index: Int, isLed: Bool) -> (SaidDay, Int, Bool)? {
        let isNext = isAny(index, ["next", "nächsten", "nächster", "nächste", "naechsten"])
        let isComing = isAny(index, ["this", "coming", "diesen", "kommenden", "dieser"])
        // `next week on Tuesday`, `nächste Woche Dienstag`
        let week =
            isNext && isAny(index + 1, ["week", "woche"])
            ? isAny(index + 2, ["on", "am"]) ? index + 3 : index + 2 : nil
        let place = week ?? (isNext || isComing ? index + 1 : index)
        guard let number = weekdayNumber(place, isLed: isLed || isNext || isComing) else { return nil }
        var end = place + 1
        // `Friday, the 3rd`, `Freitag, 3. Mai`
        let article = isAny(end, ["the", "der", "den", "dem"]) ? end + 1 : end
        if !isNext, let (day, after) = date(article, isLed: article > end || isLed, weekday: number) {
            return (day, after, !isLed)
        }
        if isNext || place > index + 1 { return (.weekday(number, .next), end, false) }
        for (first, second) in [("next", "week"), ("nächste", "woche"), ("nächster", "woche")] {
            if let after = after(end, first, second) { return (.weekday(number, .next), after, false) }
        }
        if isComing || isLed { return (.weekday(number, .coming), end, false) }
        guard isFree(place) else { return nil }
        if word(end) == "," { end += 1 }
        return (.weekday(number, .coming), end, true)
    }

    private static let shortWeekdays = ["mo", "di", "mi", "do", "fr", "sa", "so"]

    private func weekdayNumber(_ index: Int, isLed: Bool) -> Int? {
        let word = word(index)
        if let number = vocabulary.weekdays[word] {
            // `sun` and `mon` in small letters are no days unless a word leads to them.
            return word.count > 4 || isLed || isCapital(index) ? number : nil
        }
        // `Do 12:30`, `Fr, 18 Uhr`
        if language == .german, word.count == 2, isCapital(index), let number = Self.shortWeekdays.firstIndex(of: word),
            isAny(index + 1, ["um"]) || self.word(index + 1).first?.isNumber == true
        {
            return number
        }
        // `Montagabend` is a day with a part of it.
        guard language == .german, let (number, _) = dayAndPart(word) else { return nil }
        return number
    }

    /// The day of `montagabend` with its part.
    private func dayAndPart(_ word: String) -> (Int, DayPart)? {
        for (ending, part) in Self.germanParts where word.hasSuffix(ending) && word.count > ending.count {
            if let number = vocabulary.weekdays[String(word.dropLast(ending.count))] { return (number, part) }
        }
        return nil
    }

    /// Whether a day of the week without a word that leads to it is a time, and no part of a name.
    private func isFree(_ index: Int) -> Bool {
        if isPartOfName(index) || ["and", "und", "or", "oder"].contains(word(index - 1)) { return false }
        let next = index + 1
        if isEnd(next) { return true }
        if vocabulary.followers.contains(word(next)) || partAfterDay(next) != nil { return true }
        if clockWords(next) != nil || range(next) != nil { return true }
        if language == .german { return isBeginning(index) || !isCapital(next) || isCapital(index - 1) }
        return isBeginning(index) && !isCapital(next)
    }

    // MARK: Dates

    private static func isISO(_ word: String) -> Bool { word.utf8.count == 10 && word.contains("-") }

    /// A date in numbers or with the name of its month.
    func date(_ index: Int, isLed: Bool, weekday: Int?) -> (SaidDay, Int)? {
        let word = word(index)
        if Self.isISO(word), let day = CalendarDay(word) {
            return (.date(year: day.year, month: day.month, day: day.day, weekday: weekday), index + 1)
        }
        if let (day, month, year) = numericDate(word, isLed: isLed) {
            return (.date(year: year, month: month, day: day, weekday: weekday), index + 1)
        }
        // `May 3`, `May 3rd, 2027`
        if language == .english, let month = month(index, isLed: isLed),
            let day = dayNumber(index + 1, needsEnding: false),
            !vocabulary.measures.contains(self.word(index + 2))
        {
            let (year, end) = year(index + 2)
            return (.date(year: year, month: month, day: day, weekday: weekday), end)
        }
        let place = language == .english && word == "the" && isLed ? index + 1 : index
        guard let day = dayNumber(place, needsEnding: false) else { return nil }
        let name = language == .english && isAny(place + 1, ["of"]) ? place + 2 : place + 1
        // `3 May`, `the third of May`, `3. Mai`
        if let month = month(name, isLed: true), language == .german || isCapital(name) || isLed {
            let (year, end) = year(name + 1)
            return (.date(year: year, month: month, day: day, weekday: weekday), end)
        }
        // `on the 3rd`, `am 3.`
        guard isLed, dayNumber(place, needsEnding: true) != nil, language == .german || place > index || weekday != nil,
            !vocabulary.measures.contains(self.word(place + 1))
        else { return nil }
        if language == .english, word.last?.isNumber == false, vocabulary.ordinals[self.word(place)] != nil {
            return nil
        }
        if language == .german, isCapital(place + 1), !isEnd(place + 1), vocabulary.ordinals[self.word(place)] != nil {
            return nil
        }
        return (.dayOfMonth(day, weekday: weekday), place + 1)
    }

    /// `3.5.` and `3.5.2027`; `12/31/2026` where one order alone is possible.
    private func numericDate(_ word: String, isLed: Bool) -> (day: Int, month: Int, year: Int?)? {
        let separator: Character = language == .german ? "." : "/"
        guard word.utf8.count <= 10, word.contains(separator) else { return nil }
        let parts = word.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.count >= 2, let first = Self.digits(parts[0]), let second = Self.digits(parts[1]) else {
            return nil
        }
        if language == .german {
            guard (1...31).contains(first), (1...12).contains(second) else { return nil }
            if parts.count == 3, parts[2].isEmpty { return (first, second, nil) }
            if parts.count == 2 { return isLed ? (first, second, nil) : nil }
            guard parts.count == 3, let year = Self.year(parts[2]) else { return nil }
            return (first, second, year)
        }
        guard parts.count == 3, parts[2].count == 4, let year = Self.year(parts[2]) else { return nil }
        if first > 12, (1...12).contains(second) { return (first, second, year) }
        if second > 12 || first == second, (1...12).contains(first) { return (second, first, year) }
        return nil
    }

    private static func year(_ word: Substring) -> Int? {
        guard let number = digits(word) else { return nil }
        if word.count == 2 { return 2000 + number }
        return (1900...2999).contains(number) ? number : nil
    }

    /// A year behind a date, and the place after it.
    func year(_ index: Int) -> (Int?, Int) {
        guard word(index).count == 4, let year = Self.year(Substring(word(index))), year >= 2000 else {
            return (nil, index)
        }
        return (year, index + 1)
    }

    /// The number of a month. `may` and `march` in small letters need a word that leads to them.
    func month(_ index: Int, isLed: Bool) -> Int? {
        let word = word(index).hasSuffix(".") ? String(word(index).dropLast()) : word(index)
        guard let month = vocabulary.months[word], language == .german || isLed || isCapital(index) || word.count > 5
        else { return nil }
        return month
    }

    /// The number of a day: `3`, `3rd`, `3.`, `third`.
    /// - Parameter needsEnding: whether a number without `rd` or a point does not count.
    func dayNumber(_ index: Int, needsEnding: Bool) -> Int? {
        let word = word(index)
        if let ordinal = vocabulary.ordinals[word] { return ordinal }
        let digits = word.prefix { ("0"..."9").contains($0) }
        let ending = word.dropFirst(digits.count)
        let endings: Set<Substring> = language == .german ? ["."] : ["st", "nd", "rd", "th"]
        guard digits.count <= 2, let number = Self.digits(digits), (1...31).contains(number),
            endings.contains(ending) || ending.isEmpty && !needsEnding
        else { return nil }
        // A German day has its point: `3. Mai`, or its name follows: `3 Mai`.
        return number
    }
}
