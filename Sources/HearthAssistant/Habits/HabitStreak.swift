/// The streaks of a habit: how many days, or weeks, in a row it was done.
///
/// A streak counts days of the calendar, or weeks from Monday to Sunday (ISO 8601) whatever the locale, so that neither
/// travel nor summer time breaks one. A habit that is not done yet today, or this week, still has its streak.
package struct HabitStreak: Sendable, Hashable, Codable {
    /// The days or weeks in a row up to now.
    package var current: Int
    /// The longest streak of all.
    package var longest: Int
    /// The days on which the habit was done.
    package var days: Int
    /// Whether it is done today, or this week.
    package var isDone: Bool

    private enum CodingKeys: String, CodingKey {
        case days, isDone
        case current = "currentStreak"
        case longest = "longestStreak"
    }

    /// Computes the streaks up to a day; later days in the log do not count.
    package init(of habit: Habit, on today: CalendarDay) {
        let days = habit.log.filter { $0.value > 0 && $0.key <= today }.keys
        let period: (CalendarDay) -> Int = habit.frequency == .daily ? { $0.number } : { $0.week }
        let done = Set(days.map(period))
        let now = period(today)
        isDone = done.contains(now)
        self.days = days.count
        var length = 0
        var longest = 0
        var last: Int?
        for number in done.sorted() {
            length = last == number - 1 ? length + 1 : 1
            longest = max(longest, length)
            last = number
        }
        self.longest = longest
        current = last == now || last == now - 1 ? length : 0
    }
}

/// A habit with its streaks, as listings show it.
package struct ShownHabit: Codable, Sendable, Hashable {
    package let habit: Habit
    package let streak: HabitStreak

    package init(_ habit: Habit, on today: CalendarDay) {
        self.habit = habit
        streak = HabitStreak(of: habit, on: today)
    }

    package init(from decoder: any Decoder) throws {
        habit = try Habit(from: decoder)
        streak = try HabitStreak(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws {
        try habit.encode(to: encoder)
        try streak.encode(to: encoder)
    }
}
