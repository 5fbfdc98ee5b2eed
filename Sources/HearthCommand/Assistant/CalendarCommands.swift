import Foundation
import HearthAssistant
import HearthBase

private let listing = "hearth calendar list"

/// An event, or one occurrence of it, for programs.
private struct EventEntry: Encodable {
    let id: String
    let calendar: String
    let title: String
    @OrNull var start: String?
    @OrNull var end: String?
    let allDay: Bool
    @OrNull var timeZone: String?
    @OrNull var location: String?
    @OrNull var notes: String?
    @OrNull var recurrence: String?
    @OrNull var alarmMinutes: Int?
    let isInvitation: Bool
    let repeatsUnexpanded: Bool

    init(_ event: CalendarEvent, start: EventTime? = nil, end: EventTime? = nil) {
        let fields = event.fields
        (id, calendar, title) = (event.id, event.collection, fields.title ?? "")
        allDay = fields.start?.isAllDay ?? false
        (isInvitation, repeatsUnexpanded) = (event.isInvitation, event.repeatsUnexpanded)
        self.start = RecordText.json(start ?? fields.start)
        self.end = RecordText.json(end ?? fields.end)
        (timeZone, location, notes) = (fields.start?.timeZone, fields.location, fields.notes)
        (recurrence, alarmMinutes) = (fields.recurrence, fields.alarmMinutes)
    }
}

extension AssistantHome {
    fileprivate func event(_ word: String) async throws -> CalendarEvent {
        if let exact = try await calendar.event(word) { return exact }
        let all = try await calendar.events(titled: "", near: time.now, limit: 100_000)
        return try RecordText.only(word, among: all, id: \.id, kind: "event", listing: listing)
    }

    /// Says which files of a folder are not read.
    fileprivate func complain(about unreadable: [String], _ console: Console) {
        for file in unreadable { console.complain("not read: \(TerminalText.singleLine(file))") }
    }
}

/// `hearth calendar list`
struct CalendarList: Command {
    private static let from = Option("from", "TIME", .time, default: "today", "The first day or time.")
    private static let until = Option("to", "TIME", .time, default: "two weeks later", "The last day or time.")

    static let declaration = CommandDeclaration(
        "calendar", "list", summary: "List events by time",
        discussion: [
            "Each occurrence of a series is a row. An event whose recurrence Hearth does not expand is listed once and says so.",
            "With --format json, an array of objects with id, calendar, title, start, end, allDay, timeZone, location, notes, "
                + "recurrence, alarmMinutes, isInvitation and repeatsUnexpanded.",
        ],
        options: [from, until, Option.limit, Option.listing],
        examples: [
            .init("hearth calendar list", "The next two weeks."),
            .init("hearth calendar list --from 2026-12-01 --to 2026-12-31", "A month."),
        ])

    let from: CommandTime?
    let until: CommandTime?
    let limit: Int
    let format: ListingFormat

    init(_ values: ParsedArguments) throws {
        from = try values.value(Self.from)
        until = try values.value(Self.until)
        limit = try values.value(.limit) ?? 100
        format = try values.value(.listing) ?? .table
    }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let now = home.time.now
            let start = from?.date(now: now) ?? Calendar.current.startOfDay(for: now)
            var end = until?.date(now: now) ?? start.addingTimeInterval(14 * 86_400)
            // A day alone is part of the list.
            if until?.time(now: now)?.isAllDay == true { end += 86_400 }
            let found = try await home.calendar.occurrences(from: start, until: end, limit: limit)
            let ids = found.map(\.event.id)
            home.complain(about: try await home.calendar.unreadableFiles(), context.console)
            let entries = found.map { EventEntry($0.event, start: $0.start, end: $0.end) }
            try context.list(entries, format, empty: "There are no events.") {
                var table = Table(("ID", .left), ("START", .left), ("END", .left), ("TITLE", .left), ("PLACE", .left))
                let text = RecordText()
                for item in found {
                    var last = item.end
                    // The end of whole days is the day after the last.
                    if last.isAllDay { last.date -= 86_400 }
                    let mark = item.event.repeatsUnexpanded ? " (repeats, not expanded)" : ""
                    table.add(
                        RecordText.short(item.event.id, among: ids), text.text(item.start), text.text(last),
                        (item.event.fields.title ?? "") + mark, item.event.fields.location ?? "")
                }
                return table
            }
        }
    }
}

/// `hearth calendar show`
struct CalendarShow: Command {
    static let declaration = CommandDeclaration(
        "calendar", "show", summary: "Show an event", arguments: [Argument.recordID], options: [Option.listing],
        examples: [.init("hearth calendar show 3f2a91c0", "All values of an event.")])

    let id: String
    let format: ListingFormat

    init(_ values: ParsedArguments) throws {
        id = try values.value(Argument.recordID)
        format = try values.value(.listing) ?? .table
    }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let event = try await home.event(id)
            let (fields, text) = (event.fields, RecordText())
            var last = fields.end
            if last?.isAllDay == true { last?.date -= 86_400 }
            try context.show(
                EventEntry(event), format,
                [
                    ("title", fields.title), ("start", text.text(fields.start)), ("end", text.text(last)),
                    ("time zone", fields.start?.timeZone), ("place", fields.location),
                    ("repeats", fields.recurrence.map { event.repeatsUnexpanded ? "\($0) (not expanded)" : $0 }),
                    ("alarm", fields.alarmMinutes.map { "\($0) minutes before" }), ("notes", fields.notes),
                    ("invitation", event.isInvitation ? "yes" : nil), ("calendar", event.collection), ("id", event.id),
                ])
        }
    }
}

