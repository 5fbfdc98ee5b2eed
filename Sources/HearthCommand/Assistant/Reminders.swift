import Foundation
import Hearth
import HearthAssistant
import HearthBase

/// `hearth reminders`
enum Reminders: RecordNoun {
    struct Choice: ParameterGroup {
        @Flag("all", "Show those that are done too.") var all
    }

    struct Values: RecordOptions {
        @Option("due", "TIME", .orNone(.time), "When it is due; a day alone is the whole day.")
        var due: Clearable<CommandTime>?
        @Option("alarm", "MINUTES", .orNone(.integer(0...40_320)), "Alarm so many minutes before.")
        var alarm: Clearable<Int>?
        @Option("priority", "N", .orNone(.integer(1...9)), "1 is highest, 9 lowest.") var priority: Clearable<Int>?

        func apply(to reminder: inout Reminder, isNew: Bool, in context: CommandContext) async throws {
            if let due {
                reminder.due = due.value?.time(now: context.time.now)
                // An alarm is before the due time.
                if reminder.due == nil { reminder.alarmMinutes = nil }
            }
            if let alarm { reminder.alarmMinutes = alarm.value }
            if let priority { reminder.priority = priority.value ?? 0 }
        }
    }

    static let name = "reminders"
    static let title = (name: "TITLE", meaning: "What to remember.")

    static let help = RecordHelp(
        list: "List open reminders, the soonest first",
        members: "id, list, title, due, allDay, timeZone, alarmMinutes, priority, completed and isInvitation",
        adding: """
            Stored as a file that todoman and other programs read. It rings while `hearth serve` runs; without it, use
            those programs, or `hearth reminders due` in a timer.
            """,
        file: "one iCalendar file", fileName: "tasks.ics",
        importing: """
            Reminders (VTODO) keep their lines as they are, in UTF-8; one with a known UID is replaced. What cannot be
            read is kept to the byte, and listed by `hearth reminders problems`.
            """,
        listExamples: "hearth reminders list  # What is still to do.",
        addExamples: """
            hearth reminders add "Call Anna" --due "tomorrow 9:00"  # Tomorrow at nine.
            """,
        editing: "--due none, --alarm none and --priority none take the value away.",
        change: "--priority 1")

    static func book(_ records: Records) -> RecordBook<Reminder> { records.reminders }
    static func setTitle(_ title: String, of reminder: inout Reminder) { reminder.title = title }

    static func chosen(_ choice: Choice, limit: Int, _ records: Records) async throws -> [Reminder] {
        try await records.reminders.store.reminders(completed: choice.all, limit: limit)
    }

    static func empty(_ choice: Choice) -> String { choice.all ? "There are no reminders." : "Nothing is open." }

    static func columns(id: @escaping (Reminder) -> String, now: Date) -> [Column<Reminder>] {
        [
            .left("ID", id), .left("DUE") { RecordText().text($0.due) },
            .left("STATE") { $0.completed != nil ? "done" : $0.isLate(at: now) ? "overdue" : "open" },
            .left("TITLE") { $0.title },
        ]
    }

    static func facts(_ reminder: Reminder, now: Date) -> [(String, String?)] {
        [
            ("title", reminder.title), ("due", reminder.due.map { RecordText().text($0) }),
            ("alarm", reminder.alarmMinutes.map { "\($0) minutes before" }),
            ("priority", reminder.priority > 0 ? String(reminder.priority) : nil),
            ("done", reminder.completed.map { RecordText().moment($0) }),
            ("assigned", reminder.isInvitation ? "by another person" : nil), ("list", reminder.collection),
            ("id", reminder.id),
        ]
    }
}

extension Reminder {
    /// The moment it is due; of a whole day its end in this device's zone.
    private var dueMoment: Date? {
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

/// `hearth reminders due`
struct RemindersDue: Command {
    @Option(
        "within", "MINUTES", .integer(1...527_040), default: "all", "Only those whose time came in the last MINUTES.")
    var within: Int?
    @Option(.listing) var format: ListingFormat

    static let declaration = CommandDeclaration(
        "reminders", "due", summary: "List reminders that are due, for a timer",
        """
        Prints the open reminders whose alarm or due time has come; nothing if there are none. Hearth runs no timer of
        its own: let cron or systemd call this each minute, as in the example. docs/assistant.md has the units; cards of
        new reminders say whether \(ReminderTimer.unit) is enabled.

        With --format json, objects as of hearth reminders list.

        hearth reminders due  # What is due now.
        hearth reminders due --within 1 | xargs -r -d '\\n' -n 1 notify-send
        # In a timer of one minute: show each of them once on the desktop.
        """)

    func run(in context: CommandContext) async throws {
        try await context.withRecords { records in
            let now = records.time.now
            let before = within.map { now.addingTimeInterval(-60 * Double($0)) }
            let due = try await records.reminders.find(limit: .max).filter { reminder in
                guard let moment = reminder.alarm, moment <= now else { return false }
                return before.map { moment > $0 } ?? true
            }
            switch format {
            case .json: try context.console.print(JSON.pretty(due))
            case .table:
                for reminder in due {
                    try context.console.print("\(RecordText().text(reminder.due))  \(reminder.title)")
                }
            }
        }
    }
}

/// `hearth reminders done`
struct RemindersDone: Command {
    @Argument(.recordID) var id: String
    @Option(.listing) var format: ListingFormat

    static let declaration = CommandDeclaration(
        "reminders", "done", summary: "Complete a reminder",
        """
        One that repeats moves to its next time.

        hearth reminders done 3f2a91c0  # It is done.
        """)

    func run(in context: CommandContext) async throws {
        try await context.withRecords { records in
            let (reminder, now) = (try await Reminders.find(id, records), records.time.now)
            let edit = try await records.reminders.change(reminder.id, as: "Complete a reminder") {
                if $0.completed == nil { $0.completed = now }
            }
            try context.report(edit, "Done: \(reminder.title.shownOnTerminal)", format)
        }
    }
}
