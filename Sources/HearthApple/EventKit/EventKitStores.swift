#if canImport(EventKit)
import EventKit
import Foundation
import HearthAssistant
import HearthBase

extension SystemCalendar {
    /// The calendars of this device.
    /// - Parameter asking: what the person is asked for at the first use.
    public init(asking: CalendarAccess = .full) {
        let database = EventKitDatabase()
        self.init(
            EventKitEvents(database: database),
            access: SystemAccess(
                .calendar, status: { EventKitDatabase.state(.event) },
                ask: { try await database.requestEvents(asking) }, isUnlocked: FirstUnlock.hasHappenedHere))
    }
}

extension SystemReminders {
    /// The reminders of this device.
    public init() {
        let database = EventKitDatabase()
        self.init(
            EventKitReminders(database: database),
            access: SystemAccess(
                .reminders, status: { EventKitDatabase.state(.reminder) },
                ask: { try await database.requestReminders() }, isUnlocked: FirstUnlock.hasHappenedHere))
    }
}

private struct EventKitEvents: EventDatabase {
    let database: EventKitDatabase

    var generation: Int { database.generation }
    func event(_ identifier: String) async throws -> SystemEvent? { await database.event(identifier) }
    func events(from: Date, until: Date) async throws -> [SystemEvent] {
        await database.events(from: from, until: until)
    }
    func list(_ identifier: String) async throws -> SystemList? { await database.list(identifier) }
    func standardList() async throws -> SystemList? { await database.standardEventList() }
    func save(_ event: SystemEvent) async throws -> String { try await database.save(event) }
    func remove(_ identifier: String) async throws { try await database.removeEvent(identifier) }
}

private struct EventKitReminders: ReminderDatabase {
    let database: EventKitDatabase

    func reminder(_ identifier: String) async throws -> SystemReminder? { await database.reminder(identifier) }
    func reminders() async throws -> [SystemReminder] { try await database.reminders() }
    func list(_ identifier: String) async throws -> SystemList? { await database.list(identifier) }
    func standardList() async throws -> SystemList? { await database.standardReminderList() }
    func save(_ reminder: SystemReminder) async throws -> String { try await database.save(reminder) }
    func remove(_ identifier: String) async throws { try await database.removeReminder(identifier) }
}
#endif
