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
        let (parameters, value) = line.split()
        let zone = parameters.first { $0.name == "TZID" }?.values.first
        return value.split(separator: ",").prefix(10_000).compactMap { part in
            CalendarTime(
                value: part.prefix { $0 != "/" }.trimmingCharacters(in: .whitespaces), zone: zone)
        }
    }

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

/// A duration of iCalendar (RFC 5545 3.3.6): days on the clock, and exact seconds.
package struct CalendarDuration: Sendable, Hashable {
    package var days = 0
    package var seconds = 0
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
