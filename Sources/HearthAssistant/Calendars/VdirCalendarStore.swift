import Foundation
import HearthBase

/// The user's calendars in a vdir folder, which khal and vdirsyncer read and write, too.
///
/// ```
/// HOME/calendar/personal/UID.ics    one event with its overrides
/// ```
/// Recurrence and time zones are computed by libical on ``CalendarThread``. Lines are edited as text, so that a change
/// keeps all other lines of a file byte for byte.
package actor VdirCalendarStore: CalendarStore, VdirStore {
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        CalendarThread.executor.asUnownedSerialExecutor()
    }

    package var folder: VdirFolder<CalendarRecord>
    let clock: CalendarClock
    private let time: TimeSource

    /// A store of the folder `calendar` in `home`; nothing is written before the first change.
    /// - Parameters:
    ///   - timeZone: the zone of the device.
    package init(
        home: Path, own: OwnCollections = .personal, time: TimeSource = .system,
        timeZone: @escaping @Sendable () -> TimeZone = { .current }
    ) {
        folder = VdirFolder(
            path: home.appending("calendar"), suffix: ".ics", own: own, time: time,
            parse: { try CalendarFile.records($0, of: "VEVENT") })
        clock = CalendarClock(deviceZone: timeZone)
        self.time = time
    }

    package func collections() throws -> [String] {
        try folder.refresh()
        return folder.collections
    }

    package func occurrences(from: Date, until: Date, limit: Int) throws -> [EventOccurrence] {
        try folder.refresh()
        let (from, until) = (Self.seconds(from), Self.seconds(until))
        var found: [(CalendarSeries, String, CalendarSeries.Occurrence)] = []
        for file in folder.unorderedFiles {
            for record in file.records where Self.mayOccur(record, from, until) {
                let series = CalendarSeries(record: record, clock: clock)
                found += series.occurrences(from: from, until: until).map { (series, file.collection, $0) }
            }
        }
        found.sort { ($0.2.begin, $0.2.end, $0.0.record.id) < ($1.2.begin, $1.2.end, $1.0.record.id) }
        return found.prefix(max(0, limit)).map { series, collection, occurrence in
            EventOccurrence(
                event: event(series, occurrence.item, collection),
                start: clock.eventTime(occurrence.start, series.record.zones), end: series.end(occurrence))
        }
    }

    /// Whether a record can occur in a period, without regard to zones: spares most records the rest.
    private static func mayOccur(_ record: CalendarRecord, _ from: Int, _ until: Int) -> Bool {
        guard let master = record.master, record.overrides.isEmpty, let start = master.start else { return true }
        let slack = 2 * WallTime.daySeconds
        if start.wall.seconds > until + slack && master.dates.isEmpty { return false }
        if master.isRecurring { return true }
        let days = master.duration.map { abs($0.days) * WallTime.daySeconds + abs($0.seconds) } ?? 0
        return (master.end ?? start).wall.seconds + days + slack >= from
    }

    package func record(_ id: String) throws -> CalendarEvent? {
        try folder.refresh()
        guard let (collection, record) = folder.find(id), let item = record.item else { return nil }
        return event(CalendarSeries(record: record, clock: clock), item, collection)
    }

    private func event(_ series: CalendarSeries, _ item: CalendarItem, _ collection: String) -> CalendarEvent {
        var event = series.event(item, collection: collection)
        event.source = folder.own.source(.calendar, collection, marked: event.source)
        return event
    }

    /// The events whose title contains the words, those with the nearest occurrence after now first.
    package func records(matching words: String, limit: Int) throws -> [CalendarEvent] {
        try folder.refresh()
        let words = SearchText.tokens(of: words, limit: 40).map(\.text)
        let date = Self.seconds(time.now)
        var found: [(distance: Int, event: CalendarEvent)] = []
        for file in folder.unorderedFiles {
            for record in file.records {
                guard let item = record.item, words.allSatisfy({ record.folded.contains($0) }) else { continue }
                let series = CalendarSeries(record: record, clock: clock)
                let distance = Self.distance(of: series, from: date)
                found.append((distance, event(series, item, file.collection)))
            }
        }
        return found.sorted { ($0.distance, $0.event.id) < ($1.distance, $1.event.id) }.prefix(max(0, limit))
            .map(\.event)
    }

    /// The seconds until the next occurrence; events that are over follow, the last ones first.
    private static func distance(of series: CalendarSeries, from date: Int) -> Int {
        let day = WallTime.daySeconds
        for days in [31, 366, 366 * 8] {
            let next = series.occurrences(from: date, until: date + days * day).map(\.begin).min()
            if let next { return max(0, next - date) }
        }
        let start = series.record.item?.start.map { series.clock.moment(of: $0, series.record.zones) } ?? 0
        return start >= date ? start - date : 10_000 * 366 * day + date - start
    }

    package func change(of id: String, to event: CalendarEvent?) async throws -> RecordChange {
        guard let event else { return try folder.removal(of: id, in: .calendar) }
        let writer = EventWriter(clock: clock, now: time.now)
        guard let present = try record(id) else {
            return RecordChange(
                store: .calendar, collection: folder.target(event.collection), id: id,
                before: nil, after: try writer.creation(of: event.fields, id: id))
        }
        let (collection, record, before) = try folder.known(id)
        var after = try writer.change(of: record, in: before, to: event.fields.changes(since: present.fields))
        if event.fields.alarmMinutes == nil, present.fields.alarmMinutes != nil {
            after = try writer.removingAlarms(from: after)
        }
        return RecordChange(store: .calendar, collection: collection, id: id, before: before, after: after)
    }

    /// The changes that import an iCalendar file, one for each event; an event with a known UID is replaced.
    /// - Throws: `unusable-record` if the file is no iCalendar, or replaces one of several records of a file.
    package func importing(_ data: Data) async throws -> RecordImportPlan {
        try folder.refresh()
        return try CalendarImport(name: "VEVENT", store: .calendar, clock: clock, folder: folder).plan(data)
    }

    package func problems() async throws -> [RecordProblem] { try folder.problems(of: "VEVENT", clock) }

    package func isSame(_ first: Data, _ second: Data) -> Bool { CalendarJoin.haveSameComponents(first, second) }

    /// All events as one iCalendar file.
    package func exported() async throws -> Data { try folder.exported() }

    private static func seconds(_ date: Date) -> Int {
        Int(min(max(date.timeIntervalSince1970, -60_000_000_000), 250_000_000_000).rounded(.down))
    }
}
