import Foundation
import HearthAssistant
import HearthBase

/// `hearth habits`
enum Habits: RecordNoun {
    struct Values: RecordOptions {
        @Flag("weekly", "Done once a week instead of each day.") var isWeekly
        @Flag("daily", "Done each day, as without --weekly.") var isDaily

        func validate() throws {
            guard !isWeekly || !isDaily else { throw UsageError("--weekly excludes --daily") }
        }

        func apply(to habit: inout Habit, isNew: Bool, in context: CommandContext) async throws {
            if isWeekly { habit.frequency = .weekly }
            if isDaily { habit.frequency = .daily }
        }
    }

    struct Form: ParameterGroup {
        enum Format: String, CaseIterable, Sendable { case csv, json }

        @Option(wrappedValue: .csv, "format", "FORMAT", .choice, "csv for spreadsheets, or json.") var format: Format
    }

    static let name = "habits"
    static let id = Argument("NAME", .word, "The habit's name, without regard to accents and case.")
    static let title = (name: "NAME", meaning: "The habit's name, without regard to accents and case.")

    static let help = RecordHelp(
        list: "List habits with their streaks",
        listing: """
            A streak counts days in a row, or weeks for a weekly habit. One that is not done yet today still counts.
            """,
        members: "id, name, frequency, created, log, isDone, currentStreak, longestStreak and days",
        verb: "Define",
        adding: "A habit of the same name gets the new frequency and keeps its days.",
        file: "CSV or JSON", fileName: "habits.csv",
        importing: "The days of a habit that is known by name are added to it.",
        listExamples: "hearth habits list  # See what is done today.",
        addExamples: "hearth habits add running --weekly  # A weekly habit.",
        editing: "--daily and --weekly change how often.",
        example: "running",
        change: "--name jogging")

    static func book(_ records: Records) -> RecordBook<Habit> { records.habits }
    static func setTitle(_ title: String, of habit: inout Habit) { habit.name = title }

    static func find(_ word: String, _ records: Records) async throws -> Habit {
        if let habit = try await records.habits.store.habit(named: word) { return habit }
        return try RecordText.only(
            word, among: try await records.habits.find(limit: .max), id: \.id, title: { $0.name }, kind: noun,
            listing: "hearth habits list"
        )
    }

    static func chosen(_ choice: NoParameters, limit: Int, _ records: Records) async throws -> [Habit] {
        try await records.habits.find(limit: limit)
    }

    static func listed(_ habit: Habit, now: Date) -> ShownHabit {
        ShownHabit(habit, on: CalendarDay(of: now, in: .current))
    }

    static func columns(id: @escaping (Habit) -> String, now: Date) -> [Column<Habit>] {
        [
            .left("HABIT") { $0.name }, .left("FREQUENCY") { $0.frequency.rawValue },
            .left("DONE") { listed($0, now: now).streak.isDone ? "yes" : "-" },
            .left("STREAK") { text(listed($0, now: now).streak, of: $0) },
            .right("LONGEST") { String(listed($0, now: now).streak.longest) },
        ]
    }

    /// The streak in words, such as `5 days`.
    private static func text(_ streak: HabitStreak, of habit: Habit) -> String {
        "\(streak.current) \(habit.frequency == .daily ? "day" : "week")\(streak.current == 1 ? "" : "s")"
    }

    static func facts(_ habit: Habit, now: Date) -> [(String, String?)] {
        let streak = listed(habit, now: now).streak
        let last = habit.log.sorted { $0.key > $1.key }.prefix(14)
        return [
            ("habit", habit.name), ("frequency", habit.frequency.rawValue), ("streak", text(streak, of: habit)),
            ("longest", String(streak.longest)), ("days", String(streak.days)),
            ("last days", last.map { "\($0.key): \($0.value.formatted())" }.joined(separator: ", ")),
        ]
    }

    static func exported(_ form: Form, _ records: Records) async throws -> Data {
        form.format == .json
            ? try await records.habits.export() : Data(HabitFiles.csv(try await records.habits.find(limit: .max)).utf8)
    }
}

/// `hearth habits log`
struct HabitsLog: Command {
    @Argument(Habits.id) var name: String
    @Option("date", "DAY", .time, default: "today", "The day.") var date: CommandTime?
    @Option(
        wrappedValue: 1, "amount", "N", .number(0.001...1_000_000), default: "1",
        "How often or how much; amounts of a day add up.")
    var amount: Float
    @Option(.listing) var format: ListingFormat

    static let declaration = CommandDeclaration(
        "habits", "log", summary: "Log that a habit is done",
        """
        hearth habits log running --date 2026-11-24 --amount 5  # Five of something on that day.
        """)

    func run(in context: CommandContext) async throws {
        try await context.withRecords { records in
            let habit = try await Habits.find(name, records)
            let now = records.time.now
            let (day, amount) = (CalendarDay(of: date?.date(now: now) ?? now, in: .current), Double(amount))
            let edit = try await records.habits.change(habit.id, as: "Log a habit") { try $0.add(amount, on: day) }
            try context.report(edit, "\(habit.name.shownOnTerminal) is logged on \(day)", format)
        }
    }
}
