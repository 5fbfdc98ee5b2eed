import Foundation
import HearthAssistant
import HearthBase

private let nameArgument = Argument("NAME", .word, "The habit's name, without regard to accents and case.")

private struct HabitEntry: Encodable {
    let id: String
    let name: String
    let frequency: String
    let isDone: Bool
    let currentStreak: Int
    let longestStreak: Int
    let days: Int
    var log: [String: Double]?

    init(_ habit: Habit, _ today: CalendarDay, withLog: Bool) {
        let streak = HabitStreak(of: habit, on: today)
        (id, name, frequency) = (habit.id, habit.name, habit.frequency.rawValue)
        (isDone, currentStreak, longestStreak) = (streak.isDone, streak.current, streak.longest)
        days = streak.days
        log = withLog ? Dictionary(uniqueKeysWithValues: habit.log.map { ($0.key.description, $0.value) }) : nil
    }
}

extension AssistantHome {
    fileprivate var today: CalendarDay { CalendarDay(of: time.now, in: .current) }

    fileprivate func habit(_ name: String) async throws -> Habit {
        if let habit = try await habits.habit(named: name) { return habit }
        throw AssistantError(
            .noSuchRecord, "no habit is named \(name.quotedForTerminal)",
            context: ErrorContext(remedy: "`hearth habits list` shows the habits."), disposition: .usage)
    }
}

extension HabitStreak {
    /// The streak in words, such as `5 days`.
    fileprivate func text(_ frequency: HabitFrequency) -> String {
        let unit = frequency == .daily ? "day" : "week"
        return "\(current) \(unit)\(current == 1 ? "" : "s")"
    }
}

/// `hearth habits list`
struct HabitsList: Command {
    static let declaration = CommandDeclaration(
        "habits", "list", summary: "List habits with their streaks",
        discussion: [
            "A streak counts days in a row, or weeks for a weekly habit. One that is not done yet today still counts.",
            "With --format json, an array of objects with id, name, frequency, isDone, currentStreak, longestStreak and days.",
        ],
        options: [Option.listing], examples: [.init("hearth habits list", "See what is done today.")])

    let format: ListingFormat

    init(_ values: ParsedArguments) throws { format = try values.value(.listing) ?? .table }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let (habits, today) = (try await home.habits.habits(), home.today)
            let entries = habits.map { HabitEntry($0, today, withLog: false) }
            try context.list(entries, format, empty: "There are no habits.") {
                var table = Table(
                    ("HABIT", .left), ("FREQUENCY", .left), ("DONE", .left), ("STREAK", .left), ("LONGEST", .right))
                for habit in habits {
                    let streak = HabitStreak(of: habit, on: today)
                    table.add(
                        habit.name, habit.frequency.rawValue, streak.isDone ? "yes" : "-", streak.text(habit.frequency),
                        String(streak.longest))
                }
                return table
            }
        }
    }
}

/// `hearth habits show`
struct HabitsShow: Command {
    static let declaration = CommandDeclaration(
        "habits", "show", summary: "Show a habit with its days", arguments: [nameArgument], options: [Option.listing],
        examples: [.init("hearth habits show running", "The last days, and how much.")])

    let name: String
    let format: ListingFormat

    init(_ values: ParsedArguments) throws {
        name = try values.value(nameArgument)
        format = try values.value(.listing) ?? .table
    }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let (habit, today) = (try await home.habit(name), home.today)
            let streak = HabitStreak(of: habit, on: today)
            let last = habit.log.sorted { $0.key > $1.key }.prefix(14)
            try context.show(
                HabitEntry(habit, today, withLog: true), format,
                [
                    ("habit", habit.name), ("frequency", habit.frequency.rawValue),
                    ("streak", streak.text(habit.frequency)), ("longest", String(streak.longest)),
                    ("days", String(streak.days)),
                    ("last days", last.map { "\($0.key): \($0.value.formatted())" }.joined(separator: ", ")),
                ])
        }
    }
}

/// `hearth habits add`
struct HabitsAdd: Command {
    private static let weekly = Flag("weekly", "Done once a week instead of each day.")

    static let declaration = CommandDeclaration(
        "habits", "add", summary: "Define a habit",
        discussion: ["A habit of the same name gets the new frequency and keeps its days."],
        arguments: [nameArgument], options: [weekly, Option.listing],
        examples: [.init("hearth habits add running --weekly", "A weekly habit.")])

