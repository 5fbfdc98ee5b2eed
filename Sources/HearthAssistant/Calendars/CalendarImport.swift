import Foundation
import HearthBase

/// Splits an iCalendar file into one file for each UID, and joins files.
package enum CalendarImport {
    /// The files of the records with components of a name, by UID in their order. Components keep their bytes.
    /// - Throws: `unusable-record`.
    package static func records(_ data: Data, of name: String) throws -> [(id: String, data: Data)] {
        let calendars = try ContentParser.imported(data, "VCALENDAR", kind: "iCalendar")
        var ids: [String] = []
        var files: [String: ContentComponent] = [:]
        for calendar in calendars {
            for var component in calendar.components where component.name == name {
                let id: String
                if let known = component.text("UID"), !known.isEmpty {
                    id = known
                } else {
                    // The same file imported again is the same record.
                    id = String(SHA256Digest(hashing: Data(component.bytes)).hex.prefix(32))
                    component.items.insert(.line(ContentLine("UID", value: id, ending: component.ending)), at: 0)
                }
                if files[id] == nil {
                    ids.append(id)
                    files[id] = ContentComponent(
                        name: calendar.name, begin: calendar.begin, items: header(of: calendar), end: calendar.end)
                }
                addZones(of: component, in: calendar, to: &files[id])
                files[id]?.items.append(.component(component))
            }
        }
        return ids.compactMap { id in files[id].map { (id, Data($0.bytes)) } }
    }

    /// The lines of a calendar but for METHOD, which makes a file a message and no record.
    private static func header(of calendar: ContentComponent) -> [ContentComponent.Item] {
        calendar.lines.filter { $0.name != "METHOD" }.map { .line($0) }
    }

    private static func addZones(
        of component: ContentComponent, in calendar: ContentComponent, to file: inout ContentComponent?
    ) {
        let used = Set(component.lines.compactMap { $0.parameter("TZID") })
        for zone in calendar.components where zone.name == "VTIMEZONE" {
            guard let id = zone.first("TZID")?.value, used.contains(id) else { continue }
            guard file?.items.contains(.component(zone)) == false else { continue }
            file?.items.append(.component(zone))
        }
    }

    /// Whether two files have the same components, byte for byte, whatever the lines around them.
    static func haveSameComponents(_ first: Data, _ second: Data) -> Bool {
        if first == second { return true }
        // A file that is no calendar has no components: it equals only itself.
        func components(_ data: Data) -> [[UInt8]]? {
            try? ContentParser().parse(data).components.flatMap(\.components).map { [UInt8]($0.bytes) }
                .sorted { $0.lexicographicallyPrecedes($1) }
        }
        guard let present = components(first) else { return false }
        return present == components(second)
    }

    /// One file with the components of all files, and each zone once.
    package static func joined(_ files: [Data]) throws -> Data {
        var lines: [ContentComponent.Item] = [
            .line(ContentLine("VERSION", value: "2.0")), .line(ContentLine("PRODID", value: CalendarText.product)),
        ]
        var zones: Set<String> = []
        var others: [ContentComponent.Item] = []
        for file in files {
            // A file that is not read is not in the store's list either.
            guard let items = try? ContentParser().parse(file) else { continue }
            for component in items.components.filter({ $0.name == "VCALENDAR" }).flatMap(\.components) {
                if component.name != "VTIMEZONE" {
                    others.append(.component(component))
                } else if let id = component.first("TZID")?.value, zones.insert(id).inserted {
                    lines.append(.component(component))
                }
            }
        }
        return Data(ContentComponent("VCALENDAR", lines + others).bytes)
    }
}