/// `hearth calendar add`
struct CalendarAdd: Command {
    private static let title = Argument("TITLE", .word, "The title.")
    private static let start = Option("start", "TIME", .time, "When it begins; a day alone is a whole day. Required.")
    private static let end = Option(
        "end", "TIME", .time, default: "an hour later", "When it ends; of whole days the last one.")
    private static let place = Option("location", "TEXT", .word, "Where it is.")
    private static let notes = Option("notes", "TEXT", .word, "Further text.")
    private static let recurrence = Option(
        "repeat", "RULE", .word, "An RRULE of iCalendar, such as FREQ=WEEKLY;COUNT=10.")
    private static let alarm = Option("alarm", "MINUTES", .integer(0...40_320), "Alarm so many minutes before.")

    static let declaration = CommandDeclaration(
        "calendar", "add", summary: "Add an event",
        discussion: ["Times are of this device's time zone, unless they say another offset."], arguments: [title],
        options: [start, end, place, notes, recurrence, alarm, Option.listing],
        examples: [
            .init("hearth calendar add Dentist --start 2026-11-25T09:00", "An hour in the morning."),
            .init("hearth calendar add Holidays --start 2026-12-21 --end 2026-12-31", "Whole days."),
        ])

    let title: String
    let start: CommandTime
    let end: CommandTime?
    let fields: EventFields
    let format: ListingFormat

    init(_ values: ParsedArguments) throws {
        title = try values.value(Self.title)
        guard let start = try values.value(Self.start) else {
            throw UsageError("hearth calendar add needs --start", hint: Self.declaration.hint())
        }
        self.start = start
        end = try values.value(Self.end)
        fields = EventFields(
            title: title, location: try values.value(Self.place), notes: try values.value(Self.notes),
            recurrence: try values.value(Self.recurrence), alarmMinutes: try values.value(Self.alarm))
        format = try values.value(.listing) ?? .table
    }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            var fields = fields
            fields.start = start.time(now: home.time.now)
            fields.end = end?.time(now: home.time.now)
            guard fields.end.map({ $0.isAllDay == fields.start?.isAllDay }) ?? true else {
                throw UsageError("--start and --end are not both days, or both times", hint: Self.declaration.hint())
            }
            if fields.end?.isAllDay == true { fields.end?.date += 86_400 }
            let card = ActionCard(
                commanded: "New event", .calendar, "\(title), \(RecordText().text(fields.start))")
            let change = try await home.calendar.creation(of: fields, id: card.id)
            try await home.carryOut(card, [change])
            try context.report(card.id, "The event is in the calendar \(change.collection)", format)
        }
    }
}

/// `hearth calendar remove`
struct CalendarRemove: Command {
    static let declaration = CommandDeclaration(
        "calendar", "remove", summary: "Remove an event with all of its occurrences", arguments: [Argument.recordID],
        examples: [.init("hearth calendar remove 3f2a91c0", "Remove an event.")])

    let id: String

    init(_ values: ParsedArguments) throws { id = try values.value(Argument.recordID) }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            let event = try await home.event(id)
            let title = event.fields.title ?? ""
            try await home.carryOut(
                ActionCard(commanded: "Remove an event", .calendar, title), [home.calendar.removal(of: event.id)])
            context.console.say("Removed \"\(title.shownOnTerminal)\". `hearth undo` brings it back.")
        }
    }
}

/// `hearth calendar export`
struct CalendarExport: Command {
    static let declaration = CommandDeclaration(
        "calendar", "export", summary: "Write all events as one iCalendar file", options: [Option.exportFile],
        examples: [.init("hearth calendar export --to events.ics", "Take the events elsewhere.")])

    let file: String?

    init(_ values: ParsedArguments) throws { file = try values.value(.exportFile) }

    func run(in context: CommandContext) async throws {
        try await context.withAssistantHome { home in
            home.complain(about: try await home.calendar.unreadableFiles(), context.console)
            try await context.export(home.calendar.exported(), to: file)
        }
    }
}

/// `hearth calendar import`
struct CalendarImportCommand: Command {
    static let declaration = CommandDeclaration(
        "calendar", "import", summary: "Add the events of an iCalendar file",
        discussion: ["Events keep their lines as they are. One with a known UID is replaced."],
        arguments: [Argument.importFile], options: [Option.listing],
        examples: [.init("hearth calendar import events.ics", "Add the events of a file.")])

    let file: String
    let format: ListingFormat

    init(_ values: ParsedArguments) throws {
        file = try values.value(Argument.importFile)
        format = try values.value(.listing) ?? .table
    }

    func run(in context: CommandContext) async throws {
        let data = try await context.importedFile(file)
        try await context.withAssistantHome { home in
            let changes = try await home.calendar.importing(data)
            try await home.importRecords(changes, .calendar, "event", format, context)
        }
    }
}

extension AssistantHome {
    /// Carries out the changes of an import, and says how many records it adds and replaces.
    func importRecords(
        _ changes: [RecordChange], _ tag: ActionTag, _ kind: String, _ format: ListingFormat, _ context: CommandContext
    ) async throws {
        let added = changes.count { $0.before == nil }
        let replaced = changes.count { $0.before != nil && $0.before != $0.after }
        let effective = changes.filter { $0.before != $0.after }
        try await carryOut(
            ActionCard(commanded: "Import \(kind)s", tag, "\(effective.count) \(kind)s"), effective)
        switch format {
        case .json: try context.console.print(JSONText.line(["added": added, "replaced": replaced]))
        case .table:
            let same = changes.count - added - replaced
            context.console.say("\(added) added, \(replaced) replaced, \(same) known already.")
        }
    }
}
