import Foundation
import HearthBase

/// Moves the exceptions of a series with its start: EXDATE, RDATE and RECURRENCE-ID name occurrences by their start.
struct SeriesShift {
    let from: CalendarTime
    let to: CalendarTime
    let clock: CalendarClock
    let zones: ZoneDefinitions

    /// Changes the lines of a calendar's events.
    /// - Throws: `unusable-payload` if a series with exceptions changes between days and times.
    func apply(to calendar: inout ContentComponent) throws {
        try calendar.items.changeComponents("VEVENT") { event in
            for place in event.items.indices {
                guard let line = event.items[place].asLine,
                    ["EXDATE", "RDATE", "RECURRENCE-ID"].contains(line.name)
                else { continue }
                event.items[place] = .line(try moved(line, ending: event.ending))
            }
        }
    }

    private func moved(_ line: ContentLine, ending: [UInt8]) throws -> ContentLine {
        let parameters = line.parameters
        guard from.isDay == to.isDay else {
            throw AssistantError(
                .unusablePayload, "a series with exceptions cannot change between whole days and times",
                context: ErrorContext(field: "start"))
        }
        let dates = AddedDate.dates(ofLine: line).map(moved)
        guard let first = dates.first else { return line }
        let others = parameters.filter {
            $0.name != "TZID" && ($0.name != "VALUE" || first.end != nil && !first.start.isDay)
        }
        return ContentLine(
            line.name, first.start.parameters + others, value: dates.map(\.value).joined(separator: ","), ending: ending
        )
    }

    /// The same date of the moved series; a period keeps its length.
    private func moved(_ date: AddedDate) -> AddedDate {
        var date = date
        date.start = moved(date.start)
        if case .at(let end) = date.end { date.end = .at(moved(end)) }
        return date
    }

    /// The same occurrence of the moved series.
    private func moved(_ time: CalendarTime) -> CalendarTime {
        if from.isDay { return CalendarTime(time.wall + (to.wall.seconds - from.wall.seconds), .day) }
        // On the clock of the series, so that the time of day moves, also over a change of the zone's offset.
        let wall =
            time.clock == from.clock || time.isDay
            ? time.wall : clock.zone(of: from.clock, zones).wall(at: clock.moment(of: time, zones))
        let shifted = wall + (to.wall.seconds - from.wall.seconds)
        return time.isDay ? CalendarTime(shifted.midnight, .day) : CalendarTime(shifted, to.clock)
    }
}
