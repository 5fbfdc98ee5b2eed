import HearthBase

/// Finds the days that words name, as numbers since 1 January 1970.
struct WordedDays {
    /// The present minute of the person's clock, since 1970.
    let minute: Int

    private var today: Int { minute.flooredDivision(by: 1440).quotient }

    /// Whether a minute of a day is after the present one.
    func isLater(_ day: Int, _ minuteOfDay: Int) -> Bool { day * 1440 + minuteOfDay > minute }

    /// The day that words name; without one the next on which the minute is later than now.
    /// - Parameter start: the day that it follows, of the end of a span; `nil` for today.
    /// - Returns: `nil` for a day that does not exist, and for a day of the week that does not agree.
    func day(_ said: SaidDay?, minute: Int?, after start: Int? = nil) -> Int? {
        let from = start ?? today
        func isFitting(_ day: Int) -> Bool {
            if day != from || start != nil { return day >= from }
            return minute.map { isLater(day, $0) } ?? true
        }
        switch said {
        case nil: return minute.map { isLater(today, $0) ? today : today + 1 }
        case .relative(let days): return bounded(today + days)
        case .weekday(let number, let week):
            let distance = (number - Self.weekday(from) + 7) % 7
            if week == .next { return from - Self.weekday(from) + 7 + number }
            if distance > 0 { return from + distance }
            return start != nil || minute.map { isLater(from, $0) } ?? false ? from : from + 7
        case .date(let year, let month, let day, let weekday):
            let years = year.map { [$0] } ?? Array(Self.year(from)...Self.year(from) + 8)
            let found = years.lazy.compactMap { CivilDate.days(year: $0, month: month, day: day) }
                .first { year != nil || isFitting($0) }
            return agreed(found, weekday)
        case .dayOfMonth(let day, let weekday):
            let found = (0...12).lazy.compactMap { dayOfMonth(day, monthsLater: $0, than: from) }.first {
                isFitting($0)
            }
            return agreed(found, weekday)
        case .offset(let number, let unit): return offset(number, unit)
        case .month(let month, let year, let isEnd):
            let years = year.map { [$0] } ?? [Self.year(from), Self.year(from) + 1]
            return years.lazy.compactMap { year in
                CivilDate.days(year: year, month: month, day: isEnd ? WallTime.days(inMonth: month, of: year) : 1)
            }.first { year != nil || $0 >= from }
        }
    }

    /// The first day of a repetition; `nil` if no word names it.
    func first(of rule: SaidRule, from said: SaidDay?, minute: Int?) -> Int? {
        var from = today
        if let said {
            guard let day = day(said, minute: minute) else { return nil }
            from = day
        }
        func isFitting(_ day: Int) -> Bool { day > today || minute.map { isLater(day, $0) } ?? true }
        if rule.ordinal != 0 {
            return (0...12).lazy.compactMap { ordinalDay(rule, monthsLater: $0, than: from) }.first {
                $0 >= from && isFitting($0)
            }
        }
        if !rule.days.isEmpty {
            return (from...from + 7).first { rule.days.contains(Self.weekday($0)) && isFitting($0) }
        }
        if said != nil { return from }
        guard rule.frequency == "DAILY" else { return nil }
        return isFitting(today) ? today : today + 1
    }

    // MARK: Calendar

    private static func weekday(_ day: Int) -> Int { (day + 3).flooredDivision(by: 7).rest }

    private static func year(_ day: Int) -> Int { CivilDate(daysSince1970: day).year }

    private func bounded(_ day: Int) -> Int? { day <= CalendarDay(number: .max / 2).number ? day : nil }

    private func agreed(_ day: Int?, _ weekday: Int?) -> Int? {
        guard let day, weekday == nil || weekday == Self.weekday(day) else { return nil }
        return day
    }

    /// The year and month after a number of months.
    private static func month(_ months: Int, after day: Int) -> (year: Int, month: Int) {
        let date = CivilDate(daysSince1970: day)
        let (years, rest) = (date.month - 1 + months).flooredDivision(by: 12)
        return (date.year + years, rest + 1)
    }

    private func dayOfMonth(_ day: Int, monthsLater months: Int, than start: Int) -> Int? {
        let (year, month) = Self.month(months, after: start)
        return CivilDate.days(year: year, month: month, day: day)
    }

    private func ordinalDay(_ rule: SaidRule, monthsLater months: Int, than start: Int) -> Int? {
        let (year, month) = Self.month(months, after: start)
        guard let first = CivilDate.days(year: year, month: month, day: 1), let weekday = rule.days.first else {
            return nil
        }
        let last = first + WallTime.days(inMonth: month, of: year) - 1
        if rule.ordinal < 0 { return last - (Self.weekday(last) - weekday + 7) % 7 }
        return first + (weekday - Self.weekday(first) + 7) % 7 + (rule.ordinal - 1) * 7
    }

    /// The day after some weeks, months or years; the last of a month that is too short.
    private func offset(_ number: Int, _ unit: TimeUnit) -> Int? {
        if unit == .week { return bounded(today + number * 7) }
        let (year, month) = Self.month(unit == .year ? number * 12 : number, after: today)
        guard year <= 9999 else { return nil }
        let day = min(CivilDate(daysSince1970: today).day, WallTime.days(inMonth: month, of: year))
        return CivilDate.days(year: year, month: month, day: day)
    }
}
