#if canImport(EventKit)
import EventKit
import Foundation
import HearthAssistant
import HearthBase

/// EventKit's store on a thread of its own: its calls wait for another process.
actor EventKitDatabase {
    private let executor = ThreadExecutor(name: "hearth.eventkit")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    let store = EKEventStore()
    private let changes = Locked(0)
    /// Ends with the database.
    private nonisolated(unsafe) var observer: (any NSObjectProtocol)?

    init() {
        observer = NotificationCenter.default.addObserver(forName: .EKEventStoreChanged, object: nil, queue: nil) {
            [changes] _ in changes.withLock { $0 += 1 }
        }
    }

    deinit { if let observer { NotificationCenter.default.removeObserver(observer) } }

    nonisolated var generation: Int { changes.withLock { $0 } }

    /// The permission for events or reminders.
    static func state(_ entity: EKEntityType) -> AccessState {
        switch EKEventStore.authorizationStatus(for: entity) {
        case .notDetermined: .notDetermined
        case .restricted: .restricted
        case .denied: .denied
        case .fullAccess: .full
        case .writeOnly: .writeOnly
        @unknown default: .denied
        }
    }

    /// Asks the person.
    func requestEvents(_ access: CalendarAccess) async throws -> Bool {
        try await asked { handler in
            switch access {
            case .full: store.requestFullAccessToEvents(completion: handler)
            case .writeOnly: store.requestWriteOnlyAccessToEvents(completion: handler)
            }
        }
    }

    /// Asks the person.
    func requestReminders() async throws -> Bool {
        try await asked { store.requestFullAccessToReminders(completion: $0) }
    }

    private func asked(_ ask: (@escaping @Sendable (Bool, (any Error)?) -> Void) -> Void) async throws -> Bool {
        let isAllowed = try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<Bool, any Error>) in
            ask { isAllowed, error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: isAllowed) }
            }
        }
        // What was read without the permission stays empty until then.
        store.reset()
        return isAllowed
    }

    func list(_ identifier: String) -> SystemList? { store.calendar(withIdentifier: identifier).map { SystemList($0) } }

    func calendar(_ list: SystemList?) -> EKCalendar? {
        list.flatMap { store.calendar(withIdentifier: $0.identifier) }
    }
}

extension EventKitDatabase {
    func event(_ identifier: String) -> SystemEvent? {
        (store.calendarItem(withIdentifier: identifier) as? EKEvent).map { SystemEvent($0) }
    }

    func events(from: Date, until: Date) -> [SystemEvent] {
        let predicate = store.predicateForEvents(withStart: from, end: until, calendars: nil)
        return store.events(matching: predicate).map { SystemEvent($0) }
    }

    func standardEventList() -> SystemList? { store.defaultCalendarForNewEvents.map { SystemList($0) } }

    func save(_ event: SystemEvent) throws -> String {
        let known = event.identifier.isEmpty ? nil : store.calendarItem(withIdentifier: event.identifier) as? EKEvent
        let item = known ?? EKEvent(eventStore: store)
        let list = calendar(event.list) ?? (known == nil ? store.defaultCalendarForNewEvents : nil)
        item.take(
            title: event.title, address: event.address, rules: event.rules, alarms: event.alarms, calendar: list)
        item.isAllDay = event.isAllDay
        item.timeZone = event.timeZone.flatMap(TimeZone.init(identifier:))
        (item.startDate, item.endDate) = (event.start, event.end)
        if item.location != event.location { item.location = event.location }
        if item.notes != event.notes { item.notes = event.notes }
        do {
            try store.save(item, span: .futureEvents, commit: true)
        } catch {
            store.reset()
            throw SystemStoreError.eventKit(error)
        }
        return item.calendarItemIdentifier
    }

    func removeEvent(_ identifier: String) throws {
        guard let item = store.calendarItem(withIdentifier: identifier) as? EKEvent else { return }
        do {
            try store.remove(item, span: .futureEvents, commit: true)
        } catch {
            store.reset()
            throw SystemStoreError.eventKit(error)
        }
    }
}

extension SystemEvent {
    fileprivate init(_ event: EKEvent) {
        self.init(start: event.startDate, end: event.endDate)
        identifier = event.calendarItemIdentifier
        address = event.url
        list = event.calendar.map { SystemList($0) }
        title = event.title ?? ""
        isAllDay = event.isAllDay
        timeZone = event.isAllDay ? nil : event.timeZone?.identifier
        (location, notes) = (event.location, event.notes)
        (rules, alarms) = (event.systemRules, event.timedAlarms)
        isInvitation = event.organizer.map { !$0.isCurrentUser } ?? false
    }
}
#endif
