#if canImport(CIcal)
import CIcal
import Foundation
import HearthBase

/// A zone of a VTIMEZONE, which libical reads (`icaltimezone`). Used on ``CalendarThread``.
final class DefinedZone {
    private let zone: OpaquePointer

    private static let limits = (bytes: 64 << 10, observances: 200)

    /// Reads a definition; `nil` for one that libical cannot read, or that would make it compute without end.
    init?(_ text: [UInt8]) {
        // A definition that is no component is one that cannot be read.
        guard text.count <= Self.limits.bytes, let items = try? ContentParser().parse(Data(text)),
            let component = items.components.first, Self.isBounded(component),
            let zone = String(decoding: text, as: UTF8.self).withCString(hearth_ical_zone)
        else { return nil }
        self.zone = zone
    }

    deinit { icaltimezone_free(zone, 1) }

    /// The seconds east of UTC at a time, given as seconds since 1970 in UTC.
    func offset(at seconds: Int) -> Int {
        // libical computes the changes of each year up to this one, so the year is bounded.
        let last = WallTime(year: 2500, month: 1, day: 1).seconds
        return Int(hearth_ical_offset(zone, WallTime(seconds: min(seconds, last)).library))
    }

    private static func isBounded(_ component: ContentComponent) -> Bool {
        guard (1...limits.observances).contains(component.components.count) else { return false }
        return component.components.allSatisfy { observance in
            guard let start = observance.first("DTSTART").flatMap({ CalendarTime(line: $0) }),
                start.wall >= WallTime(year: 1500, month: 1, day: 1),
                ["TZOFFSETFROM", "TZOFFSETTO"].allSatisfy({ observance.first($0).map(isOffset) ?? false })
            else { return false }
            return observance.all("RRULE").allSatisfy { line in
                guard let rule = RecurrenceRule(line.value) else { return false }
                return rule.frequency == .yearly && rule.isExpandable(from: start.wall)
            }
        }
    }

    /// Whether a line says an offset such as `+0130`; libical would take others as none.
    private static func isOffset(_ line: ContentLine) -> Bool {
        let value = line.value.trimmingCharacters(in: .whitespaces).utf8
        guard let sign = value.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return false }
        return [5, 7].contains(value.count) && value.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
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
#else
/// A zone of a VTIMEZONE, which only libical reads.
final class DefinedZone {
    /// Always `nil`: on this system a zone counts by its name.
    init?(_ text: [UInt8]) { return nil }

    /// Never called, as no zone is made.
    func offset(at seconds: Int) -> Int { 0 }
}
#endif
