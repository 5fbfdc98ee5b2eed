extension WordReader {
    /// A repetition: `every Monday`, `daily`, `alle zwei Wochen`, `montags und donnerstags`.
    func repetition(_ index: Int) -> Found? {
        let start = language == .english && isAny(index, ["on"]) ? index + 1 : index
        if let (rule, end) = weekdays(start) { return Found(said: Said(rule: rule), end: end) }
        return language == .english ? englishRepetition(index) : germanRepetition(index)
    }

    // MARK: Days of the week

    /// `Mondays and Thursdays`, `montags`, `weekdays`
    private func weekdays(_ index: Int) -> (SaidRule, Int)? {
        if language == .english, plain(index) == "weekdays", isAny(index - 1, ["on"]) || isEnd(index + 1) || index == 0
        {
            return (Self.workdays, index + 1)
        }
        if language == .german, plain(index) == "werktags" { return (Self.workdays, index + 1) }
        guard let first = vocabulary.eachWeekday[word(index)], language == .english || !isCapital(index) || index == 0,
            language == .german || isAny(index - 1, ["on"]) || isEnd(index + 1) || isBeginning(index)
                || vocabulary.followers.contains(word(index + 1))
        else { return nil }
        let (days, end) = list(from: first, index + 1) { vocabulary.eachWeekday[word($0)] }
        return (SaidRule(frequency: "WEEKLY", days: days), end)
    }

    private static let workdays = SaidRule(frequency: "WEEKLY", days: [0, 1, 2, 3, 4])

    /// The days of a list with commas, `and` and `und`.
    private func list(from first: Int, _ index: Int, _ day: (Int) -> Int?) -> (days: [Int], end: Int) {
        var days: Set = [first]
        var end = index
        while days.count < 7 {
            let place = isAny(end, ["and", "und", "&"]) ? end + 1 : end
            let isJoined = place > end || end > 0 && tokens.indices.contains(end - 1) && tokens[end - 1].endsClause
            guard isJoined, let next = day(place), days.insert(next).inserted else { break }
            end = place + 1
        }
        return (days.sorted(), end)
    }

    // MARK: English

    private func englishRepetition(_ index: Int) -> Found? {
        let word = plain(index)
        if ["daily", "weekly", "monthly", "yearly", "annually"].contains(word) {
            guard isAdverb(index) else { return nil }
            return Found(
                said: Said(rule: SaidRule(frequency: word == "annually" ? "YEARLY" : word.uppercased())), end: index + 1
            )
        }
        if word == "once", isAny(index + 1, ["a", "per"]), let unit = vocabulary.units[self.word(index + 2)] {
            return rule(unit, 1, index + 3)
        }
        guard word == "every" || word == "each" || word == "the" else { return nil }
        if let found = ordinalDay(index + 1, isEvery: word != "the") { return found }
        guard word != "the" else { return nil }
        var place = index + 1
        var interval = 1
        if self.word(place) == "other" || self.word(place) == "second" {
            (interval, place) = (2, place + 1)
        } else if let number = number(place), (2...99).contains(number) {
            (interval, place) = (number, place + 1)
        }
        if interval == 1, isAny(place, ["weekday"]) { return Found(said: Said(rule: Self.workdays), end: place + 1) }
        if interval == 1, isAny(place, ["weekend"]) {
            return Found(said: Said(rule: SaidRule(frequency: "WEEKLY", days: [5, 6])), end: place + 1)
        }
        if interval == 1, let (part, end) = partAfterDay(place), self.word(place) != "at", self.word(place) != "in" {
            return Found(said: Said(part: part, rule: SaidRule(frequency: "DAILY")), end: end)
        }
        if let first = vocabulary.weekdays[self.word(place)], interval <= 2 {
            let (days, end) = list(from: first, place + 1) { vocabulary.weekdays[self.word($0)] }
            return weekly(days, interval, end)
        }
        guard let unit = vocabulary.units[self.word(place)] else { return nil }
        return rule(unit, interval, place + 1)
    }

    /// Whether `daily` stands for itself and is not a part of a name or a noun: at an end, or before a word in small letters.
    private func isAdverb(_ index: Int) -> Bool {
        if isAny(index - 1, ["the", "a", "an", "my", "your", "our", "this", "new"]) { return false }
        return isEnd(index + 1) || vocabulary.followers.contains(word(index + 1))
            || isBeginning(index) && !isCapital(index + 1)
            || clockWords(index + 1) != nil || length(index + 1) != nil
    }

    // MARK: German

    private func germanRepetition(_ index: Int) -> Found? {
        switch plain(index) {
        case "täglich": return rule(.day, 1, index + 1)
        case "wöchentlich": return rule(.week, 1, index + 1)
        case "monatlich": return rule(.month, 1, index + 1)
        case "jährlich": return rule(.year, 1, index + 1)
        case "zweiwöchentlich": return rule(.week, 2, index + 1)
        case "einmal", "1x":
            guard isAny(index + 1, ["pro", "am", "im", "die"]), let unit = vocabulary.units[word(index + 2)] else {
                return nil
            }
            return rule(unit, 1, index + 3)
        case "an":
            let place = isAny(index + 1, ["allen", "den"]) ? index + 2 : index + 1
            return isAny(place, ["werktagen", "wochentagen"])
                ? Found(said: Said(rule: Self.workdays), end: place + 1) : nil
        case "alle":
            guard let number = number(index + 1), (2...99).contains(number),
                let unit = vocabulary.units[word(index + 2)]
            else { return nil }
            // `alle zwei Wochen freitags`, `alle zwei Wochen am Freitag`
            let end = index + 3
            if unit == .week, let (days, after) = weekdays(end) { return weekly(days.days, number, after) }
            if unit == .week, word(end) == "am", let day = vocabulary.weekdays[word(end + 1)] {
                return weekly([day], number, end + 2)
            }
            return rule(unit, number, end)
        case "jeden", "jede", "jedes": return germanEvery(index + 1)
        default: return nil
        }
    }

    private func germanEvery(_ index: Int) -> Found? {
        if let found = ordinalDay(index, isEvery: true) { return found }
        let isOther = isAny(index, ["zweiten", "zweite", "zweites"])
        let place = isOther ? index + 1 : index
        let interval = isOther ? 2 : 1
        if interval == 1, isAny(place, ["werktag", "wochentag"]) {
            return Found(said: Said(rule: Self.workdays), end: place + 1)
        }
        if interval == 1, isAny(place, ["wochenende"]) {
            return Found(said: Said(rule: SaidRule(frequency: "WEEKLY", days: [5, 6])), end: place + 1)
        }
        if interval == 1, isAny(place, ["morgen", "vormittag", "mittag", "nachmittag", "abend"]),
            let (part, end) = partAfterDay(place)
        {
            return Found(said: Said(part: part, rule: SaidRule(frequency: "DAILY")), end: end)
        }
        if let first = vocabulary.weekdays[word(place)] {
            let (days, end) = list(from: first, place + 1) { vocabulary.weekdays[word($0)] }
            return weekly(days, interval, end)
        }
        for (ending, part) in Self.germanParts where interval == 1 && word(place).hasSuffix(ending) {
            guard let day = vocabulary.weekdays[String(word(place).dropLast(ending.count))] else { continue }
            return Found(said: Said(part: part, rule: SaidRule(frequency: "WEEKLY", days: [day])), end: place + 1)
        }
        guard let unit = vocabulary.units[word(place)] else { return nil }
        return rule(unit, interval, place + 1)
    }

    // MARK: Rules

    /// `first Monday of the month`, `letzten Freitag im Monat`
    private func ordinalDay(_ index: Int, isEvery: Bool) -> Found? {
        let last: Set<String> = ["last", "letzten", "letzter"]
        guard let ordinal = last.contains(word(index)) ? -1 : vocabulary.ordinals[word(index)], ordinal <= 4,
            let day = vocabulary.weekdays[word(index + 1)]
        else { return nil }
        let place = index + 2
        let end =
            after(place, "of", "the", "month") ?? after(place, "of", "every", "month") ?? after(
                place, "of", "each", "month")
            ?? after(place, "in", "the", "month") ?? after(place, "im", "monat") ?? after(place, "des", "monats")
        guard let end else { return nil }
        // `the first Monday of the month` is said of one month too.
        guard isEvery || after(place, "of", "every", "month") != nil || after(place, "of", "each", "month") != nil
        else { return nil }
        return Found(said: Said(rule: SaidRule(frequency: "MONTHLY", days: [day], ordinal: ordinal)), end: end)
    }

    private func weekly(_ days: [Int], _ interval: Int, _ end: Int) -> Found {
        Found(said: Said(rule: SaidRule(frequency: "WEEKLY", interval: interval, days: days)), end: end)
    }

    private func rule(_ unit: TimeUnit, _ interval: Int, _ end: Int) -> Found? {
        let frequencies: [TimeUnit: String] = [.day: "DAILY", .week: "WEEKLY", .month: "MONTHLY", .year: "YEARLY"]
        guard let frequency = frequencies[unit] else { return nil }
        return Found(said: Said(rule: SaidRule(frequency: frequency, interval: interval)), end: end)
    }
}
