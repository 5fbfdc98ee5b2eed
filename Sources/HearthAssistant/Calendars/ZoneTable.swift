import CIcal
import Foundation

/// The time zones of the system's database, and those that a file defines, which libical reads. Used on ``CalendarThread``.
final class ZoneTable {
    /// A time zone.
    enum Zone {
        case system(SystemZone)
        /// A zone that a file defines.
        case library(OpaquePointer)
        /// A zone of a device whose system has no database.
        case foundation(TimeZone)
        case utc

        /// The seconds east of UTC at a time, given as seconds since 1970 in UTC.
        func offset(at seconds: Int) -> Int {
            switch self {
            case .utc: return 0
            case .system(let zone): return zone.offset(at: seconds)
            case .foundation(let zone): return zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
            case .library(let zone):
                // libical computes the changes of each year up to this one, so the year is bounded.
                let last = WallTime(year: 2500, month: 1, day: 1).seconds
                return Int(hearth_ical_offset(zone, WallTime(seconds: min(seconds, last)).library))
            }
        }

        /// The moment of a time on the zone's clock, as seconds since 1970 in UTC.
        ///
        /// A time that occurs twice is the first one. A time that is skipped counts with the offset before the gap
        /// (RFC 5545 3.3.5).
        func moment(of wall: WallTime) -> Int {
            let before = offset(at: wall.seconds - WallTime.daySeconds)
            let after = offset(at: wall.seconds + WallTime.daySeconds)
            if before == after { return wall.seconds - before }
            for candidate in [before, after] where offset(at: wall.seconds - candidate) == candidate {
                return wall.seconds - candidate
            }
            return wall.seconds - before
        }

        /// The time on the zone's clock.
        func wall(at seconds: Int) -> WallTime { WallTime(seconds: seconds + offset(at: seconds)) }
    }

    private var named: [String: Zone?] = [:]
    private var defined: [[UInt8]: OpaquePointer?] = [:]

    private static let definitionLimits = (bytes: 64 << 10, observances: 200, zones: 500)

    deinit {
        for case .some(let zone) in defined.values { icaltimezone_free(zone, 1) }
    }

    /// The zone of the device.
    func device(_ zone: TimeZone) -> Zone { self.zone(zone.identifier, definition: nil) ?? .foundation(zone) }

    /// The zone with a TZID: an IANA name, a path that ends in one, or the one that the file defines.
    func zone(_ name: String, definition: ContentComponent?) -> Zone? {
        if let known = named[name], let zone = known { return zone }
        if named[name] == nil {
            let found = system(name)
            if named.count < 2_000 { named.updateValue(found, forKey: name) }
            if let found { return found }
        }
        guard let definition else { return nil }
        return defined(definition).map { .library($0) }
    }

    private func system(_ name: String) -> Zone? {
        if ["UTC", "Etc/UTC", "GMT", "Z", "Etc/GMT"].contains(name) { return .utc }
        guard name.utf8.count <= 100 else { return nil }
        return Self.names(in: name).lazy.compactMap { SystemZone(named: $0) }.first.map { .system($0) }
    }

    /// The IANA names that a TZID may mean. Some programs write a path before the name:
    /// `/freeassociation.sourceforge.net/Europe/Berlin`.
    static func names(in name: String) -> [String] {
        let parts = name.split(separator: "/")
        return name.hasPrefix("/") ? [3, 2, 1].map { parts.suffix($0).joined(separator: "/") } : [name]
    }

    /// The zone of a VTIMEZONE. One that would make libical compute without end is refused.
    private func defined(_ component: ContentComponent) -> OpaquePointer? {
        let text = component.bytes
        if let known = defined[text] { return known }
        guard defined.count < Self.definitionLimits.zones else { return nil }
        let zone =
            Self.isBounded(component, text) ? String(decoding: text, as: UTF8.self).withCString(hearth_ical_zone) : nil
        defined.updateValue(zone, forKey: text)
        return zone
    }

    private static func isBounded(_ component: ContentComponent, _ text: [UInt8]) -> Bool {
        guard text.count <= definitionLimits.bytes, component.components.count <= definitionLimits.observances else {
            return false
        }
        return component.components.allSatisfy { observance in
            guard let start = observance.first("DTSTART").flatMap({ CalendarTime(line: $0) }),
                start.wall >= WallTime(year: 1500, month: 1, day: 1)
            else { return false }
            return observance.all("RRULE").allSatisfy { line in
                guard let rule = RecurrenceRule(line.value) else { return false }
                return rule.frequency == .yearly && rule.isExpandable(from: start.wall)
            }
        }
    }

    /// The VTIMEZONE of an IANA zone from a time on; `nil` for a name that the system does not know.
    func definition(_ name: String, from start: WallTime) -> ContentComponent? {
        guard case .system(let zone)? = zone(name, definition: nil) else { return nil }
        return ZoneText.definition(of: zone, name: name, from: start)
    }
}

extension WallTime {
    /// The fields as the shim of libical takes them.
    var library: hearth_wall {
        let fields = fields
        return hearth_wall(
            year: Int32(clamping: fields.year), month: Int32(fields.month), day: Int32(fields.day),
            hour: Int32(fields.hour), minute: Int32(fields.minute), second: Int32(fields.second))
    }

    init(library wall: hearth_wall) {
        self.init(
            year: Int(wall.year), month: Int(wall.month), day: Int(wall.day), hour: Int(wall.hour),
            minute: Int(wall.minute), second: Int(wall.second))
    }
}
