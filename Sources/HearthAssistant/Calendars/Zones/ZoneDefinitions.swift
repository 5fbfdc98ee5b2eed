import Foundation
import HearthBase

/// A VTIMEZONE of a file.
package struct ZoneDefinition: Sendable, Hashable {
    /// The bytes of the component, as UTF-8.
    let text: [UInt8]
    /// Identifies the text, so that equal definitions of many files are computed once.
    let digest: SHA256Digest
    /// The zone of the database that Hearth has copied into the file: the database counts, which is updated.
    let copied: String?
    /// The zone of the database that the definition is of, as other programs say it.
    let location: String?
    /// The seconds east of UTC of its clocks.
    private let offsets: Set<Int>

    init(_ component: ContentComponent) {
        // A slice of the file's bytes would keep the whole file in memory.
        text = component.bytes
        digest = SHA256Digest(hashing: text)
        copied = component.text(ZoneText.copyMark)
        location = copied ?? component.text("X-LIC-LOCATION")
        offsets = Set(
            component.components.compactMap { $0.first("TZOFFSETTO").flatMap { ZoneName.offset(in: $0.value) } })
    }

    /// Whether it is a copy of a zone of the database: of its offsets, with or without the right days of their changes.
    ///
    /// Libraries write definitions whose changes of clocks are those of other years. Other programs take the database's.
    func isCopy(of zone: ZoneTable.Zone) -> Bool {
        guard !offsets.isEmpty else { return false }
        return offsets.isSubset(
            of: [1, 4, 7, 10].map { zone.offset(at: WallTime(year: 2026, month: $0, day: 15).seconds) })
    }

    package static func == (left: Self, right: Self) -> Bool { left.digest == right.digest }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

/// The zones that a file defines, wherever the definitions stand in it.
package struct ZoneDefinitions: Sendable, Hashable {
    /// By TZID as written, and by the form in which names are compared.
    private var byName: [String: ZoneDefinition] = [:]

    package init() {}

    /// The definitions among the parts of a calendar or a file, those of inner components included.
    package init(_ items: [ContentComponent.Item]) {
        for component in items.components {
            if component.name == "VTIMEZONE" { add(component) } else { merge(Self(component.items)) }
        }
    }

    /// The definition with a TZID; names are compared without escapes, quotes and case.
    package subscript(_ name: String) -> ZoneDefinition? {
        if byName.isEmpty { return nil }
        return byName[name] ?? byName[ZoneName.comparable(name)]
    }

    /// Adds the definitions of names that have none yet.
    package mutating func merge(_ other: ZoneDefinitions) { byName.merge(other.byName) { known, _ in known } }

    private mutating func add(_ component: ContentComponent) {
        guard let name = component.first("TZID")?.value, !name.isEmpty else { return }
        let definition = ZoneDefinition(component)
        for name in [name, ZoneName.comparable(name)] where byName[name] == nil { byName[name] = definition }
    }
}
