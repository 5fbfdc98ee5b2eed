/// The access to calendars that an app asks the person for.
public enum CalendarAccess: Sendable, Hashable {
    /// To read, add, change and remove events: `NSCalendarsFullAccessUsageDescription`.
    case full
    /// To add events: `NSCalendarsWriteOnlyAccessUsageDescription`.
    case writeOnly
}
