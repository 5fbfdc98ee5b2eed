import AppleFoundation
import Foundation

// developer.apple.com/documentation/eventkit/ekobject
open class EKObject: NSObject {
    init(stub: Void) {}
}

// developer.apple.com/documentation/eventkit/ekcalendartype
public enum EKCalendarType: Int, Sendable { case local = 0, calDAV = 1, exchange = 2, subscription = 3, birthday = 4 }

// developer.apple.com/documentation/eventkit/ekcalendar
open class EKCalendar: EKObject {
    open var calendarIdentifier: String { get {} }
    open var title: String { get {} set {} }
    open var type: EKCalendarType { get {} }
    open var allowsContentModifications: Bool { get {} }
    open var isSubscribed: Bool { get {} }
}

// developer.apple.com/documentation/eventkit/ekcalendaritem
open class EKCalendarItem: EKObject {
    open var calendar: EKCalendar! { get {} set {} }
    open var calendarItemIdentifier: String { get {} }
    open var title: String! { get {} set {} }
    open var location: String? { get {} set {} }
    open var notes: String? { get {} set {} }
    open var url: URL? { get {} set {} }
    open var timeZone: TimeZone? { get {} set {} }
    open var attendees: [EKParticipant]? { get {} }
    open var alarms: [EKAlarm]? { get {} set {} }
    open var recurrenceRules: [EKRecurrenceRule]? { get {} set {} }
}

// developer.apple.com/documentation/eventkit/ekevent
open class EKEvent: EKCalendarItem {
    // developer.apple.com/documentation/eventkit/ekevent/init(eventstore:)
    public init(eventStore: EKEventStore) {}
    open var isAllDay: Bool { get {} set {} }
    open var startDate: Date! { get {} set {} }
    open var endDate: Date! { get {} set {} }
    open var organizer: EKParticipant? { get {} }
}

// developer.apple.com/documentation/eventkit/ekreminder
open class EKReminder: EKCalendarItem {
    // developer.apple.com/documentation/eventkit/ekreminder/init(eventstore:)
    public init(eventStore: EKEventStore) {}
    open var startDateComponents: DateComponents? { get {} set {} }
    open var dueDateComponents: DateComponents? { get {} set {} }
    open var isCompleted: Bool { get {} set {} }
    open var completionDate: Date? { get {} set {} }
    open var priority: Int { get {} set {} }
}

// developer.apple.com/documentation/eventkit/ekparticipant
open class EKParticipant: EKObject {
    open var isCurrentUser: Bool { get {} }
}

// developer.apple.com/documentation/eventkit/ekalarm
open class EKAlarm: EKObject {
    public init(absoluteDate date: Date) {}
    public init(relativeOffset offset: TimeInterval) {}
    open var relativeOffset: TimeInterval { get {} set {} }
    open var absoluteDate: Date? { get {} set {} }
    open var structuredLocation: EKStructuredLocation? { get {} set {} }
}

// developer.apple.com/documentation/eventkit/ekstructuredlocation
open class EKStructuredLocation: EKObject {}
