/// The tag of an action block, such as `NOTE_ACTION` in `[NOTE_ACTION:{…}]`; an open set, which apps may extend.
public struct ActionTag: RawRepresentable, Sendable, Hashable, Codable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    /// Upper-case letters, digits and underscores.
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public init(stringLiteral value: String) { rawValue = value }

    public static let webSearch: Self = "WEB_SEARCH"
    public static let calendar: Self = "CALENDAR_ACTION"
    public static let note: Self = "NOTE_ACTION"
    public static let contactsSearch: Self = "CONTACTS_SEARCH"
    public static let habit: Self = "HABIT_ACTION"
    public static let reminder: Self = "REMINDER_ACTION"

    /// The order in which the blocks of an answer are carried out; tags of apps follow.
    public static let order: [ActionTag] = [.webSearch, .calendar, .note, .contactsSearch, .habit, .reminder]

    /// The text that begins a block of this tag.
    public var opening: String { "[\(rawValue):" }

    public var description: String { rawValue }
}
