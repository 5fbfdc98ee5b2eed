import Foundation
import HearthBase

/// The text that events and reminders share: new files, stamps, and zones.
struct CalendarText {
    let clock: CalendarClock
    let now: Date

    /// The name of the program in new files (RFC 5545 3.7.3).
    static let product = "-//Hearth//Hearth Assistant//EN"

    /// The present time in UTC.
    var stamp: String {
        CalendarTime(WallTime(seconds: Int(now.timeIntervalSince1970.rounded(.down))), .utc).value
    }

    /// A file with one component and the zones of its times.
    func file(_ component: ContentComponent, clocks: [CalendarTime.Clock], from start: WallTime) -> Data {
        var items: [ContentComponent.Item] = [
            .line(ContentLine("VERSION", value: "2.0")), .line(ContentLine("PRODID", value: Self.product)),
        ]
        for name in Self.zoneNames(clocks) {
            if let zone = clock.definition(of: .zone(name), from: start) { items.append(.component(zone)) }
        }
        return Data(ContentComponent("VCALENDAR", items + [.component(component)]).bytes)
    }

    /// Adds the zones that a changed component needs and the file does not define yet.
    func addZones(_ clocks: [CalendarTime.Clock], to calendar: inout ContentComponent, from start: WallTime) {
        let known = calendar.components.filter { $0.name == "VTIMEZONE" }.compactMap { $0.first("TZID")?.value }
        for name in Self.zoneNames(clocks) where !known.contains(name) {
            guard let zone = clock.definition(of: .zone(name), from: start) else { continue }
            calendar.items.insert(.component(zone.ending(with: calendar.ending)), at: calendar.items.endOfLines)
        }
    }

    private static func zoneNames(_ clocks: [CalendarTime.Clock]) -> [String] {
        var names: [String] = []
        for case .zone(let name) in clocks where !names.contains(name) { names.append(name) }
        return names
    }

    /// Marks a component as changed now (RFC 5545 3.8.7).
    /// - Parameter isRescheduled: whether its times have changed, which counts its SEQUENCE up.
    func touch(_ component: inout ContentComponent, isRescheduled: Bool) {
        let ending = component.ending
        for name in ["DTSTAMP", "LAST-MODIFIED"] {
            component.set(name, ContentLine(name, value: stamp, ending: ending))
        }
        // The organizer of an invitation counts its sequence.
        guard isRescheduled, component.first("ORGANIZER") == nil else { return }
        let sequence = component.first("SEQUENCE").flatMap { Int($0.value) } ?? 0
        component.set("SEQUENCE", ContentLine("SEQUENCE", value: String(min(sequence, 1 << 30) + 1), ending: ending))
    }

    /// A line with a time. Keeps the parameters of the line before it that do not belong to the value.
    func line(_ name: String, _ time: CalendarTime, like old: ContentLine?, ending: [UInt8] = [13, 10]) -> ContentLine {
        let others = (old?.parameters ?? []).filter { !["TZID", "VALUE"].contains($0.name) }
        return ContentLine(name, time.parameters + others, value: time.value, ending: ending)
    }

    /// The first lines of a new component.
    func heading(id: String) -> [ContentComponent.Item] {
        [
            .line(ContentLine("UID", value: ContentText.escaped(id))), .line(ContentLine("DTSTAMP", value: stamp)),
            .line(ContentLine("CREATED", value: stamp)), .line(ContentLine("LAST-MODIFIED", value: stamp)),
        ]
    }

    /// Sets the minutes of the first alarm that belongs to a time, or adds an alarm.
    func setAlarm(_ minutes: Int, of component: inout ContentComponent, title: String, ofEnd: Bool) throws {
        try Self.check(alarmMinutes: minutes)
        for index in component.items.indices {
            guard case .component(var alarm) = component.items[index], alarm.name == "VALARM",
                let old = CalendarAlarm.minutes(of: alarm)
            else { continue }
            if old == minutes { return }
            alarm.set("TRIGGER", CalendarAlarm.trigger(minutes: minutes, ofEnd: ofEnd, ending: component.ending))
            component.items[index] = .component(alarm)
            return
        }
        component.items.append(
            .component(
                CalendarAlarm.component(minutes: minutes, title: title, ofEnd: ofEnd, ending: component.ending)))
    }

    static func check(alarmMinutes minutes: Int) throws {
        guard abs(minutes) <= 527_040 else {
            throw AssistantError(
                .unusablePayload, "the alarm is more than a year away",
                context: ErrorContext(field: "alarmMinutes", expected: "at most 527040", found: "\(minutes)"))
        }
    }

    /// - Throws: `unusable-payload` for a UID that cannot be written.
    static func check(id: String) throws {
        guard !id.isEmpty, !id.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw AssistantError(.unusablePayload, "the id is empty or has control characters")
        }
    }

    /// The title without surrounding blanks.
    /// - Throws: `unusable-payload` if it is empty.
    static func title(_ title: String?) throws -> String {
        let title = (title ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        guard !title.isEmpty else {
            throw AssistantError(.unusablePayload, "the title is missing", context: ErrorContext(field: "title"))
        }
        return title
    }
}
