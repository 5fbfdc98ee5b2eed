/// An alarm of an event or reminder (RFC 5545 3.6.6, RFC 9074).
package struct ItemAlarm: Sendable, Hashable {
    /// The time that an alarm rings at.
    package enum Trigger: Sendable, Hashable {
        /// The seconds after the start; negative before it.
        case start(Int)
        /// The seconds after the end, or after the due time of a reminder.
        case end(Int)
        case at(CalendarTime)
    }

    package var trigger: Trigger
    /// The last time that a person has answered the alarm in any program.
    package var acknowledged: CalendarTime?

    /// The most alarms of an item that are read.
    static let limit = 16
    /// The most seconds between an alarm and its item.
    static let reach = 366 * WallTime.daySeconds

    /// Reads a VALARM; `nil` for one that makes no sound, as mails and the switched-off alarms of Apple's programs.
    init?(_ alarm: ContentComponent) {
        let action = alarm.first("ACTION")?.value.uppercased() ?? "DISPLAY"
        guard ["DISPLAY", "AUDIO"].contains(action), let line = alarm.first("TRIGGER") else { return nil }
        if let distance = CalendarDuration(value: line.value) {
            let seconds = distance.days * WallTime.daySeconds + distance.seconds
            guard abs(seconds) <= Self.reach else { return nil }
            trigger = line.parameter("RELATED")?.uppercased() == "END" ? .end(seconds) : .start(seconds)
        } else if let time = CalendarTime(line: line), !time.isDay {
            trigger = .at(time)
        } else {
            return nil
        }
        acknowledged = alarm.first("ACKNOWLEDGED").flatMap { CalendarTime(line: $0) }
    }

    /// The alarms of an item.
    static func alarms(of component: ContentComponent) -> [ItemAlarm] {
        Array(component.components.lazy.filter { $0.name == "VALARM" }.compactMap { ItemAlarm($0) }.prefix(limit))
    }
}
