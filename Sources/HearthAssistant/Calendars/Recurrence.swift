#if canImport(CIcal)
import CIcal
import HearthBase

/// Expands recurrence rules with libical. Used on ``CalendarThread``.
enum Recurrence {
    /// The most steps of one expansion, which ends a rule that occurs too often.
    static let maximumSteps = 20_000

    /// The times of a rule on the clock of its zone.
    /// - Parameters:
    ///   - start: the DTSTART, with which the rule is in step.
    ///   - window: the times of interest; the end is included.
    ///   - until: the rule's end on the same clock.
    /// - Returns: the times in order, at most ``maximumSteps``; `nil` for a rule that libical does not expand rightly.
    static func times(
        of rule: RecurrenceRule, start: WallTime, in window: ClosedRange<WallTime>, until: WallTime?
    ) -> [WallTime]? {
        guard rule.isExpandable(from: start) else { return nil }
        let end = until.map { min($0, window.upperBound) } ?? window.upperBound
        guard end >= start else { return [] }
        let first = rule.count == nil ? aligned(start, with: rule, before: window.lowerBound) : start
        guard let iterator = rule.endlessText.withCString({ hearth_ical_recurrence($0, first.library) }) else {
            return nil
        }
        defer { icalrecur_iterator_free(iterator) }
        var times: [WallTime] = []
        var wall = hearth_wall()
        for step in 0..<maximumSteps where hearth_ical_next(iterator, &wall) != 0 {
            if let count = rule.count, step >= count { break }
            let time = WallTime(library: wall)
            if time > end { break }
            if time >= window.lowerBound { times.append(time) }
        }
        return times
    }

    /// A later start with which the rule has the same times, so that an old series is not expanded from its beginning.
    private static func aligned(_ start: WallTime, with rule: RecurrenceRule, before time: WallTime) -> WallTime {
        let period: Int
        switch rule.frequency {
        case .hourly: period = rule.interval * 3600
        case .daily: period = rule.interval * WallTime.daySeconds
        case .weekly: period = rule.interval * 7 * WallTime.daySeconds
        default: return start
        }
        let periods = (time.seconds - start.seconds) / period - 1
        return periods > 0 ? start + periods * period : start
    }
}
#else
/// Expands recurrence rules, which only libical does.
enum Recurrence {
    /// The most steps of one expansion.
    static let maximumSteps = 20_000

    /// Always `nil`: on this system the rules of calendar files are not expanded, and the system's own calendar expands its own.
    static func times(
        of rule: RecurrenceRule, start: WallTime, in window: ClosedRange<WallTime>, until: WallTime?
    ) -> [WallTime]? { nil }
}
#endif
