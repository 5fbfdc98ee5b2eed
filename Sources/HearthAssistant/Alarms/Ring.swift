import Foundation

/// An alarm that has rung and waits for an answer.
package struct Ring: Sendable, Hashable, Codable, Identifiable {
    /// Identifies the alarm; see ``RecordAlarm/id``.
    package var id: String
    /// `calendar` or `reminders`.
    package var store: StoreKind
    /// The UID of the event or reminder.
    package var record: String
    /// The title of one of the user's own records; `nil` for a record that others wrote.
    package var title: String?
    /// The calendar or list of a record that others wrote.
    package var collection: String?
    /// The start of the event or the due time of the reminder: `2026-11-24T09:30:00Z`, or `2026-11-24` for a whole day.
    package var due: String
    /// When the alarm rings, or rings again.
    package var rings: Date
    /// Whether it rang more than two minutes later, because nothing ran.
    package var isLate: Bool

    /// The ring of an alarm.
    init(_ alarm: RecordAlarm, rings: Int, isLate: Bool) {
        id = alarm.id
        store = alarm.store
        record = alarm.record
        // Imported records were chosen by the user, one file at a time.
        let isOwn = !alarm.isInvitation && (alarm.source == nil || alarm.source == "import")
        title = isOwn ? ShownText.of(String(alarm.title.prefix(Self.titleLimit))) : nil
        collection = isOwn ? nil : ShownText.of(String(alarm.collection.prefix(Self.titleLimit)))
        due = alarm.time.text
        self.rings = Date(timeIntervalSince1970: Double(rings))
        self.isLate = isLate
    }

    /// The most characters of a title that are displayed.
    private static let titleLimit = 200
}

/// The answer of a person to a ring.
package enum RingAnswer: Sendable, Hashable {
    /// Completes a reminder, one occurrence of a repeating one; ends the ring of an event.
    case done
    /// Ends the ring, and changes no record.
    case close
    case snooze(RingSnooze)
}

/// How long a ring waits before it rings again.
package enum RingSnooze: String, Sendable, Hashable, Codable, CaseIterable {
    case tenMinutes = "10-minutes"
    case oneHour = "1-hour"
    /// Nine o'clock on the next day.
    case tomorrow

    /// The time of the next ring.
    package func end(from now: Date, in zone: TimeZone) -> Date {
        switch self {
        case .tenMinutes: return now.addingTimeInterval(600)
        case .oneHour: return now.addingTimeInterval(3600)
        case .tomorrow:
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = zone
            let day = calendar.date(byAdding: .day, value: 1, to: now) ?? now.addingTimeInterval(86_400)
            return calendar.date(bySettingHour: 9, minute: 0, second: 0, of: day) ?? day
        }
    }
}
