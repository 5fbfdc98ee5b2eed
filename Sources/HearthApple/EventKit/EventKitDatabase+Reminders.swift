#if canImport(EventKit)
import EventKit
import Foundation

extension EventKitDatabase {
    func reminder(_ identifier: String) -> SystemReminder? {
        (store.calendarItem(withIdentifier: identifier) as? EKReminder).map { SystemReminder($0) }
    }

    func reminders() async throws -> [SystemReminder] {
        let predicate = store.predicateForReminders(in: nil)
        let found: [SystemReminder]? = await withCheckedContinuation { continuation in
            _ = store.fetchReminders(matching: predicate) { reminders in
                continuation.resume(returning: reminders.map { $0.map { SystemReminder($0) } })
            }
        }
        guard let found else { throw SystemStoreError.failed(0) }
        return found
    }

    func standardReminderList() -> SystemList? { store.defaultCalendarForNewReminders().map { SystemList($0) } }

    func save(_ reminder: SystemReminder) throws -> String {
        let known =
            reminder.identifier.isEmpty
            ? nil : store.calendarItem(withIdentifier: reminder.identifier) as? EKReminder
        let item = known ?? EKReminder(eventStore: store)
        let list = calendar(reminder.list) ?? (known == nil ? store.defaultCalendarForNewReminders() : nil)
        if item.dueDateComponents != reminder.due {
            item.dueDateComponents = reminder.due
            // EventKit wants a start with a due time, repeats from it and measures alarms from it.
            item.startDateComponents = reminder.due
        }
        item.take(
            title: reminder.title, address: reminder.address, rules: reminder.rules, alarms: reminder.alarms,
            calendar: list)
        item.priority = reminder.priority
        if item.isCompleted != reminder.isCompleted || item.completionDate != reminder.completed {
            item.isCompleted = reminder.isCompleted
            if let completed = reminder.completed { item.completionDate = completed }
        }
        do {
            try store.save(item, commit: true)
        } catch {
            store.reset()
            throw SystemStoreError.eventKit(error)
        }
        return item.calendarItemIdentifier
    }

    func removeReminder(_ identifier: String) throws {
        guard let item = store.calendarItem(withIdentifier: identifier) as? EKReminder else { return }
        do {
            try store.remove(item, commit: true)
        } catch {
            store.reset()
            throw SystemStoreError.eventKit(error)
        }
    }
}

extension SystemReminder {
    fileprivate init(_ reminder: EKReminder) {
        self.init(identifier: reminder.calendarItemIdentifier, address: reminder.url)
        list = reminder.calendar.map { SystemList($0) }
        title = reminder.title ?? ""
        due = reminder.dueDateComponents
        (rules, alarms) = (reminder.systemRules, reminder.timedAlarms)
        priority = reminder.priority
        (isCompleted, completed) = (reminder.isCompleted, reminder.completionDate)
        isInvitation = (reminder.attendees ?? []).contains { !$0.isCurrentUser }
    }
}
#endif
