import Foundation
import Hearth
import HearthAssistant
import HearthBase

private let listing = "hearth reminders list"

/// A reminder for programs.
private struct ReminderEntry: Encodable {
    let id: String
    let list: String
    let title: String
    @OrNull var due: String?
    let allDay: Bool
    @OrNull var alarmMinutes: Int?
    let priority: Int
    @OrNull var completed: String?
    let isInvitation: Bool

    init(_ reminder: Reminder) {
        (id, list, title) = (reminder.id, reminder.collection, reminder.title)
        (allDay, priority, isInvitation) = (reminder.due?.isAllDay ?? false, reminder.priority, reminder.isInvitation)
        due = RecordText.json(reminder.due)
        alarmMinutes = reminder.alarmMinutes
        completed = reminder.completed.map(RecordText.json)
    }
}

extension AssistantHome {
    fileprivate func reminder(_ word: String) async throws -> Reminder {
        if let exact = try await reminders.reminder(word) { return exact }
        let all = try await reminders.reminders(completed: true, limit: 100_000)
        return try RecordText.only(word, among: all, id: \.id, kind: "reminder", listing: listing)
    }
}

extension CommandContext {
    fileprivate func list(_ reminders: [Reminder], _ format: ListingFormat, empty: String) throws {
        let ids = reminders.map(\.id)
        try list(reminders.map(ReminderEntry.init), format, empty: empty) {
            var table = Table(("ID", .left), ("DUE", .left), ("STATE", .left), ("TITLE", .left))
            for reminder in reminders {
                let isLate = reminder.isLate(at: time.now)
                table.add(
                    RecordText.short(reminder.id, among: ids), RecordText().text(reminder.due),
                    reminder.completed != nil ? "done" : isLate ? "overdue" : "open", reminder.title)
            }
            return table
        }
    }
}

extension Reminder {
    /// The moment it is due; of a whole day its end in this device's zone.
    fileprivate var dueMoment: Date? {
        guard let due else { return nil }
        guard due.isAllDay else { return due.date }
        return PayloadTime("\(CalendarDay(of: due.date, in: .gmt).advanced(by: 1))")?.date(in: .current)
    }

    fileprivate func isLate(at now: Date) -> Bool { completed == nil && (dueMoment.map { $0 <= now } ?? false) }

    /// The moment it rings: at its alarm, or when it is due; of a whole day at its beginning.
    fileprivate var alarm: Date? {
        guard completed == nil, let due else { return nil }
        let start = due.isAllDay ? PayloadTime("\(CalendarDay(of: due.date, in: .gmt))")?.date(in: .current) : due.date
        return (start ?? due.date).addingTimeInterval(-60 * Double(alarmMinutes ?? 0))
    }
}

/// `hearth reminders list`
struct RemindersList: Command {
    private static let all = Flag("all", "Show those that are done too.")

    static let declaration = CommandDeclaration(
        "reminders", "list", summary: "List open reminders, those due first first",
        discussion: [
            "With --format json, an array of objects with id, list, title, due, allDay, alarmMinutes, priority, completed and "
                + "isInvitation."
        ],
        options: [all, Option.limit, Option.listing],
        examples: [.init("hearth reminders list", "What is still to do.")])

    let all: Bool
    let limit: Int
    let format: ListingFormat

    init(_ values: ParsedArguments) throws {
        all = values.has(Self.all)
        limit = try values.value(.limit) ?? 100
        format = try values.value(.listing) ?? .table
    }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let found = try await home.reminders.reminders(completed: all, limit: limit)
            for file in try await home.reminders.unreadableFiles() {
                context.console.complain("not read: \(TerminalText.singleLine(file))")
            }
            try context.list(found, format, empty: all ? "There are no reminders." : "Nothing is open.")
        }
    }
}

/// `hearth reminders due`
struct RemindersDue: Command {
    private static let within = Option(
        "within", "MINUTES", .integer(1...527_040), default: "all", "Only those whose time came in the last MINUTES.")

    static let declaration = CommandDeclaration(
        "reminders", "due", summary: "List reminders that are due, for a timer",
        discussion: [
            "Prints the open reminders whose alarm or due time has come; nothing if there are none. Hearth runs no timer of its "
                + "own: let cron or systemd call this each minute, as in the example. docs/assistant.md has the units; cards of new "
                + "reminders say whether \(ReminderTimer.unit) is enabled.",
            "With --format json, objects as of hearth reminders list.",
        ],
        options: [within, Option.listing],
        examples: [
            .init("hearth reminders due", "What is due now."),
            .init(
                "hearth reminders due --within 1 | xargs -r -d '\\n' -n 1 notify-send",
                "In a timer of one minute: show each of them once on the desktop."),
        ])

    let within: Int?
    let format: ListingFormat

    init(_ values: ParsedArguments) throws {
        within = try values.value(Self.within)
        format = try values.value(.listing) ?? .table
    }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let now = home.time.now
            let before = within.map { now.addingTimeInterval(-60 * Double($0)) }
            let due = try await home.reminders.reminders(completed: false, limit: 100_000).filter { reminder in
                guard let moment = reminder.alarm, moment <= now else { return false }
                return before.map { moment > $0 } ?? true
            }
            switch format {
            case .json: try context.console.print(JSONText.pretty(due.map(ReminderEntry.init)))
            case .table:
                for reminder in due {
                    try context.console.print("\(RecordText().text(reminder.due))  \(reminder.title)")
                }
            }
        }
    }
}

