import Foundation
import HearthBase

/// The words of a ring on the desktop, in the language of the session.
package struct RingWords: Sendable {
    private let isGerman: Bool
    private let locale: Locale
    private let timeZone: @Sendable () -> TimeZone

    /// - Parameter environment: names the language as POSIX does: `LC_ALL`, `LC_MESSAGES`, `LANG`.
    package init(
        environment: [String: String], timeZone: @escaping @Sendable () -> TimeZone = { .current }
    ) {
        let name = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "C"
        isGerman = name.hasPrefix("de")
        let tag = String(name.prefix { $0 != "." && $0 != "@" })
        locale = Locale(identifier: ["", "C", "POSIX"].contains(tag) ? "en_GB" : tag)
        self.timeZone = timeZone
    }

    /// The first line.
    package func title(_ ring: Ring) -> String { ring.title ?? kind(ring) }

    /// The second line: kind, time, and whether it is late.
    package func body(_ ring: Ring, now: Date) -> String {
        let from = ring.collection.map { " (\($0))" } ?? ""
        let late = isGerman ? "verspätet" : "late"
        return "\(kind(ring))\(from): \(time(ring, now: now))" + (ring.isLate ? ", \(late)" : "")
    }

    /// The line for alarms that do not ring one by one.
    package func missed(_ count: Int) -> String {
        isGerman ? "\(count) weitere wurden fällig, während nichts lief." : "\(count) more fell due while nothing ran."
    }

    package var done: String { isGerman ? "Erledigt" : "Done" }

    package func snooze(_ snooze: RingSnooze) -> String {
        switch snooze {
        case .tenMinutes: isGerman ? "In 10 Minuten" : "In 10 minutes"
        case .oneHour: isGerman ? "In einer Stunde" : "In an hour"
        case .tomorrow: isGerman ? "Morgen" : "Tomorrow"
        }
    }

    private func kind(_ ring: Ring) -> String {
        if ring.store == .reminders { return isGerman ? "Erinnerung" : "Reminder" }
        return isGerman ? "Termin" : "Event"
    }

    private func time(_ ring: Ring, now: Date) -> String {
        if let day = CalendarDay(ring.due) { return day.description }
        guard let due = Timestamp(ring.due)?.date else { return ring.due }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone()
        let isToday = calendar.isDate(due, inSameDayAs: now)
        return due.formatted(
            Date.FormatStyle(
                date: isToday ? .omitted : .abbreviated, time: .shortened, locale: locale, timeZone: timeZone()))
    }
}
