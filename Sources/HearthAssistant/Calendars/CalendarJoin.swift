import Foundation

/// Compares and joins files of iCalendar.
package enum CalendarJoin {
    /// Whether two files have the same components, byte for byte, whatever the lines around them, and whatever Hearth has
    /// copied from the zone database.
    static func haveSameComponents(_ first: Data, _ second: Data) -> Bool {
        if first == second { return true }
        // A file that is no calendar has no components: it equals only itself.
        func components(_ data: Data) -> [[UInt8]]? {
            try? ContentParser().parse(data).components.flatMap(\.components).filter { !$0.isCopiedZone }
                .map(\.bytes).sorted { $0.lexicographicallyPrecedes($1) }
        }
        guard let present = components(first) else { return false }
        return present == components(second)
    }

    /// One file with the components of all files, and each zone once. Zones of one name that differ stand in calendars of
    /// their own.
    package static func joined(_ files: [Data]) -> Data {
        var calendars = [JoinedCalendar()]
        for file in files {
            // A file that is not read is not in the store's list either.
            guard let items = try? ContentParser().parse(file) else { continue }
            for calendar in items.components where calendar.name == "VCALENDAR" {
                let place = calendars.firstIndex { $0.takes(calendar) } ?? calendars.count
                if place == calendars.count { calendars.append(JoinedCalendar()) }
                calendars[place].add(calendar)
            }
        }
        return calendars.reduce(into: Data()) { $0 += Data($1.component.bytes) }
    }
}

/// A calendar that gathers those of several files.
private struct JoinedCalendar {
    private var names: [String] = []
    private var zones: [String: ContentComponent] = [:]
    private var others: [ContentComponent] = []

    var component: ContentComponent {
        let lines = [ContentLine("VERSION", value: "2.0"), ContentLine("PRODID", value: CalendarText.product)]
        let components = names.compactMap { zones[$0] } + others
        return ContentComponent("VCALENDAR", lines.map { .line($0) } + components.map { .component($0) })
    }

    /// Whether no zone of a calendar is another one under the same name.
    func takes(_ calendar: ContentComponent) -> Bool {
        calendar.components.allSatisfy { component in
            guard component.name == "VTIMEZONE", let known = zones[Self.name(component)] else { return true }
            return known == component || known.isCopiedZone && component.isCopiedZone
        }
    }

    mutating func add(_ calendar: ContentComponent) {
        for component in calendar.components {
            guard component.name == "VTIMEZONE" else {
                others.append(component)
                continue
            }
            let name = Self.name(component)
            if let known = zones[name] {
                // The copy that begins first holds for the events of both.
                if Self.begin(component) < Self.begin(known) { zones[name] = component }
            } else {
                names.append(name)
                zones[name] = component
            }
        }
    }

    private static func name(_ zone: ContentComponent) -> String { zone.text("TZID") ?? "" }

    private static func begin(_ zone: ContentComponent) -> WallTime {
        zone.components.compactMap { $0.first("DTSTART").flatMap { CalendarTime(line: $0)?.wall } }.min()
            ?? WallTime(seconds: 0)
    }
}

extension ContentComponent {
    /// Whether it is a definition that Hearth has copied from the zone database.
    var isCopiedZone: Bool { name == "VTIMEZONE" && first(ZoneText.copyMark) != nil }
}
