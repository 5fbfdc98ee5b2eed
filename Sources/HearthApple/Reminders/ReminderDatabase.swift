/// The reminders of the system.
///
/// Errors are ``SystemStoreError``, or `AssistantError` for values that a list refuses.
protocol ReminderDatabase: Sendable {
    /// A reminder by its `calendarItemIdentifier`.
    func reminder(_ identifier: String) async throws -> SystemReminder?

    /// All reminders, in any order.
    func reminders() async throws -> [SystemReminder]

    /// The list with an identifier.
    func list(_ identifier: String) async throws -> SystemList?

    /// The list of new reminders.
    func standardList() async throws -> SystemList?

    /// Saves a new or changed reminder.
    /// - Returns: its identifier.
    func save(_ reminder: SystemReminder) async throws -> String

    func remove(_ identifier: String) async throws
}
