import Foundation

/// The VTIMEZONE that an event's file carries.
enum ZoneText {
    /// Keeps the parts of a zone's definition that count from a time on, and names it by its IANA name.
    ///
    /// The whole history of a zone has up to 7 KB, which would be in each file.
    static func shortened(_ zone: ContentComponent, name: String, from start: WallTime) -> ContentComponent {
        let observances = zone.components.map { ($0, span: span(of: $0)) }
        var kept = observances.filter { $0.span.last >= start }
        // The observance that is in force at the start may have begun before it.
        if !kept.contains(where: { $0.span.first <= start + -366 * WallTime.daySeconds }),
            let before = observances.filter({ $0.span.last < start }).max(by: { $0.span.last < $1.span.last })
        {
            kept.insert(before, at: 0)
        }
        let items = kept.map { ContentComponent.Item.component(with(lineEnding: [13, 10], $0.0)) }
        return ContentComponent("VTIMEZONE", [.line(ContentLine("TZID", value: name))] + items)
    }

    /// The first and last time at which an observance begins.
    private static func span(of observance: ContentComponent) -> (first: WallTime, last: WallTime) {
        let times = (observance.all("DTSTART") + observance.all("RDATE")).flatMap { CalendarTime.times(ofLine: $0) }
        let first = times.map(\.wall).min() ?? WallTime(seconds: 0)
        var last = times.map(\.wall).max() ?? first
        for line in observance.all("RRULE") {
            let until = RecurrenceRule(line.value)?.until?.wall ?? WallTime(year: 9999, month: 1, day: 1)
            last = max(last, until + WallTime.daySeconds)
        }
        return (first, last)
    }

    private static func with(lineEnding ending: [UInt8], _ component: ContentComponent) -> ContentComponent {
        let lines = component.lines.map { line in
            let (parameters, value) = line.split()
            return ContentComponent.Item.line(ContentLine(line.name, parameters, value: value, ending: ending))
        }
        return ContentComponent(component.name, lines, ending: ending)
    }
}
