import Foundation
import HearthBase

/// Turns what words say into times of the person's clock.
struct WordedTimes {
    let zone: TimeZone
    let language: WordLanguage
    private let now: Date
    private let days: WordedDays

    init(now: Date, zone: TimeZone, language: WordLanguage) {
        self.now = now
        self.zone = zone
        self.language = language
        let local = Int(now.timeIntervalSince1970.rounded(.down)) + zone.secondsFromGMT(for: now)
        days = WordedDays(minute: local.flooredDivision(by: 60).quotient)
    }

    /// Fills in the times.
    /// - Returns: whether the words are certain. If not, the draft stays as it is.
    func fill(_ draft: inout WordedDraft, with said: Said) -> Bool {
        var result = draft
        let isCertain =
            switch draft.kind {
            case .event: event(&result, said)
            case .reminder: reminder(&result, said)
            case .habit: habit(&result, said)
            case .note: false
            }
        if isCertain { draft = result }
        return isCertain
    }

    // MARK: Kinds

    private func habit(_ draft: inout WordedDraft, _ said: Said) -> Bool {
        guard said == Said(rule: said.rule), let rule = said.rule, rule.interval == 1, rule.days.isEmpty else {
            return false
        }
        switch rule.frequency {
        case "DAILY": draft.frequency = .daily
        case "WEEKLY": draft.frequency = .weekly
        default: return false
        }
        return true
    }

    private func reminder(_ draft: inout WordedDraft, _ said: Said) -> Bool {
        var said = said
        guard said.length == nil, said.lastDay == nil, said.endClock == nil else { return false }
        if said.rule == nil {
            // `bis Freitag abgeben` is due on Friday; `until Friday` says how long something lasts.
            guard language == .german || said.until == nil && said.untilClock == nil else { return false }
            guard said.day == nil || said.until == nil, said.clock == nil || said.untilClock == nil else {
                return false
            }
            said.day = said.day ?? said.until
            said.clock = said.clock ?? said.untilClock
            said.until = nil
        } else if said.untilClock != nil {
            return false
        }
        guard let (due, rule) = beginning(said) else { return false }
        draft.due = due?.eventTime
        draft.recurrence = rule
        return true
    }

    private func event(_ draft: inout WordedDraft, _ said: Said) -> Bool {
        var said = said
        if said.rule == nil, let until = said.until {
            guard said.lastDay == nil, said.day != nil else { return false }
            (said.lastDay, said.until) = (until, nil)
        }
        if let clock = said.untilClock {
            guard said.endClock == nil, said.clock != nil else { return false }
            said.endClock = clock
        }
        guard let (start, rule) = beginning(said) else { return false }
        draft.start = start?.eventTime
        draft.recurrence = rule
        guard said.endClock != nil || said.lastDay != nil || said.length != nil else { return true }
        guard let start, let end = end(said, of: start) else { return false }
        draft.end = end.eventTime
        return true
    }

    // MARK: Beginning

    /// A day with a time of day, in minutes; a time of more than a day is on the next one.
    private struct Moment {
        var day: Int
        var minute: Int?
        let zone: TimeZone
        /// The exact moment, of words such as `in 20 minutes`.
        var date: Date?

        var eventTime: EventTime? {
            if let date { return EventTime(date, timeZone: zone.identifier) }
            guard let minute else {
                return EventTime(Date(timeIntervalSince1970: Double(day) * 86_400), isAllDay: true)
            }
            let (days, rest) = minute.flooredDivision(by: 1440)
            let text = "\(CalendarDay(number: day + days))T" + String(format: "%02d:%02d", rest / 60, rest % 60)
            return PayloadTime(text)?.eventTime(in: zone)
        }
    }

