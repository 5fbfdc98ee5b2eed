import Foundation
import HearthBase

/// The zones that names mean. Used on ``CalendarThread``.
///
/// A name is looked for in the file's own definitions, in the system's zone database, among Windows' names, among the cities
/// and offsets that names say, in this order.
final class ZoneTable {
    /// A time zone.
    enum Zone {
        case system(SystemZone)
        /// A zone that a file defines.
        case library(DefinedZone)
        /// A zone of a device whose system has no database.
        case foundation(TimeZone)
        case utc

        /// The seconds east of UTC at a time, given as seconds since 1970 in UTC.
        func offset(at seconds: Int) -> Int {
            switch self {
            case .utc: 0
            case .system(let zone): zone.offset(at: seconds)
            case .foundation(let zone): zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
            case .library(let zone): zone.offset(at: seconds)
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

    /// A zone, and the IANA name that programs get for it; `nil` for one that has none.
    struct Found {
        let zone: Zone
        let identifier: String?
    }

    /// A name with what a file defines it as.
    private struct DefinedName: Hashable {
        let name: String
        let definition: ZoneDefinition
    }

    private var named: [String: Found?] = [:]
    private var defined: [DefinedName: Found?] = [:]

    private static let limits = (names: 2_000, definitions: 500)

    /// The zone of the device.
    func device(_ zone: TimeZone) -> Zone { find(zone.identifier)?.zone ?? .foundation(zone) }

    /// The zone with a TZID; `nil` for a name that neither the file, the system nor the name itself explains.
    func find(_ name: String, _ definitions: ZoneDefinitions = ZoneDefinitions()) -> Found? {
        guard let definition = definitions[name] else { return find(name: name) }
        let key = DefinedName(name: name, definition: definition)
        if let known = defined[key] { return known }
        let found = search(definition, name)
        if defined.count >= Self.limits.definitions { defined = [:] }
        defined.updateValue(found, forKey: key)
        return found
    }

    /// The zone of a definition: that of the database which it copies, or the one that it describes.
    private func search(_ definition: ZoneDefinition, _ name: String) -> Found? {
        for name in [definition.location, name].compactMap(\.self) {
            guard let known = find(name: name), definition.copied != nil || definition.isCopy(of: known.zone) else {
                continue
            }
            return known
        }
        guard let zone = DefinedZone(definition.text) else { return find(name: name) }
        return Found(zone: .library(zone), identifier: nil)
    }

    private func find(name: String) -> Found? {
        guard name.utf8.count <= ZoneName.limit else { return nil }
        if let known = named[name] { return known }
        let found = Self.search(ZoneName.plain(name))
        if named.count >= Self.limits.names { named = [:] }
        named.updateValue(found, forKey: name)
        return found
    }

    private static func search(_ plain: String) -> Found? {
        if ["UTC", "ETC/UTC", "GMT", "Z", "ETC/GMT"].contains(plain.uppercased()) {
            return Found(zone: .utc, identifier: "UTC")
        }
        for name in ZoneName.candidates(plain) {
            if let found = system(name) ?? SystemZone.name(inAnyCase: name).flatMap(system) { return found }
        }
        if let found = WindowsZones.zone(plain).flatMap(system) { return found }
        guard let offset = ZoneName.offset(in: plain) else { return nil }
        // A city counts if the offset is one of its zone.
        let place = ZoneName.places(in: plain).lazy.compactMap(system).first { found in
            [1, 7].contains { month in
                found.zone.offset(at: WallTime(year: 2026, month: month, day: 15).seconds) == offset
            }
        }
        return place
            ?? Found(
                zone: offset == 0 ? .utc : .system(SystemZone(offset: offset)),
                identifier: ZoneName.identifier(ofOffset: offset))
    }

    private static func system(_ name: String) -> Found? {
        guard let zone = SystemZone(named: name) else { return nil }
        return Found(zone: .system(zone), identifier: TimeZone(identifier: name) == nil ? nil : name)
    }

    /// The VTIMEZONE under a TZID of the zone that the name means, from a time on; `nil` for UTC, and for an unknown name.
    func definition(_ name: String, from start: WallTime) -> ContentComponent? {
        guard let found = find(name) else { return nil }
        switch found.zone {
        case .system(let zone):
            return ZoneText.definition(of: zone, name: ZoneName.plain(name), identifier: found.identifier, from: start)
        case .utc where !["UTC", "Etc/UTC"].contains(name):
            return ZoneText.definition(
                of: SystemZone(offset: 0), name: ZoneName.plain(name), identifier: found.identifier, from: start)
        case .utc, .library, .foundation: return nil
        }
    }
}
