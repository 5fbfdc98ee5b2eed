import Foundation

/// A calendar or a list of reminders of the system.
struct SystemList: Sendable, Hashable {
    /// EventKit's `calendarIdentifier`.
    var identifier: String
    var title: String
    /// Whether it comes from an address that others write.
    var isSubscribed = false
    var isWritable = true
}

/// An alarm of EventKit that rings at a time.
enum SystemAlarm: Sendable, Hashable {
    /// The seconds after the start; negative before it.
    case relative(Int)
    case absolute(Date)
}

extension Date {
    /// The moment without its fraction of a second, which the system's databases do not keep.
    var wholeSecond: Date { Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.down)) }
}
