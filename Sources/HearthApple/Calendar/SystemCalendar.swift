import Foundation
import HearthAssistant
import HearthBase

/// The person's calendars on an Apple device, through EventKit.
///
/// ```swift
/// let stores = AssistantStores(calendar: SystemCalendar(), reminders: SystemReminders(), contacts: SystemContacts())
/// ```
/// The first use asks the person for access. With write-only access, events are added and none is read: searches and
/// changes throw `access-write-only`. An event that Hearth adds has an address of the scheme `hearth-record`, by which it
/// is found again. Whole series are changed and removed, not single occurrences. An undone removal brings back the values
/// that Hearth shows; attendees and attachments stay lost.
public actor SystemCalendar: CalendarStore, SystemStore {
    package nonisolated let access: SystemAccess
    private let database: any EventDatabase
    private let time: TimeSource
    private let zone: @Sendable () -> TimeZone
    /// The identifiers of events with marks, by their ids.
    private var names: [String: String] = [:]
    /// The generation of the calendars in which all marks were read.
    private var scanned: Int?

    /// - Parameter zone: the zone of the device.
    init(
        _ database: any EventDatabase, access: SystemAccess, time: TimeSource = .system,
        zone: @escaping @Sendable () -> TimeZone = { .current }
    ) {
        (self.database, self.access, self.time, self.zone) = (database, access, time, zone)
    }

    /// The permission now.
    public nonisolated var accessState: AccessState { access.state }

    /// Asks the person for access, if they were not asked yet.
    /// - Throws: the error of EventKit.
    public nonisolated func requestAccess() async throws -> AccessState { try await access.request() }

    // MARK: - Reading

    public func occurrences(from: Date, until: Date, limit: Int) async throws -> [EventOccurrence] {
        let found = try await access.reading { try await events(from: from, until: until) }
        let zone = zone()
        let shown = found.sorted { ($0.start, $0.end, $0.identifier) < ($1.start, $1.end, $1.identifier) }
        return shown.prefix(max(0, limit)).map { event in
            let (start, end) = event.times(in: zone)
            return EventOccurrence(event: event.record(id: id(of: event), in: zone), start: start, end: end)
        }
    }

    /// The events of four years before and after now whose title contains the words, those with the nearest occurrence
    /// after now first.
    public func records(matching words: String, limit: Int) async throws -> [CalendarEvent] {
        let wanted = SearchText.tokens(of: words, limit: 40).map(\.text)
        let (now, zone) = (time.now, zone())
        let found = try await access.reading {
            try await events(
                from: now.addingTimeInterval(-Self.window), until: now.addingTimeInterval(Self.window))
        }
        var best: [String: (distance: Double, event: SystemEvent)] = [:]
        for event in found {
            let title = SearchText.folded(event.title)
            guard wanted.allSatisfy({ title.contains($0) }) else { continue }
            let after = event.end.timeIntervalSince(now)
            // Those that are over follow all others, the last first.
            let distance = after > 0 ? max(0, event.start.timeIntervalSince(now)) : Self.window - after
            if best[event.identifier].map({ $0.distance > distance }) ?? true {
                best[event.identifier] = (distance, event)
            }
        }
        let nearest = best.values.sorted { ($0.distance, $0.event.identifier) < ($1.distance, $1.event.identifier) }
        return nearest.prefix(max(0, limit)).map { $0.event.record(id: id(of: $0.event), in: zone) }
    }

    /// With write-only access there is no event to be seen.
    public func record(_ id: String) async throws -> CalendarEvent? {
        if try await access.isWriteOnly() { return nil }
        return try await access.reading { try await found(id, near: []) }
    }

    public func write(_ record: CalendarEvent?, id: String) async throws { try await apply(change(of: id, to: record)) }

    // MARK: - Looking for events

    /// EventKit answers for at most four years at once.
    private static let window = 1460 * 86_400.0

    private func events(from: Date, until: Date) async throws -> [SystemEvent] {
        var (found, begin) = (Set<SystemEvent>(), from)
        while begin < until {
            let end = min(until, begin.addingTimeInterval(Self.window))
            found.formUnion(try await database.events(from: begin, until: end))
            begin = end
        }
        // Of events with one mark, the same is always the first.
        return found.sorted { $0.identifier < $1.identifier }
    }

    package func found(_ id: String, near moments: [Date]) async throws -> CalendarEvent? {
        try await event(id, near: moments)?.record(id: id, in: zone())
    }

    private func event(_ id: String, near moments: [Date]) async throws -> SystemEvent? {
        if let event = try await named(id) { return event }
        if let event = try await database.event(id) { return event }
        let now = time.now
        let known = now.addingTimeInterval(-Self.window)..<now.addingTimeInterval(2 * Self.window)
        let generation = database.generation
        if scanned != generation {
            _ = try await events(from: known.lowerBound, until: known.upperBound).map(self.id(of:))
            scanned = generation
        }
        for moment in moments where names[id] == nil && !known.contains(moment) {
            let day = 86_400.0
            _ = try await events(from: moment - day, until: moment + day).map(self.id(of:))
        }
        return try await named(id)
    }

    /// The event of a mark that was seen before, if it still has the mark.
    private func named(_ id: String) async throws -> SystemEvent? {
        guard let identifier = names[id] else { return nil }
        if let event = try await database.event(identifier), event.mark?.id == id { return event }
        if names[id] == identifier { names[id] = nil }
        return nil
    }

    /// The id of an event: of its mark, or EventKit's. A copy that a person made has the mark of the first, and EventKit's id.
    private func id(of event: SystemEvent) -> String {
        guard let mark = event.mark else { return event.identifier }
        let name = names[mark.id] ?? event.identifier
        names[mark.id] = name
        return name == event.identifier ? mark.id : event.identifier
    }

    // MARK: - Writing

    package func kept(_ record: CalendarEvent, over present: CalendarEvent?) async throws -> CalendarEvent {
        var event = try await changed(record, near: moments(of: record))
        // The calendar of an event that may not be read stays unknown.
        if try await access.isWriteOnly() { event.list = nil }
        return event.record(id: record.id, in: zone())
    }

    /// The event of a record, changed to its values.
    private func changed(_ record: CalendarEvent, near moments: [Date]) async throws -> SystemEvent {
        let isWriteOnly = try await access.isWriteOnly()
        guard !isWriteOnly, let present = try await event(record.id, near: moments) else {
            var event = try SystemEvent.new(record, in: zone())
            event.list = try await isWriteOnly ? database.standardList() : list(of: record)
            return event
        }
        var event = try present.changed(to: record, in: zone())
        if !record.collection.isEmpty, record.collection != present.list?.identifier {
            event.list = try await list(of: record)
        }
        return event
    }

    /// The calendar that a record names; without a name the one of new events.
    private func list(of record: CalendarEvent) async throws -> SystemList? {
        guard !record.collection.isEmpty else { return try await database.standardList() }
        guard let list = try await database.list(record.collection) else {
            throw AssistantError.unusable("calendar", "there is no calendar \(record.collection.quoted(limit: 40))")
        }
        guard list.isWritable else {
            throw AssistantError.unusable("calendar", "the calendar \(list.title.quoted(limit: 40)) cannot be changed")
        }
        return list
    }

    package func put(_ record: CalendarEvent?, id: String, near moments: [Date]) async throws {
        guard let record else {
            guard let event = try await event(id, near: moments) else { return }
            try await database.remove(event.identifier)
            return
        }
        let event = try await changed(record, near: moments)
        let identifier = try await database.save(event)
        if event.mark?.id == id { names[id] = identifier }
    }

    package nonisolated func moments(of record: CalendarEvent) -> [Date] { record.fields.start.map { [$0.date] } ?? [] }

    /// An event that was added with write-only access has no calendar afterwards.
    package nonisolated func compared(_ record: CalendarEvent, with other: CalendarEvent) -> CalendarEvent {
        var record = record
        if other.collection.isEmpty { record.collection = "" }
        // An event that is brought back has no other participants.
        record.isInvitation = false
        return record
    }

    package nonisolated func texts(of record: CalendarEvent) -> [String] {
        [record.displayName, record.fields.location ?? "", record.fields.notes ?? ""]
    }
}