    /// The first time and the rule; `nil` if the words are not certain.
    private func beginning(_ said: Said) -> (Moment?, String?)? {
        if let minutes = said.minutes {
            guard said.day == nil, said.clock == nil, said.part == nil, said.rule == nil else { return nil }
            let exact = (now.timeIntervalSince1970 / 60).rounded(.down) * 60 + Double(minutes) * 60
            return (Moment(day: 0, minute: 0, zone: zone, date: Date(timeIntervalSince1970: exact)), nil)
        }
        let minute = said.clock.map { minutes(of: $0, said.part) } ?? said.part?.hour.map { $0 * 60 }
        guard let rule = said.rule else {
            guard var day = days.day(said.day, minute: minute) else { return nil }
            var shown = minute
            // The evening that is over at nine is still this evening: the day is certain, the hour is not.
            if said.clock == nil, let minute, said.day == .relative(0), !days.isLater(day, minute) { shown = nil }
            if said.part == .thisNight, said.clock == nil { shown = nil }
            if let minute = shown, minute >= 1440 { (day, shown) = (day + 1, minute - 1440) }
            return (Moment(day: day, minute: shown, zone: zone), nil)
        }
        guard let first = days.first(of: rule, from: said.day, minute: minute) else {
            // `monthly` names no day.
            guard said.day == nil, minute == nil, said.until == nil, rule.days.isEmpty else { return nil }
            return (nil, text(rule, until: nil, count: said.count))
        }
        var until: Int?
        if let end = said.until {
            guard let day = days.day(end, minute: nil, after: first), day >= first else { return nil }
            until = day
        }
        guard until == nil || said.count == nil else { return nil }
        let shift = (minute ?? 0) >= 1440
        // A rule names the days on which it begins, not those after midnight.
        guard !shift || rule.days.isEmpty else { return nil }
        return (
            Moment(day: shift ? first + 1 : first, minute: minute.map { $0 % 1440 }, zone: zone),
            text(rule, until: until, count: said.count)
        )
    }

    /// The minutes since midnight. Words of the part of the day, `am` and `pm` tell the half of the day.
    private func minutes(of clock: SaidClock, _ part: DayPart?) -> Int {
        var hour = clock.hour
        switch clock.half {
        case .morning: hour %= 12
        case .afternoon: hour += hour < 12 ? 12 : 0
        case nil where hour <= 12:
            switch clock.part ?? part {
            case .noon: hour += (1...3).contains(hour) ? 12 : 0
            case .afternoon: hour += (1...11).contains(hour) ? 12 : 0
            case .evening: hour += hour == 12 || hour == 0 ? 24 - hour : hour <= 3 ? 24 : 12
            case .night: hour += (6...11).contains(hour) ? 12 : hour == 12 ? -12 : 0
            case .thisNight: hour += hour == 12 ? 12 : hour >= 6 ? 12 : 24
            case .morning, .forenoon: break
            // The hours from one to five are those of the afternoon, unless they are written as on a clock of 24 hours.
            case nil: hour += clock.isOpen && (1...5).contains(hour) ? 12 : 0
            }
        case nil: break
        }
        return hour * 60 + clock.minute
    }

    // MARK: End

    private func end(_ said: Said, of start: Moment) -> Moment? {
        var end = start
        if let last = said.lastDay {
            guard start.minute == nil, start.date == nil, said.endClock == nil, said.length == nil,
                let day = days.day(last, minute: nil, after: start.day), day >= start.day
            else { return nil }
            end.day = day + 1
            return end
        }
        if let clock = said.endClock {
            guard said.length == nil, let begin = start.minute, start.date == nil else { return nil }
            let minute = minutes(of: clock, clock.half == nil ? said.clock?.part ?? said.part : nil)
            end.minute = minute > begin ? minute : minute + 1440
            return end
        }
        switch said.length {
        case .days(let days):
            guard start.date == nil else { return nil }
            end.day += days
            return end
        case .minutes(let minutes):
            if let date = start.date {
                end.date = date.addingTimeInterval(Double(minutes) * 60)
                return end
            }
            guard let begin = start.eventTime, !begin.isAllDay else { return nil }
            end.date = begin.date.addingTimeInterval(Double(minutes) * 60)
            return end
        case nil: return nil
        }
    }

    // MARK: Rule

    private func text(_ rule: SaidRule, until: Int?, count: Int?) -> String {
        var text = "FREQ=\(rule.frequency)"
        if rule.interval > 1 { text += ";INTERVAL=\(rule.interval)" }
        if !rule.days.isEmpty {
            let ordinal = rule.ordinal == 0 ? "" : String(rule.ordinal)
            text += ";BYDAY=" + rule.days.map { ordinal + RecurrenceRule.weekdays[$0] }.joined(separator: ",")
        }
        if let count { text += ";COUNT=\(count)" }
        if let until { text += ";UNTIL=" + CalendarDay(number: until).description.filter { $0 != "-" } }
        return text
    }
}
