import Foundation

extension ContentLine {
    /// A line of a time with its name in capitals, without which other programs do not read its zone; `nil` for others.
    func withName(in ending: [UInt8]) -> ContentLine? {
        guard Self.zonedNames.contains(name), writtenName != name else { return nil }
        let (parameters, value) = split()
        return ContentLine(name, parameters, value: value, ending: ending)
    }

    private static let zonedNames: Set<String> = ["DTSTART", "DTEND", "DUE", "RECURRENCE-ID", "EXDATE", "RDATE"]

    /// Whether it is a rule of each second or minute.
    var isEndless: Bool {
        guard name == "RRULE", let rule = RecurrenceRule(value) else { return false }
        return rule.frequency == .secondly || rule.frequency == .minutely
    }

    /// Whether a line of an event or a reminder has a value of its kind.
    var isReadable: Bool {
        switch name {
        case "DTSTART", "DTEND", "DUE", "RECURRENCE-ID", "COMPLETED", "DTSTAMP", "CREATED", "LAST-MODIFIED":
            CalendarTime(line: self) != nil
        case "EXDATE", "RDATE": !CalendarTime.times(ofLine: self).isEmpty
        case "DURATION": CalendarDuration(value: value) != nil
        case "RRULE": RecurrenceRule(value) != nil
        case "PRIORITY", "PERCENT-COMPLETE", "SEQUENCE": Int(value.trimmingCharacters(in: .whitespaces)) != nil
        default: isProperty || unfolded.trimmingCharacters(in: .whitespaces).isEmpty
        }
    }
}

extension ContentComponent {
    /// The event or reminder as other programs can read it: khal and todoman print an error for each line that they cannot.
    ///
    /// - Lines whose values are not of their kind become text; so do ends of another kind than the start, ends before the
    ///   start, and rules of each second or minute, at which khal never ends.
    /// - A day that a series with times of day excludes becomes the time of its occurrence.
    /// - The name of a zone with a colon or a comma gets quotes instead of escapes, the name of a time capitals.
    /// - Quoted-printable values become plain UTF-8.
    ///
    /// All other lines keep their bytes.
    var repaired: ContentComponent {
        let start = first("DTSTART").flatMap { CalendarTime(line: $0) }
        var component = withQuotedZones
        component.items = component.items.map { item in
            guard let line = item.asLine else { return item }
            if ["DTSTART", "RECURRENCE-ID"].contains(line.name) {
                return line.withName(in: ending).map { .line($0) } ?? item
            }
            if line.name == "EXDATE", let start, !start.isDay, let times = Self.times(line, on: start, ending) {
                return .line(times)
            }
            let isShown = line.isReadable && !(line.name == "DTEND" && isOtherEnd(line, of: start)) && !line.isEndless
            guard isShown else { return .line(KeptLine.line(line, ending: ending)) }
            return (line.plain(ending: ending) ?? line.withName(in: ending)).map { .line($0) } ?? item
        }
        return component
    }

    /// Whether an end is no day as the start is, no time as the start is, or before a start on the same clock.
    private func isOtherEnd(_ line: ContentLine, of start: CalendarTime?) -> Bool {
        guard let start, let end = CalendarTime(line: line) else { return true }
        return end.isDay != start.isDay || end.clock == start.clock && end.wall < start.wall
    }

    /// An EXDATE of days as one of times; `nil` for another one.
    private static func times(_ line: ContentLine, on start: CalendarTime, _ ending: [UInt8]) -> ContentLine? {
        let times = CalendarTime.times(ofLine: line)
        guard !times.isEmpty, times.allSatisfy(\.isDay) else { return nil }
        let clock = start.wall.seconds - start.wall.midnight.seconds
        let values = times.map { CalendarTime($0.wall + clock, start.clock).value }
        let others = line.parameters.filter { !["TZID", "VALUE"].contains($0.name) }
        return ContentLine(
            line.name, start.parameters + others, value: values.joined(separator: ","), ending: ending)
    }

    private var withQuotedZones: ContentComponent {
        var component = self
        for index in items.indices {
            switch items[index] {
            case .component(let inner): component.items[index] = .component(inner.withQuotedZones)
            case .line(let line):
                let (parameters, value) = line.split()
                let (zone, time) = line.zoned()
                let names = parameters.first { $0.name == "TZID" }?.values.count ?? 0
                guard let zone, time != value || names > 1 || zone.contains("\\") else { continue }
                let others = parameters.filter { $0.name != "TZID" }
                component.items[index] = .line(
                    ContentLine(
                        line.name, [.init("TZID", [ZoneName.plain(zone)])] + others, value: time, ending: ending))
            }
        }
        return component
    }
}
