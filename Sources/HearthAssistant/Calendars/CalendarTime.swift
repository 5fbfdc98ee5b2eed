import Foundation

/// A date or date and time as iCalendar writes it (RFC 5545 3.3.4 and 3.3.5).
package struct CalendarTime: Sendable, Hashable {
    /// The clock that the time is read from.
    package enum Clock: Sendable, Hashable {
        /// A whole day.
        case day
        /// The clock of the device, in any zone.
        case floating
        case utc
        /// The zone with this TZID.
        case zone(String)
    }

    package var wall: WallTime
    package var clock: Clock

    package init(_ wall: WallTime, _ clock: Clock) {
        self.wall = wall
        self.clock = clock
    }

    package var isDay: Bool { clock == .day }

    /// Reads a value such as `20261124T090000Z`.
    package init?(value: some StringProtocol, zone: String?) {
        let isUTC = value.last == "Z" || value.last == "z"
        guard let wall = WallTime(text: isUTC ? value.dropLast() : value[...]) else { return nil }
        if value.utf8.count == 8 {
            self.init(wall, .day)
        } else if isUTC {
            self.init(wall, .utc)
        } else if let zone, !zone.isEmpty {
            self.init(wall, zone == "UTC" || zone == "Etc/UTC" ? .utc : .zone(zone))
        } else {
            self.init(wall, .floating)
        }
    }

    /// The first time of a line such as DTSTART.
    package init?(line: ContentLine) {
        guard let time = Self.times(ofLine: line).first else { return nil }
        self = time
    }

    /// The times of a line such as EXDATE; of periods the beginnings. Values that are no times are skipped.
    package static func times(ofLine line: ContentLine) -> [CalendarTime] {
        let (zone, value) = line.zoned()
        return value.split(separator: ",").prefix(maximumTimes).compactMap { part in
            CalendarTime(
                value: part.prefix { $0 != "/" }.trimmingCharacters(in: .whitespaces), zone: zone)
        }
    }

    /// The most times of a line that are read.
    static let maximumTimes = 10_000

    /// The value as in iCalendar.
    package var value: String {
        switch clock {
        case .day: wall.dateText
        case .utc: wall.text + "Z"
        case .floating, .zone: wall.text
        }
    }

    /// The parameters that the value needs.
    package var parameters: [ContentLine.Parameter] {
        switch clock {
        case .day: [.init("VALUE", ["DATE"])]
        case .zone(let name): [.init("TZID", [name])]
        case .floating, .utc: []
        }
    }
}

/// A time of RDATE, with the end of one that is a period.
package struct AddedDate: Sendable, Hashable {
    package enum End: Sendable, Hashable {
        case at(CalendarTime)
        case after(CalendarDuration)
    }

    package var start: CalendarTime
    package var end: End?

    /// The times of a line. Values that are no times are skipped.
    static func dates(ofLine line: ContentLine) -> [AddedDate] {
        let (zone, value) = line.zoned()
        return value.split(separator: ",").prefix(CalendarTime.maximumTimes).compactMap { part in
            let sides = part.split(separator: "/", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard let first = sides.first, let start = CalendarTime(value: first, zone: zone) else { return nil }
            guard sides.count == 2 else { return AddedDate(start: start) }
            let end = CalendarDuration(value: sides[1]).map { End.after($0) }
            return AddedDate(start: start, end: end ?? CalendarTime(value: sides[1], zone: zone).map { End.at($0) })
        }
    }

    /// The value as in iCalendar.
    var value: String {
        switch end {
        case nil: start.value
        case .at(let time): "\(start.value)/\(time.value)"
        case .after(let duration): "\(start.value)/\(duration.value)"
        }
    }
}

extension ContentLine {
    /// The TZID and the value of a line with times.
    ///
    /// Some programs write an offset with a colon and no quotes, `DTSTART;TZID=GMT-05:00:20260401T090000`: only what follows
    /// the last colon is the value then.
    func zoned() -> (zone: String?, value: String) {
        let (parameters, value) = split()
        // A comma belongs to the name, escaped or not.
        guard let zone = parameters.first(where: { $0.name == "TZID" })?.values.joined(separator: ",") else {
            return (nil, value)
        }
        guard let colon = value.lastIndex(of: ":") else { return (zone, value) }
        let rest = value[value.index(after: colon)...]
        let first = rest.prefix { $0 != "," && $0 != "/" }.trimmingCharacters(in: .whitespaces)
        guard CalendarTime(value: first, zone: zone) != nil else { return (zone, value) }
        return (zone + ":" + value[..<colon], String(rest))
    }
}

/// A duration of iCalendar (RFC 5545 3.3.6): days on the clock, and exact seconds.
package struct CalendarDuration: Sendable, Hashable {
    package var days = 0
    package var seconds = 0

    /// The value as in iCalendar; parts of different signs become seconds.
    var value: String {
        let isNegative = days < 0 || seconds < 0
        guard days == 0 || seconds == 0 || (days < 0) == (seconds < 0) else {
            return CalendarDuration(seconds: days * WallTime.daySeconds + seconds).value
        }
        let date = days == 0 ? "" : "\(abs(days))D"
        return (isNegative ? "-P" : "P") + date + (seconds == 0 && days != 0 ? "" : "T\(abs(seconds))S")
    }
}

extension CalendarDuration {
    /// Reads a value such as `-PT15M`, `P1DT2H` or `P2W`.
    package init?(value: some StringProtocol) {
        self.init()
        var rest = Array(value.utf8)[...]
        var sign = 1
        if let first = rest.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
            sign = first == UInt8(ascii: "-") ? -1 : 1
            rest.removeFirst()
        }
        guard rest.first == UInt8(ascii: "P") else { return nil }
        rest.removeFirst()
        var (isTime, number, hasValue): (Bool, Int?, Bool) = (false, nil, false)
        for byte in rest {
            if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
                let next = (number ?? 0) * 10 + Int(byte - UInt8(ascii: "0"))
                guard next < 100_000_000 else { return nil }
                number = next
                continue
            }
            if byte == UInt8(ascii: "T") {
                guard !isTime, number == nil else { return nil }
                isTime = true
                continue
            }
            guard let amount = number else { return nil }
            number = nil
            hasValue = true
            switch (byte, isTime) {
            case (UInt8(ascii: "W"), false): days += amount * 7 * sign
            case (UInt8(ascii: "D"), false): days += amount * sign
            case (UInt8(ascii: "H"), true): seconds += amount * 3600 * sign
            case (UInt8(ascii: "M"), true): seconds += amount * 60 * sign
            case (UInt8(ascii: "S"), true): seconds += amount * sign
            default: return nil
            }
        }
        guard hasValue, number == nil else { return nil }
    }
}
