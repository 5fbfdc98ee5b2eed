import Foundation
import HearthBase

/// Finds the records that cannot be read, and those that are not shown as another program wrote them. Used on
/// ``CalendarThread``.
struct CalendarCheck {
    let clock: CalendarClock

    /// The most lines of an item that are named one by one.
    private static let maximumLines = 20

    /// Why an item cannot be read, for Hearth or for the programs that share its files; `nil` for one that can be read.
    static func fault(_ item: CalendarItem, of name: String) -> (code: RecordProblem.Code, reason: String)? {
        if let line = item.unreadable.first(where: { $0.name == "DTSTART" }) {
            return (.unreadableStart, "its start cannot be read: \(shown(line))")
        }
        // Programs for reminders cannot read past any time that is no time.
        let times = name == "VTODO" ? ["RECURRENCE-ID", "DUE", "COMPLETED"] : ["RECURRENCE-ID"]
        if let line = item.unreadable.first(where: { times.contains($0.name) }) {
            return (.unreadableTime, "\(line.name) cannot be read: \(shown(line))")
        }
        if name == "VEVENT", item.start == nil, item.recurrenceID == nil { return (.noStart, "it has no start") }
        return nil
    }

    /// What is wrong with a record that can be read.
    func problems(of record: CalendarRecord, _ name: String) -> [(code: RecordProblem.Code, reason: String)] {
        var found: [(code: RecordProblem.Code, reason: String)] = []
        let items = [record.master].compactMap(\.self) + record.overrides
        var zones: Set<String> = []
        for item in items {
            let times = [item.start, item.end, item.recurrenceID].compactMap(\.self) + item.dates.map(\.start)
            for case .zone(let name) in (times + item.exceptions).map(\.clock)
            where clock.isGuessed(.zone(name), record.zones) && zones.insert(name).inserted {
                found.append(
                    (.unknownZone, "there is no time zone \(name.quoted(limit: 60)); this device's zone counts"))
            }
            for line in item.unreadable.prefix(Self.maximumLines) {
                switch line.name {
                case "DTEND", "DURATION": found.append((.unreadableEnd, "its end cannot be read: \(Self.shown(line))"))
                // Said as the recurrence that is not expanded.
                case "RRULE": break
                default:
                    let text = line.unfolded.quoted(limit: 60)
                    found.append((.unreadableLine, "a line cannot be read, and is kept as text: \(text)"))
                }
            }
            guard name == "VEVENT", let start = item.start, let end = item.end else { continue }
            if start.isDay != end.isDay {
                found.append(
                    (.mixedEnd, start.isDay ? "a whole day ends at a time of day" : "its end is a day without a time"))
            } else if clock.moment(of: end, record.zones) < clock.moment(of: start, record.zones) {
                found.append((.endBeforeStart, "its end is before its start; it has no length"))
            }
        }
        if CalendarSeries(record: record, clock: clock).isUnexpanded {
            found.append((.notExpanded, "its recurrence is kept, and listed once"))
        }
        return found
    }

    private static func shown(_ line: ContentLine) -> String { line.value.quoted(limit: 60) }
}
