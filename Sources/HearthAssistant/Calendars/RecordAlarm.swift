import Foundation
import HearthBase

/// A moment at which an event or a reminder rings.
package struct RecordAlarm: Sendable, Hashable {
    package var store: StoreKind
    /// The UID.
    package var record: String
    package var collection: String
    package var title: String
    /// The start of the event's occurrence, or the due time of the reminder.
    package var time: EventTime
    /// ``time`` in seconds since 1970; of a whole day its beginning on this device.
    package var begin: Int
    /// The time of the alarm in seconds since 1970.
    package var moment: Int
    /// Where the texts are from if others wrote them; `nil` for the user's own.
    package var source: String?
    package var isInvitation: Bool

    package init(
        store: StoreKind, record: String, collection: String = "", title: String, time: EventTime, begin: Int,
        moment: Int, source: String? = nil, isInvitation: Bool = false
    ) {
        self.store = store
        self.record = record
        self.collection = collection
        self.title = title
        self.time = time
        self.begin = begin
        self.moment = moment
        self.source = source
        self.isInvitation = isInvitation
    }

    /// Identifies the alarm. Another due time, start or trigger is another alarm.
    package var id: String {
        let name = "\(store.rawValue)\n\(record)\n\(begin)\n\(moment)"
        return String(SHA256Digest(hashing: Data(name.utf8)).hex.prefix(32))
    }
}

extension VdirReminderStore {
    /// The hour at which reminders of whole days ring.
    static let dayHour = 9

    /// The alarms after `from` until `until`, in seconds since 1970, by time. A reminder rings when it is due, and at its alarms.
    package func alarms(after from: Int, until: Int) throws -> [RecordAlarm] {
        try folder.refresh()
        var found: [RecordAlarm] = []
        for file in folder.unorderedFiles {
            for record in file.records {
                guard let item = record.item, !item.isDone else { continue }
                let reminder = reminder(record, item, file.collection)
                guard let due = reminder.due else { continue }
                let end = begin(of: due)
                let start = item.start.map { clock.moment(of: $0, record.zones) } ?? end
                let times = AlarmTimes(item, record.zones, clock)
                let own = due.isAllDay ? end + Self.dayHour * 3600 : end
                var moments = Set(times.moments(start: start, end: end))
                if !times.isAcknowledged(own) { moments.insert(own) }
                for moment in moments where from < moment && moment <= until {
                    found.append(
                        RecordAlarm(
                            store: .reminders, record: record.id, collection: file.collection, title: item.title,
                            time: due, begin: end, moment: moment, source: reminder.source,
                            isInvitation: item.isInvitation))
                }
            }
        }
        return found.sorted { ($0.moment, $0.id) < ($1.moment, $1.id) }
    }

    /// A due time in seconds since 1970; the midnight of this device for a whole day.
    private func begin(of due: EventTime) -> Int {
        let seconds = Int(due.date.timeIntervalSince1970.rounded(.down))
        return due.isAllDay ? clock.moment(of: CalendarTime(WallTime(seconds: seconds), .day)) : seconds
    }
}

extension VdirCalendarStore {
    /// The alarms after `from` until `until`, in seconds since 1970, by time. Events without alarms do not ring.
    package func alarms(after from: Int, until: Int) throws -> [RecordAlarm] {
        try folder.refresh()
        var found: [RecordAlarm] = []
        for file in folder.unorderedFiles {
            for record in file.records {
                let items = [record.master].compactMap(\.self) + record.overrides
                let alarms = items.flatMap(\.alarms)
                guard !alarms.isEmpty else { continue }
                let series = CalendarSeries(record: record, clock: clock)
                let (before, after) = AlarmTimes.reach(of: alarms)
                var occurrences = series.occurrences(from: from - after, until: until + before + 1)
                // A fixed time can be far from the item that it belongs to.
                for item in items where item.status != "CANCELLED" && item.alarms.contains(where: \.isFixed) {
                    guard let start = item.start ?? item.recurrenceID else { continue }
                    let own = series.occurrence(item, start)
                    if !occurrences.contains(where: { $0.begin == own.begin }) { occurrences.append(own) }
                }
                let source = folder.own.source(.calendar, file.collection, marked: record.source)
                for occurrence in occurrences {
                    let times = AlarmTimes(occurrence.item, record.zones, clock)
                    let isFirst = occurrence.item.start.map { $0 == occurrence.start } ?? true
                    for moment in Set(
                        times.moments(start: occurrence.begin, end: occurrence.end, takesFixed: isFirst))
                    where from < moment && moment <= until {
                        found.append(
                            RecordAlarm(
                                store: .calendar, record: record.id, collection: file.collection,
                                title: occurrence.item.title, time: clock.eventTime(occurrence.start, record.zones),
                                begin: occurrence.begin, moment: moment, source: source,
                                isInvitation: items.contains(where: \.isInvitation)))
                    }
                }
            }
        }
        return found.sorted { ($0.moment, $0.id) < ($1.moment, $1.id) }
    }
}

extension ItemAlarm {
    /// Whether it rings at a time of its own.
    var isFixed: Bool { if case .at = trigger { true } else { false } }
}

/// The moments of an item's alarms. Used on ``CalendarThread``.
private struct AlarmTimes {
    let item: CalendarItem
    let zones: ZoneDefinitions
    let clock: CalendarClock

    init(_ item: CalendarItem, _ zones: ZoneDefinitions, _ clock: CalendarClock) {
        self.item = item
        self.zones = zones
        self.clock = clock
    }

    /// The most seconds that alarms ring before and after the times that they belong to.
    static func reach(of alarms: [ItemAlarm]) -> (before: Int, after: Int) {
        let distances = alarms.compactMap { alarm -> Int? in
            switch alarm.trigger {
            case .start(let seconds), .end(let seconds): seconds
            case .at: nil
            }
        }
        return (max(0, -(distances.min() ?? 0)), max(0, distances.max() ?? 0))
    }

    /// The moments at which the alarms ring that no person has answered yet.
    func moments(start: Int, end: Int, takesFixed: Bool = true) -> [Int] {
        item.alarms.compactMap { alarm in
            let moment: Int
            switch alarm.trigger {
            case .start(let seconds): moment = start + seconds
            case .end(let seconds): moment = end + seconds
            case .at(let time):
                guard takesFixed else { return nil }
                moment = clock.moment(of: time, zones)
            }
            let answered = alarm.acknowledged.map { clock.moment(of: $0, zones) }
            return answered.map { $0 >= moment } == true ? nil : moment
        }
    }

    /// Whether a person has answered an alarm at or after a moment.
    func isAcknowledged(_ moment: Int) -> Bool {
        item.alarms.contains { alarm in alarm.acknowledged.map { clock.moment(of: $0, zones) >= moment } ?? false }
    }
}
