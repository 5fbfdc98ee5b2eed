import Foundation
import HearthBase

/// Reads the records of an iCalendar file.
package enum CalendarFile {
    /// Reads the records that have components of a name, `VEVENT` or `VTODO`.
    /// - Throws: `ContentParser.Failure`.
    package static func records(_ data: Data, of name: String) throws -> [CalendarRecord] {
        let items = try ContentParser().parse(data)
        let calendars = items.components.filter { $0.name == "VCALENDAR" }
        guard !calendars.isEmpty else { throw ContentParser.Failure(reason: "it has no VCALENDAR") }
        var groups = RecordGroups()
        for (index, calendar) in calendars.enumerated() {
            for component in calendar.components where component.name == name {
                guard let id = component.text("UID"), !id.isEmpty else {
                    throw ContentParser.Failure(reason: "a \(name) has no UID")
                }
                groups.add(component, uid: id, calendar: index)
            }
        }
        let zones = calendars.map { ZoneDefinitions($0.items) }
        let all = ZoneDefinitions(items)
        return groups.groups.map { group in
            var record = CalendarRecord(group)
            record.zones = zones[group.calendar]
            record.zones.merge(all)
            return record
        }
    }
}

extension CalendarRecord {
    /// The record of a group, without zones.
    init(_ group: RecordGroups.Group) {
        self.init(id: group.id)
        for item in group.components.map({ CalendarItem($0) }) {
            if item.isOverride || master != nil { overrides.append(item) } else { master = item }
        }
        folded = SearchText.folded(item?.title ?? "")
    }
}

/// The components of a file by record: a series with its changed occurrences is one.
struct RecordGroups {
    /// The components of a record.
    struct Group {
        /// The UID in the file.
        let uid: String
        /// The UID; one of its own for a record whose UID an earlier one of the file has.
        let id: String
        /// The place of the calendar among those of the file.
        let calendar: Int
        var components: [ContentComponent] = []
        var hasMaster = false
    }

    private(set) var groups: [Group] = []
    /// The last group of a UID.
    private var last: [String: Int] = [:]
    private var seen: Set<SHA256Digest> = []
    private var ids: Set<String> = []

    /// Adds a component. One with the bytes of an earlier one is the same; one that is a second series or item under a UID
    /// becomes a record of its own.
    mutating func add(_ component: ContentComponent, uid: String, calendar: Int) {
        let digest = SHA256Digest(hashing: component.bytes)
        guard seen.insert(digest).inserted else { return }
        let isMaster = component.first("RECURRENCE-ID") == nil
        var place = last[uid]
        if let known = place, isMaster, groups[known].hasMaster { place = nil }
        let target = place ?? groups.count
        if place == nil {
            var id = last[uid] == nil ? uid : Self.ownID(uid, digest)
            while !ids.insert(id).inserted { id = Self.ownID(id, digest) }
            groups.append(Group(uid: uid, id: id, calendar: calendar))
            last[uid] = target
        }
        groups[target].components.append(component)
        if isMaster { groups[target].hasMaster = true }
    }

    /// The UID of a second record under a UID: the same at each reading of its bytes.
    static func ownID(_ uid: String, _ digest: SHA256Digest) -> String { "\(uid.prefix(400))-\(digest.hex.prefix(12))" }
}
