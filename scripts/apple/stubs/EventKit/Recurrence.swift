import AppleFoundation
import Foundation

// developer.apple.com/documentation/eventkit/ekrecurrencefrequency
public enum EKRecurrenceFrequency: Int, Sendable { case daily = 0, weekly = 1, monthly = 2, yearly = 3 }

// developer.apple.com/documentation/eventkit/ekweekday
public enum EKWeekday: Int, Sendable {
    case sunday = 1, monday = 2, tuesday = 3, wednesday = 4, thursday = 5, friday = 6, saturday = 7
}

// developer.apple.com/documentation/eventkit/ekrecurrencedayofweek
open class EKRecurrenceDayOfWeek: NSObject {
    // developer.apple.com/documentation/eventkit/ekrecurrencedayofweek/init(_:weeknumber:)
    public convenience init(_ dayOfTheWeek: EKWeekday, weekNumber: Int) {}
    init(stub: Void) {}
    open var dayOfTheWeek: EKWeekday { get {} }
    open var weekNumber: Int { get {} }
}

// developer.apple.com/documentation/eventkit/ekrecurrenceend
open class EKRecurrenceEnd: NSObject {
    // developer.apple.com/documentation/eventkit/ekrecurrenceend/init(end:)
    public convenience init(end endDate: Date) {}
    // developer.apple.com/documentation/eventkit/ekrecurrenceend/init(occurrencecount:)
    public convenience init(occurrenceCount: Int) {}
    init(stub: Void) {}
    open var endDate: Date? { get {} }
    open var occurrenceCount: Int { get {} }
}

// developer.apple.com/documentation/eventkit/ekrecurrencerule
open class EKRecurrenceRule: EKObject {
    // developer.apple.com/documentation/eventkit/ekrecurrencerule/init(recurrencewith:interval:daysoftheweek:daysofthemonth:monthsoftheyear:weeksoftheyear:daysoftheyear:setpositions:end:)
    public init(
        recurrenceWith type: EKRecurrenceFrequency, interval: Int, daysOfTheWeek days: [EKRecurrenceDayOfWeek]?,
        daysOfTheMonth monthDays: [NSNumber]?, monthsOfTheYear months: [NSNumber]?, weeksOfTheYear: [NSNumber]?,
        daysOfTheYear: [NSNumber]?, setPositions: [NSNumber]?, end: EKRecurrenceEnd?
    ) {}
    open var recurrenceEnd: EKRecurrenceEnd? { get {} }
    open var frequency: EKRecurrenceFrequency { get {} }
    open var interval: Int { get {} }
    open var daysOfTheWeek: [EKRecurrenceDayOfWeek]? { get {} }
    open var daysOfTheMonth: [NSNumber]? { get {} }
    open var daysOfTheYear: [NSNumber]? { get {} }
    open var weeksOfTheYear: [NSNumber]? { get {} }
    open var monthsOfTheYear: [NSNumber]? { get {} }
    open var setPositions: [NSNumber]? { get {} }
}
