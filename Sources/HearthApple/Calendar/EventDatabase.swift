import Foundation

/// The calendars of the system.
///
/// Errors are ``SystemStoreError``, or `AssistantError` for values that a calendar refuses.
protocol EventDatabase: Sendable {
    /// A number that changes when any program changes the calendars.
    var generation: Int { get }

    /// The first occurrence of an event by its `calendarItemIdentifier`.
    func event(_ identifier: String) async throws -> SystemEvent?

    /// The occurrences that overlap a period of at most four years, in any order.
    func events(from: Date, until: Date) async throws -> [SystemEvent]

    /// The calendar with an identifier.
    func list(_ identifier: String) async throws -> SystemList?

    /// The calendar of new events; `nil` if the app may not read calendars.
    func standardList() async throws -> SystemList?

    /// Saves a new event, or all occurrences of a known one.
    /// - Returns: its identifier.
    func save(_ event: SystemEvent) async throws -> String

    /// Removes all occurrences of an event.
    func remove(_ identifier: String) async throws
}
