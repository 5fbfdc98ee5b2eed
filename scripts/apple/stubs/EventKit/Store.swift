import AppleFoundation
import Foundation

// developer.apple.com/documentation/eventkit/ekentitytype
public enum EKEntityType: UInt, Sendable { case event = 0, reminder = 1 }

// developer.apple.com/documentation/eventkit/ekauthorizationstatus
@available(iOS 6.0, macOS 10.9, *)
public enum EKAuthorizationStatus: Int, Sendable {
    case notDetermined = 0
    case restricted = 1
    case denied = 2
    @available(iOS 17.0, macOS 14.0, *)
    case fullAccess = 3
    @available(iOS 17.0, macOS 14.0, *)
    case writeOnly = 4
}

// developer.apple.com/documentation/eventkit/ekspan
public enum EKSpan: Int, Sendable { case thisEvent = 0, futureEvents = 1 }

// developer.apple.com/documentation/eventkit/ekeventstorerequestaccesscompletionhandler
public typealias EKEventStoreRequestAccessCompletionHandler = @Sendable (Bool, (any Error)?) -> Void

// developer.apple.com/documentation/eventkit/ekeventstore
@available(iOS 4.0, macOS 10.8, *)
open class EKEventStore: NSObject {
    // developer.apple.com/documentation/eventkit/ekeventstore/authorizationstatus(for:)
    open class func authorizationStatus(for entityType: EKEntityType) -> EKAuthorizationStatus {}
    public override init() {}
    // developer.apple.com/documentation/eventkit/ekeventstore/requestfullaccesstoevents(completion:)
    @available(iOS 17.0, macOS 14.0, *)
    open func requestFullAccessToEvents(completion: @escaping EKEventStoreRequestAccessCompletionHandler) {}
    // developer.apple.com/documentation/eventkit/ekeventstore/requestwriteonlyaccesstoevents(completion:)
    @available(iOS 17.0, macOS 14.0, *)
    open func requestWriteOnlyAccessToEvents(completion: @escaping EKEventStoreRequestAccessCompletionHandler) {}
    // developer.apple.com/documentation/eventkit/ekeventstore/requestfullaccesstoreminders(completion:)
    @available(iOS 17.0, macOS 14.0, *)
    open func requestFullAccessToReminders(completion: @escaping EKEventStoreRequestAccessCompletionHandler) {}
    open func calendarItem(withIdentifier identifier: String) -> EKCalendarItem? {}
    open func calendar(withIdentifier identifier: String) -> EKCalendar? {}
    open var defaultCalendarForNewEvents: EKCalendar? { get {} }
    open func defaultCalendarForNewReminders() -> EKCalendar? {}
    // developer.apple.com/documentation/eventkit/ekeventstore/predicateforevents(withstart:end:calendars:)
    open func predicateForEvents(withStart startDate: Date, end endDate: Date, calendars: [EKCalendar]?) -> NSPredicate {}
    open func events(matching predicate: NSPredicate) -> [EKEvent] {}
    open func save(_ event: EKEvent, span: EKSpan, commit: Bool) throws {}
    open func remove(_ event: EKEvent, span: EKSpan, commit: Bool) throws {}
    // developer.apple.com/documentation/eventkit/ekeventstore/predicateforreminders(in:)
    open func predicateForReminders(in calendars: [EKCalendar]?) -> NSPredicate {}
    // developer.apple.com/documentation/eventkit/ekeventstore/fetchreminders(matching:completion:)
    open func fetchReminders(
        matching predicate: NSPredicate, completion: @escaping @Sendable ([EKReminder]?) -> Void
    ) -> Any {}
    open func save(_ reminder: EKReminder, commit: Bool) throws {}
    open func remove(_ reminder: EKReminder, commit: Bool) throws {}
    open func reset() {}
}

extension Notification.Name {
    // developer.apple.com/documentation/foundation/nsnotification/name-swift.struct/ekeventstorechanged
    public static let EKEventStoreChanged: Notification.Name = Notification.Name("")
}

// developer.apple.com/documentation/eventkit/ekerrordomain
public let EKErrorDomain: String = ""

// developer.apple.com/documentation/eventkit/ekerror
public struct EKError: Error, Sendable {
    // developer.apple.com/documentation/eventkit/ekerror/code
    public enum Code: Int, Sendable {
        case noCalendar = 1
        case datesInverted = 4
        case calendarReadOnly = 6
        case durationGreaterThanRecurrence = 7
        case alarmGreaterThanRecurrence = 8
        case calendarIsImmutable = 16
        case calendarDoesNotAllowEvents = 22
        case calendarDoesNotAllowReminders = 23
        case eventStoreNotAuthorized = 29
    }
}
