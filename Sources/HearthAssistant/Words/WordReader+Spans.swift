extension WordReader {
    private static let joints: Set<String> = ["to", "until", "till", "through", "bis", "-", "–", "—"]

    // MARK: From and to

    /// A time or days from a beginning to an end: `from 3 to 4pm`, `9–11 Uhr`, `vom 3. bis 7. Mai`. Of events alone.
    func range(_ index: Int) -> Found? {
        guard kind == .event else { return nil }
        let isLed = isAny(index, language == .english ? ["from"] : ["von", "vom"])
        let start = isLed ? index + 1 : index
        return joinedHours(start, isLed: isLed) ?? hours(start, isLed: isLed) ?? days(start, isLed: isLed)
    }

    private func hours(_ index: Int, isLed: Bool) -> Found? {
        let bare = bareHour(index)
        // `from 10 to 11` is a span, not ten minutes before eleven.
        let isSpan = isLed && bare.map { Self.joints.contains(word($0.1)) } ?? false
        let spoken = isSpan ? nil : clock(index, isLed: isLed)
        guard let (first, joint) = spoken ?? bare, Self.joints.contains(word(joint)) else { return nil }
        let isBare = spoken == nil
        if let (last, end) = clock(joint + 1, isLed: isLed) { return period(first, last, end, isName: !isLed) }
        guard isLed || !isBare, let (last, end) = bareHour(joint + 1) else { return nil }
        let follows = isEnd(end) || vocabulary.followers.contains(word(end)) || dayWords(end) != nil
        guard follows || language == .german && !vocabulary.measures.contains(word(end)) else { return nil }
        return period(first, last, end, isName: isBare)
    }

    /// `3-4pm`, `9:00–10:30`, `19–21 Uhr`
    private func joinedHours(_ index: Int, isLed: Bool) -> Found? {
        let sides = word(index).split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "–" }
        guard sides.count == 2, let first = Self.numbers(of: String(sides[0]), language),
            let last = Self.numbers(of: String(sides[1]), language)
        else { return nil }
        let isHour = word(index + 1) == "uhr" && language == .german
        let isTimed = first.minute != nil && last.minute != nil && word(index).contains(":")
        guard isLed || isHour || isTimed || last.half != nil || first.half != nil else { return nil }
        func clock(_ side: (hour: Int, minute: Int?, half: SaidClock.Half?), _ text: Substring) -> SaidClock {
            SaidClock(
                hour: side.hour, minute: side.minute ?? 0, half: side.half,
                isOpen: !isHour && !text.hasPrefix("0") && !(language == .german && side.minute != nil))
        }
        return period(clock(first, sides[0]), clock(last, sides[1]), index + (isHour ? 2 : 1), isName: false)
    }

    /// A half of the day said behind the end counts for the beginning as well: `from 3 to 4pm`, but `from 11 to 1pm`.
    private func period(_ first: SaidClock, _ last: SaidClock, _ end: Int, isName: Bool) -> Found {
        var first = first
        if first.half == nil, first.isOpen, let half = last.half {
            let crosses = half == .afternoon && first.hour % 12 > last.hour % 12 && first.hour != 12
            first.half = first.hour > 12 ? nil : crosses ? .morning : half
        }
        if first.part == nil, first.half == nil { first.part = last.part }
        if !last.isOpen, last.half == nil, language == .german { first.isOpen = false }
        return Found(said: Said(clock: first, endClock: last, isName: isName), end: end)
    }

    private func days(_ index: Int, isLed: Bool) -> Found? {
        // `May 3-5`
        if language == .english, let month = self.month(index, isLed: isLed) {
            let sides = word(index + 1).split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "–" }
            if sides.count == 2, let first = Self.digits(sides[0]), let last = Self.digits(sides[1]), first < last {
                let (year, end) = year(index + 2)
                return days(
                    .date(year: year, month: month, day: first, weekday: nil),
                    .date(year: year, month: month, day: last, weekday: nil), end)
            }
        }
        // `3. bis 7. Mai`, `the 3rd to the 5th of May`
        let place = isAny(index, ["the"]) ? index + 1 : index
        if let first = dayNumber(place, needsEnding: true), Self.joints.contains(word(place + 1)) {
            let next = isAny(place + 2, ["the", "zum"]) ? place + 3 : place + 2
            if let (day, end) = date(next, isLed: true, weekday: nil),
                case .date(let year, let month, let last, _) = day
            {
                let isSame = first <= last
                let start = SaidDay.date(
                    year: isSame ? year : nil, month: isSame ? month : (month + 10) % 12 + 1, day: first, weekday: nil)
                return days(start, day, end)
            }
        }
        guard let (first, joint, _) = day(index, isLed: isLed), Self.joints.contains(word(joint)) else { return nil }
        let next = isAny(joint + 1, ["the", "zum"]) ? joint + 2 : joint + 1
        // `May 3 to 5`
        if case .date(let year, let month, _, _) = first, language == .english,
            let last = dayNumber(next, needsEnding: false),
            self.month(next + 1, isLed: true) == nil, word(next + 1) != "of"
        {
            return days(first, .date(year: year, month: month, day: last, weekday: nil), next + 1)
        }
        guard let (last, end, _) = day(next, isLed: true) else { return nil }
        return days(first, last, end)
    }

    private func days(_ first: SaidDay, _ last: SaidDay, _ end: Int) -> Found {
        Found(said: Said(day: first, lastDay: last), end: end)
    }

    // MARK: Until

    /// The end of a repetition or of a span, or the time by which a reminder is due: `until June`, `bis Freitag`.
    func until(_ index: Int) -> Found? {
        guard isAny(index, language == .english ? ["until", "till", "til"] : ["bis"]) else { return nil }
        var start = index + 1
        if isAny(start, ["zum", "the"]) { start += 1 }
        if let place = after(start, "end", "of") ?? after(start, "ende"), let month = month(place, isLed: true) {
            let (year, end) = year(place + 1)
            return Found(said: Said(until: .month(month, year: year, isEnd: true)), end: end)
        }
        if let (day, end, _) = day(start, isLed: true) { return Found(said: Said(until: day), end: end) }
        if let month = month(start, isLed: true) {
            let (year, end) = year(start + 1)
            return Found(said: Said(until: .month(month, year: year, isEnd: false)), end: end)
        }
        guard let (clock, end) = clock(start, isLed: false) else { return nil }
        return Found(said: Said(untilClock: clock), end: end)
    }

    // MARK: Lengths

    /// How long an event lasts, or how often it is repeated: `for two hours`, `45 Minuten lang`, `zehnmal`.
    func length(_ index: Int) -> Found? {
        if let (count, end) = times(index) { return Found(said: Said(count: count), end: end) }
        guard kind == .event else { return nil }
        let isLed = isAny(index, language == .english ? ["for"] : ["für"])
        guard let (value, unit, end) = quantity(isLed ? index + 1 : index) else { return nil }
        guard isLed || language == .german && word(end) == "lang" else { return nil }
        let after = word(end) == "lang" ? end + 1 : end
        switch unit {
        case .minute, .hour:
            let minutes = Int(value * (unit == .hour ? 60 : 1))
            return (1...10_080).contains(minutes) ? Found(said: Said(length: .minutes(minutes)), end: after) : nil
        case .day, .week:
            let days = Int(value * (unit == .week ? 7 : 1))
            return (1...366).contains(days) ? Found(said: Said(length: .days(days)), end: after) : nil
        case .month, .year: return nil
        }
    }

    private func times(_ index: Int) -> (Int, Int)? {
        let word = word(index)
        if language == .german, word.hasSuffix("mal"), let number = vocabulary.numbers[String(word.dropLast(3))],
            number > 1
        {
            return (number, index + 1)
        }
        guard let number = number(index), (2...999).contains(number), isAny(index + 1, ["times", "mal"]),
            !isAny(index + 2, ["a", "per", "pro", "am", "im"])
        else { return nil }
        return (number, index + 2)
    }

    /// A time after now: `in 20 minutes`, `in zwei Wochen`, `two days from now`.
    func offset(_ index: Int) -> Found? {
        // `heute in zwei Wochen` begins at today, as the offset does.
        let start = isAny(index, ["heute"]) && word(index + 1) == "in" ? index + 1 : index
        if plain(start) == "in", let (value, unit, end) = quantity(start + 1) { return offset(value, unit, end) }
        guard language == .english, let (value, unit, joint) = quantity(index),
            let end = after(joint, "from", "now") ?? after(joint, "from", "today")
        else { return nil }
        return offset(value, unit, end)
    }

    private func offset(_ value: Double, _ unit: TimeUnit, _ end: Int) -> Found? {
        switch unit {
        case .minute, .hour:
            let minutes = Int(value * (unit == .hour ? 60 : 1))
            return (1...10_080).contains(minutes) ? Found(said: Said(minutes: minutes), end: end) : nil
        case .day, .week, .month, .year:
            guard value == value.rounded(), (1...1000).contains(value) else { return nil }
            let number = Int(value)
            var said = Said(day: unit == .day ? .relative(number) : .offset(number, unit))
            guard let (part, after) = partAfterDay(end), language == .english else {
                return Found(said: said, end: end)
            }
            said.part = part
            return Found(said: said, end: after)
        }
    }
}
