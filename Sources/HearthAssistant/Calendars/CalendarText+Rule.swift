import HearthBase

extension CalendarText {
    /// The value of a rule that Hearth creates.
    /// - Throws: `unusable-recurrence`.
    func rule(_ text: String, start: CalendarTime, _ zones: ZoneDefinitions) throws -> String {
        let text = text.uppercased().hasPrefix("RRULE:") ? String(text.dropFirst(6)) : text
        func refused(_ reason: String) -> AssistantError {
            AssistantError(
                .unusableRecurrence, reason, context: ErrorContext(field: "recurrence", found: String(text.prefix(80))))
        }
        guard let rule = RecurrenceRule(text) else {
            throw refused("the recurrence is no rule such as FREQ=WEEKLY;BYDAY=MO")
        }
        guard rule.isExpandable(from: start.wall), !start.isDay || rule.frequency != .hourly else {
            throw refused("recurrences of this kind are not created")
        }
        // The end has the form of the start, and is in UTC for times (RFC 5545 3.3.10).
        var until = rule.until
        if let last = clock.until(of: rule, start: start, zones) {
            let moment = clock.zone(of: start.clock, zones).moment(of: last)
            until =
                switch start.clock {
                case .day: CalendarTime(last.midnight, .day)
                case .floating: CalendarTime(last, .floating)
                case .utc, .zone: CalendarTime(WallTime(seconds: moment), .utc)
                }
            guard last >= start.wall.midnight else { throw refused("the recurrence ends before the start") }
        }
        let window = start.wall...(start.wall + 30 * 366 * WallTime.daySeconds)
        guard let first = Recurrence.times(of: rule, start: start.wall, in: window, until: nil)?.first else {
            throw refused("the recurrence never occurs")
        }
        guard first == start.wall else {
            throw refused("the start is no occurrence of the recurrence; the first one after it is \(first.text)")
        }
        return until == rule.until
            ? rule.parts.map { "\($0.name)=\($0.value)" }.joined(separator: ";") : rule.text(until: until, count: nil)
    }
}
