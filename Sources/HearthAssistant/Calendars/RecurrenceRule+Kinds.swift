extension RecurrenceRule {
    /// Whether libical 3.0.16 expands the rule rightly, and finds a first occurrence in bounded time.
    ///
    /// The kinds were found by comparing libical with python-dateutil on 30,000 rules and with the rules of libical's own
    /// tests: it expands BYWEEKNO, BYHOUR and finer parts, BYSETPOS in most rules, a BYMONTHDAY that counts from the end
    /// in a daily rule, a BYMONTHDAY without BYMONTH in a yearly rule, repeated values, and weeks that begin neither on
    /// Monday nor on Sunday wrongly at least sometimes. Such rules are kept in their files, and never created.
    package func isExpandable(from start: WallTime) -> Bool {
        guard !hasOtherParts, weekStart == 0 || weekStart == 6, !hasRepeatedValues else { return false }
        let hasOrdinals = days.contains { $0.ordinal != 0 }
        switch frequency {
        case .secondly, .minutely: return false
        case .hourly: return hasNoParts
        case .daily:
            return !hasOrdinals && yearDays.isEmpty && positions.isEmpty && monthDays.allSatisfy { $0 > 0 }
                && hasDay(from: start)
        case .weekly: return !hasOrdinals && yearDays.isEmpty && positions.isEmpty && monthDays.isEmpty
        case .monthly:
            return yearDays.isEmpty && days.allSatisfy { abs($0.ordinal) <= 5 } && (!hasOrdinals || monthDays.isEmpty)
                && hasMonth(from: start) && hasMonthDay && hasPosition(months: 1)
        case .yearly:
            if !yearDays.isEmpty { return days.isEmpty && months.isEmpty && monthDays.isEmpty && positions.isEmpty }
            guard monthDays.isEmpty || !months.isEmpty, !hasOrdinals || monthDays.isEmpty,
                months.isEmpty || days.allSatisfy({ abs($0.ordinal) <= 5 })
            else { return false }
            return hasMonthDay && (positions.isEmpty || !months.isEmpty) && hasPosition(months: months.count)
        }
    }

    private var hasNoParts: Bool {
        days.isEmpty && months.isEmpty && monthDays.isEmpty && yearDays.isEmpty && positions.isEmpty
    }

    private var hasRepeatedValues: Bool {
        Set(days).count != days.count
            || [months, monthDays, yearDays, positions].contains { Set($0).count != $0.count }
    }

    /// Whether a month with the rule's interval is one of its months.
    private func hasMonth(from start: WallTime) -> Bool {
        let first = start.fields.month - 1
        return months.isEmpty || (0..<12).contains { months.contains((first + $0 * interval) % 12 + 1) }
    }

    /// Whether a month of the rule has one of its days.
    private var hasMonthDay: Bool {
        let months = months.isEmpty ? [1] : months
        return monthDays.isEmpty
            || months.contains { month in
                monthDays.contains { abs($0) <= WallTime.days(inMonth: month, of: 2000) }
            }
    }

    /// Whether each period has the rule's positions: libical would look for others up to the year 20000.
    private func hasPosition(months: Int) -> Bool {
        if positions.isEmpty { return true }
        guard monthDays.isEmpty, !days.isEmpty, days.allSatisfy({ $0.ordinal == 0 }) else { return false }
        return positions.allSatisfy { abs($0) <= 4 * days.count * months }
    }

    /// Whether a daily rule matches a day within 28 years, after which weekdays and leap days repeat.
    private func hasDay(from start: WallTime) -> Bool {
        if days.isEmpty && months.isEmpty && monthDays.isEmpty { return true }
        var day = start.midnight
        let end = day + 28 * 366 * WallTime.daySeconds
        var step = 0
        while day < end || step < 7 * interval && step < 100 {
            let fields = day.fields
            if months.isEmpty || months.contains(fields.month), monthDays.isEmpty || monthDays.contains(fields.day),
                days.isEmpty || days.contains(where: { $0.weekday == day.weekday })
            {
                return true
            }
            day = day + interval * WallTime.daySeconds
            step += 1
        }
        return false
    }
}
