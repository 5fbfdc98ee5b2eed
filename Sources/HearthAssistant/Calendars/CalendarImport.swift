import Foundation
import HearthBase

/// Plans the import of an iCalendar file: one file for each record. Used on ``CalendarThread``.
struct CalendarImport {
    /// The components of the records, `VEVENT` or `VTODO`.
    let name: String
    let store: StoreKind
    let clock: CalendarClock
    let folder: VdirFolder<CalendarRecord>

    /// The most unreadable occurrences of a series that are named one by one.
    private static let maximumOccurrences = 20

    /// - Throws: `unusable-record` if the file is no iCalendar, or replaces one of several records of a stored file.
    func plan(_ data: Data) throws -> RecordImportPlan {
        let document = try ImportedDocument(data, "VCALENDAR", kind: "iCalendar")
        let calendars = document.components.filter { $0.name == "VCALENDAR" }
        var plan = RecordImportPlan()
        plan.addOther(
            (document.components + calendars.flatMap(\.components)).map(\.name)
                .filter { ![name, "VCALENDAR", "VTIMEZONE"].contains($0) })
        var groups = RecordGroups()
        for (index, calendar) in calendars.enumerated() {
            for component in calendar.components where component.name == name {
                groups.add(component, uid: Self.uid(of: component), calendar: index)
            }
        }
        let all = calendars.flatMap(\.components).filter { $0.name == "VTIMEZONE" }
        for group in groups.groups {
            let calendar = calendars[group.calendar]
            let zones = calendar.components.filter { $0.name == "VTIMEZONE" } + all
            try add(group, calendar, zones, line: document.line(of:), to: &plan)
        }
        return plan
    }

    /// The UID; for a component without one a digest of it, so that the same file imported again is the same record.
    private static func uid(of component: ContentComponent) -> String {
        if let known = component.text("UID"), !known.isEmpty { return known }
        return String(SHA256Digest(hashing: component.bytes).hex.prefix(32))
    }

    private func add(
        _ group: RecordGroups.Group, _ calendar: ContentComponent, _ zones: [ContentComponent],
        line: (ContentComponent) -> Int, to plan: inout RecordImportPlan
    ) throws {
        guard let first = group.components.first else { return }
        let title = CalendarItem(first).title
        func problem(_ code: RecordProblem.Code, _ component: ContentComponent, _ reason: String) {
            plan.problems.append(RecordProblem(code, line: line(component), id: group.id, title: title, reason))
        }
        func keep(_ components: [ContentComponent]) throws {
            let data = file(components, in: calendar, zones)
            plan.kept.append(try folder.keeping(data, named: components.flatMap(\.bytes), store: store))
        }
        let checked = group.components.map { ($0, CalendarCheck.fault(CalendarItem($0), of: name)) }
        let faults = checked.compactMap { component, fault in fault.map { (component: component, fault: $0) } }
        let isMasterReadable = !faults.contains { $0.component.first("RECURRENCE-ID") == nil }
        guard isMasterReadable, faults.count < group.components.count else {
            plan.unreadable += 1
            if let (component, fault) = faults.first { problem(fault.code, component, fault.reason) }
            return try keep(group.components)
        }
        let readable = checked.filter { $0.1 == nil }.map { Self.identified($0.0, group.id).repaired }
        let data = file(readable, in: calendar, zones)
        guard data.count <= ContentParser.record.bytes else {
            plan.unreadable += 1
            problem(.largeRecord, first, "it has more than \(ContentParser.record.bytes) bytes")
            return try keep(group.components)
        }
        for (component, fault) in faults.prefix(Self.maximumOccurrences) {
            problem(.unreadableOccurrence, component, "a changed occurrence: \(fault.reason)")
        }
        if !faults.isEmpty { try keep(faults.map { $0.component }) }
        if group.id != group.uid { problem(.sameID, first, "another record of the file has its UID") }
        plan.changes.append(try folder.importing(group.id, data, store: store))
        for record in try CalendarFile.records(data, of: name) {
            for found in CalendarCheck(clock: clock).problems(of: record, name) {
                problem(found.code, first, found.reason)
            }
        }
    }

    /// The component under an id.
    private static func identified(_ component: ContentComponent, _ id: String) -> ContentComponent {
        guard component.text("UID") != id else { return component }
        var component = component
        component.set("UID", nil)
        let line = ContentLine("UID", value: ContentText.escaped(id), ending: component.ending)
        component.items.insert(.line(line), at: 0)
        return component
    }

    /// A file with the lines of the calendar, the components, and the definitions of their zones.
    private func file(
        _ components: [ContentComponent], in calendar: ContentComponent, _ zones: [ContentComponent]
    ) -> Data {
        // METHOD would make the file a message and no record.
        var items = calendar.lines.filter { $0.name != "METHOD" }.map { ContentComponent.Item.line($0) }
        for zone in definitions(of: components, zones) { items.append(.component(zone.ending(with: calendar.ending))) }
        items += components.map { .component($0) }
        return Data(
            ContentComponent(name: calendar.name, begin: calendar.begin, items: items, end: calendar.end).bytes)
    }

    /// The definitions that the times of components need, each under the name that they use: the file's own where it has
    /// one, or a copy of the zone that the name means.
    private func definitions(of components: [ContentComponent], _ zones: [ContentComponent]) -> [ContentComponent] {
        var definitions: [ContentComponent] = []
        let start = components.compactMap { CalendarItem($0).start?.wall }.min() ?? WallTime(seconds: 0)
        for name in Self.zoneNames(components) {
            let key = ZoneName.comparable(name)
            if let own = zones.first(where: { $0.first("TZID").map { ZoneName.comparable($0.value) } == key }) {
                if !definitions.contains(own) { definitions.append(own) }
                guard own.text("TZID") != ZoneName.plain(name) else { continue }
                // Other programs compare names to the letter.
                var copy = own
                let line = ContentLine(
                    "TZID", value: ContentText.escaped(ZoneName.plain(name)), ending: own.ending)
                copy.set("TZID", line)
                definitions.append(copy)
            } else if let copy = clock.definition(of: .zone(name), from: start) {
                definitions.append(copy)
            }
        }
        return definitions
    }

    /// The TZIDs of components and those inside, in their order.
    private static func zoneNames(_ components: [ContentComponent]) -> [String] {
        var names: [String] = []
        for component in components {
            let own = component.lines.compactMap { line in
                line.bytes.contains(UInt8(ascii: ";")) ? line.zoned().zone : nil
            }
            for name in own + zoneNames(component.components)
            where !names.contains(name) && !["UTC", "Etc/UTC"].contains(name) { names.append(name) }
        }
        return names
    }
}