    let name: String
    let frequency: HabitFrequency
    let format: ListingFormat

    init(_ values: ParsedArguments) throws {
        name = try values.value(nameArgument)
        frequency = values.has(Self.weekly) ? .weekly : .daily
        format = try values.value(.listing) ?? .table
    }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let card = ActionCard(commanded: "New habit", .habit, name)
            let change = try await home.habits.definition(
                name: name, frequency: frequency, id: card.id, at: home.time.now)
            try await home.carryOut(card, [change])
            try context.report(change.id, "The habit is defined", format)
        }
    }
}

/// `hearth habits log`
struct HabitsLog: Command {
    private static let date = Option("date", "DAY", .time, default: "today", "The day.")
    private static let amount = Option(
        "amount", "N", .number(0.001...1_000_000), default: "1", "How often or how much; amounts of a day add up.")

    static let declaration = CommandDeclaration(
        "habits", "log", summary: "Log that a habit is done", arguments: [nameArgument],
        options: [date, amount, Option.listing],
        examples: [.init("hearth habits log running --date 2026-11-24 --amount 5", "Five of something on that day.")])

    let name: String
    let date: CommandTime?
    let amount: Double
    let format: ListingFormat

    init(_ values: ParsedArguments) throws {
        name = try values.value(nameArgument)
        date = try values.value(Self.date)
        amount = Double(try values.value(Self.amount) ?? 1)
        format = try values.value(.listing) ?? .table
    }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let habit = try await home.habit(name)
            let moment = date?.date(now: home.time.now) ?? home.time.now
            let day = CalendarDay(of: moment, in: .current)
            let change = try await home.habits.logging(habit.name, on: day, amount: amount)
            try await home.carryOut(ActionCard(commanded: "Log a habit", .habit, "\(habit.name), \(day)"), [change])
            try context.report(habit.id, "\(habit.name.shownOnTerminal) is logged on \(day)", format)
        }
    }
}

/// `hearth habits remove`
struct HabitsRemove: Command {
    static let declaration = CommandDeclaration(
        "habits", "remove", summary: "Remove a habit with its days", arguments: [nameArgument],
        examples: [.init("hearth habits remove running", "Remove a habit.")])

    let name: String

    init(_ values: ParsedArguments) throws { name = try values.value(nameArgument) }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let habit = try await home.habit(name)
            try await home.carryOut(
                ActionCard(commanded: "Remove a habit", .habit, habit.name), [home.habits.removal(of: habit.id)])
            context.console.say("Removed \"\(habit.name.shownOnTerminal)\". `hearth undo` brings it back.")
        }
    }
}

/// `hearth habits export`
struct HabitsExport: Command {
    private static let format = Option(
        "format", "FORMAT", ValueKind<HabitFormat>.choice, default: "csv", "csv for spreadsheets, or json.")

    static let declaration = CommandDeclaration(
        "habits", "export", summary: "Write all habits as CSV or JSON", options: [Self.format, Option.exportFile],
        examples: [.init("hearth habits export --to habits.csv", "Open them in a spreadsheet.")])

    let format: HabitFormat
    let file: String?

    init(_ values: ParsedArguments) throws {
        format = try values.value(Self.format) ?? .csv
        file = try values.value(.exportFile)
    }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let habits = try await home.habits.habits()
            let data = format == .csv ? Data(HabitFiles.csv(habits).utf8) : HabitFiles.json(habits)
            try await context.export(data, to: file)
        }
    }
}

/// The format of exported habits.
enum HabitFormat: String, CaseIterable, Sendable { case csv, json }

/// `hearth habits import`
struct HabitsImport: Command {
    static let declaration = CommandDeclaration(
        "habits", "import", summary: "Read habits from CSV or JSON",
        discussion: ["The days of a habit that is known by name are added to it."], arguments: [Argument.importFile],
        examples: [.init("hearth habits import habits.csv", "Read an export again.")])

    let file: String

    init(_ values: ParsedArguments) throws { file = try values.value(Argument.importFile) }

    func run(in context: CommandContext) async throws {
        let data = try await context.importedFile(file)
        try await context.withAssistantHome { home in
            let isJSON = data.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "{")
            let habits =
                isJSON
                ? try HabitFiles.habits(json: data)
                : try HabitFiles.habits(csv: String(decoding: data, as: UTF8.self), created: home.time.now)
            let result = try await home.habits.add(habits)
            context.console.say("\(result.added) added, \(result.known) known already.")
        }
    }
}
