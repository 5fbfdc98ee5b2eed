/// A day as words name it.
enum SaidDay: Sendable, Hashable {
    /// Days after today.
    case relative(Int)
    /// A day of the week, 0 for Monday.
    case weekday(Int, Week)
    /// A date, of the next fitting year without one. A weekday beside it has to agree.
    case date(year: Int?, month: Int, day: Int, weekday: Int?)
    /// A day of the next fitting month.
    case dayOfMonth(Int, weekday: Int?)
    /// A number of weeks, months or years from today.
    case offset(Int, TimeUnit)
    /// The first day of a month, or its last: the end of a repetition only.
    case month(Int, year: Int?, isEnd: Bool)

    enum Week: Sendable, Hashable {
        /// The first after today, or today at a later hour.
        case coming
        /// The day in the week after this one.
        case next
    }
}

/// A time of day as words name it.
struct SaidClock: Sendable, Hashable {
    enum Half: Sendable, Hashable { case morning, afternoon }

    /// 0 to 24.
    var hour: Int
    var minute = 0
    /// `am` or `pm`.
    var half: Half?
    /// Whether it can be an hour of the afternoon: `at 3`, but not `03:00` or `3 am`.
    var isOpen = false
    /// The part of the day said with it.
    var part: DayPart?
}

/// A part of the day.
enum DayPart: Sendable, Hashable {
    case morning, forenoon, noon, afternoon, evening, night
    /// The night that begins on the day.
    case thisNight

    /// The hour that stands for the part: rules in docs/assistant.md.
    var hour: Int? {
        switch self {
        case .morning: 9
        case .forenoon: 10
        case .noon: 12
        case .afternoon: 15
        case .evening: 19
        case .night, .thisNight: nil
        }
    }
}

/// A length of time: minutes, or whole days.
enum SaidLength: Sendable, Hashable {
    case minutes(Int)
    case days(Int)
}

/// A repetition as words name it.
struct SaidRule: Sendable, Hashable {
    /// `DAILY`, `WEEKLY`, `MONTHLY` or `YEARLY`.
    var frequency: String
    var interval = 1
    /// The days of the week, 0 for Monday, in order.
    var days: [Int] = []
    /// The place of the day in its month: 1 is the first, -1 the last, 0 each.
    var ordinal = 0
}

/// What the words of a text say about time. Each member is said at most once; a text that says one twice is ambiguous.
struct Said: Sendable, Hashable {
    var day: SaidDay?
    var clock: SaidClock?
    var part: DayPart?
    /// Minutes from now.
    var minutes: Int?
    var lastDay: SaidDay?
    var endClock: SaidClock?
    var length: SaidLength?
    var rule: SaidRule?
    var until: SaidDay?
    var untilClock: SaidClock?
    var count: Int?
    /// Whether the words can also be a name: `Friday`, `May 3`, `twelve o'clock`.
    var isName = false

    /// Whether the words name a moment or a repetition, without which the others mean nothing.
    var hasTime: Bool { day != nil || clock != nil || part != nil || minutes != nil || rule != nil }

    /// Adds what other words say.
    /// - Returns: whether they agree: false if both say the same member.
    mutating func add(_ other: Said) -> Bool {
        func joined<Value>(_ path: WritableKeyPath<Said, Value?>) -> Bool {
            guard let value = other[keyPath: path] else { return true }
            guard self[keyPath: path] == nil else { return false }
            self[keyPath: path] = value
            return true
        }
        let fits =
            joined(\.day) && joined(\.clock) && joined(\.part) && joined(\.minutes) && joined(\.lastDay)
            && joined(\.endClock) && joined(\.length) && joined(\.rule) && joined(\.until) && joined(\.untilClock)
            && joined(\.count)
        isName = isName || other.isName
        return fits
    }
}