/// `hearth reminders show`
struct RemindersShow: Command {
    static let declaration = CommandDeclaration(
        "reminders", "show", summary: "Show a reminder", arguments: [Argument.recordID], options: [Option.listing],
        examples: [.init("hearth reminders show 3f2a91c0", "All values of a reminder.")])

    let id: String
    let format: ListingFormat

    init(_ values: ParsedArguments) throws {
        id = try values.value(Argument.recordID)
        format = try values.value(.listing) ?? .table
    }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let reminder = try await home.reminder(id)
            try context.show(
                ReminderEntry(reminder), format,
                [
                    ("title", reminder.title), ("due", reminder.due.map { RecordText().text($0) }),
                    ("alarm", reminder.alarmMinutes.map { "\($0) minutes before" }),
                    ("priority", reminder.priority > 0 ? String(reminder.priority) : nil),
                    ("done", reminder.completed.map { RecordText().moment($0) }),
                    ("assigned", reminder.isInvitation ? "by another person" : nil), ("list", reminder.collection),
                    ("id", reminder.id),
                ])
        }
    }
}

/// `hearth reminders add`
struct RemindersAdd: Command {
    private static let title = Argument("TITLE", .word, "What to remember.")
    private static let due = Option("due", "TIME", .time, "When it is due; a day alone is the whole day.")
    private static let alarm = Option("alarm", "MINUTES", .integer(0...40_320), "Alarm so many minutes before.")
    private static let priority = Option("priority", "N", .integer(1...9), "1 is highest, 9 lowest.")

    static let declaration = CommandDeclaration(
        "reminders", "add", summary: "Add a reminder",
        discussion: [
            "It is a file that todoman and other programs read. Those, or `hearth reminders due` in a timer, ring."
        ],
        arguments: [title], options: [due, alarm, priority, Option.listing],
        examples: [.init("hearth reminders add \"Call Anna\" --due \"tomorrow 9:00\"", "Tomorrow at nine.")])

    let title: String
    let due: CommandTime?
    let alarm: Int?
    let priority: Int
    let format: ListingFormat

    init(_ values: ParsedArguments) throws {
        title = try values.value(Self.title)
        due = try values.value(Self.due)
        alarm = try values.value(Self.alarm)
        priority = try values.value(Self.priority) ?? 0
        format = try values.value(.listing) ?? .table
    }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let card = ActionCard(commanded: "New reminder", .reminder, title)
            let change = try await home.reminders.creation(
                title: title, due: due?.time(now: home.time.now), alarmMinutes: alarm, priority: priority, id: card.id)
            try await home.carryOut(card, [change])
            try context.report(card.id, "The reminder is in the list \(change.collection)", format)
        }
    }
}

/// `hearth reminders done`
struct RemindersDone: Command {
    static let declaration = CommandDeclaration(
        "reminders", "done", summary: "Complete a reminder",
        discussion: ["One that repeats moves to its next time."], arguments: [Argument.recordID],
        examples: [.init("hearth reminders done 3f2a91c0", "It is done.")])

    let id: String

    init(_ values: ParsedArguments) throws { id = try values.value(Argument.recordID) }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let reminder = try await home.reminder(id)
            try await home.carryOut(
                ActionCard(commanded: "Complete a reminder", .reminder, reminder.title),
                [home.reminders.completion(of: reminder.id, at: home.time.now)])
            context.console.say("Done: \(reminder.title.shownOnTerminal)")
        }
    }
}

/// `hearth reminders remove`
struct RemindersRemove: Command {
    static let declaration = CommandDeclaration(
        "reminders", "remove", summary: "Remove a reminder", arguments: [Argument.recordID],
        examples: [.init("hearth reminders remove 3f2a91c0", "Remove a reminder.")])

    let id: String

    init(_ values: ParsedArguments) throws { id = try values.value(Argument.recordID) }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let reminder = try await home.reminder(id)
            try await home.carryOut(
                ActionCard(commanded: "Remove a reminder", .reminder, reminder.title),
                [home.reminders.removal(of: reminder.id)])
            context.console.say("Removed \"\(reminder.title.shownOnTerminal)\". `hearth undo` brings it back.")
        }
    }
}

/// `hearth reminders export`
struct RemindersExport: Command {
    static let declaration = CommandDeclaration(
        "reminders", "export", summary: "Write all reminders as one iCalendar file", options: [Option.exportFile],
        examples: [.init("hearth reminders export --to tasks.ics", "Take the reminders elsewhere.")])

    let file: String?

    init(_ values: ParsedArguments) throws { file = try values.value(.exportFile) }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            try await context.export(home.reminders.exported(), to: file)
        }
    }
}

/// `hearth reminders import`
struct RemindersImport: Command {
    static let declaration = CommandDeclaration(
        "reminders", "import", summary: "Add the reminders of an iCalendar file",
        discussion: ["Reminders (VTODO) keep their lines as they are. One with a known UID is replaced."],
        arguments: [Argument.importFile], options: [Option.listing],
        examples: [.init("hearth reminders import tasks.ics", "Add the reminders of a file.")])

    let file: String
    let format: ListingFormat

    init(_ values: ParsedArguments) throws {
        file = try values.value(Argument.importFile)
        format = try values.value(.listing) ?? .table
    }

    func run(in context: CommandContext) async throws {
        let data = try await context.importedFile(file)
        try await context.withAssistantHome { home in
            let changes = try await home.reminders.importing(data)
            try await home.importRecords(changes, .reminder, "reminder", format, context)
        }
    }
}
