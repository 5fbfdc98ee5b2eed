import Foundation
import HearthBase

/// Converts times of files to moments and back, in the zone of the device. Used on ``CalendarThread``.
final class CalendarClock {
    private let table = ZoneTable()
    private let deviceZone: @Sendable () -> TimeZone

    init(deviceZone: @escaping @Sendable () -> TimeZone) { self.deviceZone = deviceZone }

    var device: ZoneTable.Zone { table.device(deviceZone()) }

    /// The zone of a clock; the device's for days, floating times, and names that neither the system nor the file defines.
    func zone(of clock: CalendarTime.Clock, _ zones: ZoneDefinitions) -> ZoneTable.Zone {
        switch clock {
        case .utc: .utc
        case .day, .floating: device
        case .zone(let name): table.find(name, zones)?.zone ?? device
        }
    }

    /// Whether a clock has the device's zone because no definition, database or offset explains its name.
    func isGuessed(_ clock: CalendarTime.Clock, _ zones: ZoneDefinitions) -> Bool {
        if case .zone(let name) = clock { table.find(name, zones) == nil } else { false }
    }

    /// The IANA name of a clock's zone, where it has one.
    private func identifier(of clock: CalendarTime.Clock, _ zones: ZoneDefinitions) -> String? {
        switch clock {
        case .day, .floating: nil
        case .utc: "UTC"
        case .zone(let name): table.find(name, zones)?.identifier
        }
    }

    /// The moment of a time, as seconds since 1970.
    func moment(of time: CalendarTime, _ zones: ZoneDefinitions = ZoneDefinitions()) -> Int {
        zone(of: time.clock, zones).moment(of: time.wall)
    }

    /// A time as people's programs get it.
    func eventTime(_ time: CalendarTime, _ zones: ZoneDefinitions) -> EventTime {
        let seconds = time.isDay ? time.wall.midnight.seconds : moment(of: time, zones)
        return EventTime(
            Date(timeIntervalSince1970: Double(seconds)), timeZone: identifier(of: time.clock, zones),
            isAllDay: time.isDay)
    }

    /// The time for a file.
    /// - Parameter clock: the clock that the file has used, which stays if the time names no zone.
    /// - Throws: `unusable-payload` for a zone that the system does not know.
    func time(
        _ time: EventTime, keeping clock: CalendarTime.Clock?, _ zones: ZoneDefinitions = ZoneDefinitions(),
        isRecurring: Bool, field: String
    ) throws -> CalendarTime {
        let seconds = time.date.timeIntervalSince1970
        guard seconds > -50_000_000_000, seconds < 200_000_000_000 else {
            throw AssistantError(
                .unusablePayload, "the \(field) is not in a year from 400 to 8000", context: ErrorContext(field: field))
        }
        let moment = Int(seconds.rounded(.down))
        if time.isAllDay { return CalendarTime(WallTime(seconds: moment).midnight, .day) }
        var result = clock
        if let name = time.timeZone {
            guard let found = table.find(name) else {
                throw AssistantError(
                    .unusablePayload, "there is no time zone \(name.quoted)",
                    context: ErrorContext(
                        field: "timeZone", expected: "an IANA name such as Europe/Berlin",
                        found: String(name.prefix(60))))
            }
            // The file's own name of the same zone stays.
            if let clock, identifier(of: clock, zones) == name {
                result = clock
            } else if case .utc = found.zone {
                result = .utc
            } else {
                result = .zone(name)
            }
        } else if clock == nil || clock == .day {
            switch device {
            case .utc, .foundation: result = .utc
            case .library, .system: result = .zone(deviceZone().identifier)
            }
        }
        let kept = result ?? .utc
        let zone = zone(of: kept, zones)
        let wall = zone.wall(at: moment)
        // The second of two equal times on the clock can be written only in UTC.
        if !isRecurring, zone.moment(of: wall) != moment { return CalendarTime(WallTime(seconds: moment), .utc) }
        return CalendarTime(wall, kept)
    }

    /// The VTIMEZONE for a clock that needs one.
    func definition(of clock: CalendarTime.Clock, from start: WallTime) -> ContentComponent? {
        guard case .zone(let name) = clock else { return nil }
        return table.definition(name, from: start)
    }

    /// The end of a rule on the clock of its start.
    func until(of rule: RecurrenceRule, start: CalendarTime, _ zones: ZoneDefinitions) -> WallTime? {
        guard let until = rule.until else { return nil }
        switch (until.clock, start.clock) {
        case (.day, .day): return until.wall
        // The whole last day belongs to the rule.
        case (.day, _): return until.wall + (WallTime.daySeconds - 1)
        case (.utc, .utc), (.floating, _), (_, .day): return until.wall
        default: return zone(of: start.clock, zones).wall(at: until.wall.seconds)
        }
    }
}
