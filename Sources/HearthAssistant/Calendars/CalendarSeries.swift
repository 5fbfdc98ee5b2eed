import Foundation

/// Lists the occurrences of a record: its rules, RDATE, EXDATE and overrides. Used on ``CalendarThread``.
struct CalendarSeries {
    /// One occurrence, in seconds since 1970.
    struct Occurrence {
        let item: CalendarItem
        let start: CalendarTime
        let begin: Int
        let end: Int
    }

    let record: CalendarRecord
    let clock: CalendarClock

    /// Whether a rule of the series is kept but not expanded.
    var isUnexpanded: Bool {
        guard let master = record.master, let start = master.start else { return false }
        return master.hasUnknownRecurrence
            || !master.rules.allSatisfy { RecurrenceRule($0)?.isExpandable(from: start.wall) ?? false }
    }

    /// The occurrences that overlap a period, in no order.
    func occurrences(from: Int, until: Int) -> [Occurrence] {
        var found: [Occurrence] = []
        var overridden: Set<Int> = []
        for item in record.overrides {
            if let id = item.recurrenceID { overridden.insert(key(id)) }
            guard item.status != "CANCELLED", let start = item.start ?? item.recurrenceID else { continue }
            found.append(occurrence(item, start))
        }
        if let master = record.master, let start = master.start, master.status != "CANCELLED" {
            let periods = Dictionary(
                master.dates.compactMap { date in date.end.map { (key(date.start), $0) } }, uniquingKeysWith: { $1 })
            let span = master.dates.lazy.compactMap(length).reduce(length(of: master), max)
            let slack = 2 * WallTime.daySeconds
            let window = WallTime(seconds: from - span - slack)...WallTime(seconds: max(from, until) + slack)
            let excluded = Set(master.exceptions.map(key)).union(overridden)
            // Days exclude all occurrences of that day.
            let excludedDays = Set(master.exceptions.filter { $0.isDay && !start.isDay }.map(\.wall.dayNumber))
            for time in starts(of: master, start, in: window)
            where !excluded.contains(key(time)) && !excludedDays.contains(time.wall.dayNumber) {
                found.append(occurrence(master, time, periods[key(time)]))
            }
        }
        return found.filter { $0.begin < until && ($0.end > from || ($0.end == $0.begin && $0.begin >= from)) }
    }

    /// The starts of a series inside a window, on the clock of its start; without exceptions taken out.
    func starts(of item: CalendarItem, _ start: CalendarTime, in window: ClosedRange<WallTime>) -> [CalendarTime] {
        var starts: Set<CalendarTime> = window.contains(start.wall) ? [start] : []
        for time in item.dates.map(\.start) where window.contains(time.wall) {
            starts.insert(start.isDay ? CalendarTime(time.wall.midnight, .day) : time)
        }
        for text in item.rules {
            guard let rule = RecurrenceRule(text),
                let times = Recurrence.times(
                    of: rule, start: start.wall, in: window,
                    until: clock.until(of: rule, start: start, record.zones))
            else { continue }
            for time in times { starts.insert(CalendarTime(time, start.clock)) }
        }
        // An RDATE may name a time of the rule on another clock.
        var seen: Set<Int> = []
        return starts.filter { seen.insert(key($0)).inserted }
    }

    /// - Parameter end: the end that a period of RDATE gives the occurrence.
    func occurrence(_ item: CalendarItem, _ start: CalendarTime, _ end: AddedDate.End? = nil) -> Occurrence {
        let begin = clock.moment(of: start, record.zones)
        let own: Int? =
            switch end {
            case nil: nil
            case .at(let time): clock.moment(of: time, record.zones)
            case .after(let duration): self.end(after: duration, start: start, begin: begin)
            }
        return Occurrence(
            item: item, start: start, begin: begin,
            end: own.map { max(begin, $0) } ?? self.end(of: item, start: start, begin: begin))
    }

    /// The seconds of a period; `nil` for a date without an end of its own.
    private func length(of date: AddedDate) -> Int? {
        switch date.end {
        case nil: nil
        case .at(let time):
            clock.moment(of: time, record.zones) - clock.moment(of: date.start, record.zones)
        case .after(let duration): duration.days * WallTime.daySeconds + duration.seconds
        }
    }

    private func end(after duration: CalendarDuration, start: CalendarTime, begin: Int) -> Int {
        let day = CalendarTime(start.wall + duration.days * WallTime.daySeconds, start.clock)
        return max(begin, clock.moment(of: day, record.zones) + duration.seconds)
    }

    /// The end of an occurrence: DTEND gives all occurrences the same exact length, DURATION days on the clock.
    private func end(of item: CalendarItem, start: CalendarTime, begin: Int) -> Int {
        if start.isDay { return clock.moment(of: CalendarTime(start.wall + length(of: item), .day)) }
        if let duration = item.duration, item.end == nil {
            return end(after: duration, start: start, begin: begin)
        }
        return begin + length(of: item)
    }

    /// The seconds of an item; of days on the clock.
    func length(of item: CalendarItem) -> Int {
        guard let start = item.start else { return 0 }
        if start.isDay {
            // An end with a time of day does not belong to whole days.
            let seconds =
                item.end.flatMap { $0.isDay ? $0.wall.seconds - start.wall.seconds : nil }
                ?? item.duration.map { $0.days * WallTime.daySeconds + $0.seconds } ?? 0
            return max(WallTime.daySeconds, seconds)
        }
        if let end = item.end {
            return max(0, clock.moment(of: end, record.zones) - clock.moment(of: start, record.zones))
        }
        return max(0, (item.duration?.days ?? 0) * WallTime.daySeconds + (item.duration?.seconds ?? 0))
    }

    /// Identifies an occurrence by its original start.
    private func key(_ time: CalendarTime) -> Int {
        time.isDay || record.master?.start?.isDay == true
            ? time.wall.midnight.seconds : clock.moment(of: time, record.zones)
    }
}

extension CalendarSeries {
    /// The values of an item as the store's callers get them.
    func event(_ item: CalendarItem, collection: String, at occurrence: Occurrence? = nil) -> CalendarEvent {
        let start = item.start ?? item.recurrenceID
        var fields = EventFields(
            title: item.title, location: item.location.isEmpty ? nil : item.location,
            notes: item.notes.isEmpty ? nil : item.notes, recurrence: record.master?.rules.first,
            alarmMinutes: item.alarmMinutes)
        if let start {
            fields.start = clock.eventTime(start, record.zones)
            fields.end = end(occurrence ?? self.occurrence(item, start))
        }
        return CalendarEvent(
            id: record.id, collection: collection, fields: fields,
            isInvitation: item.isInvitation || record.master?.isInvitation == true, repeatsUnexpanded: isUnexpanded,
            source: record.source)
    }

    /// The end of an occurrence in the form of its start.
    func end(_ occurrence: Occurrence) -> EventTime {
        let start = clock.eventTime(occurrence.start, record.zones)
        if start.isAllDay {
            return EventTime(start.date.addingTimeInterval(Double(length(of: occurrence.item))), isAllDay: true)
        }
        return EventTime(Date(timeIntervalSince1970: Double(occurrence.end)), timeZone: start.timeZone)
    }
}
