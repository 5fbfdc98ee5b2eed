import Foundation
import HearthBase

/// Writes the text of new and changed reminders.
struct ReminderWriter {
    let clock: CalendarClock
    let now: Date

    private var text: CalendarText { CalendarText(clock: clock, now: now) }

    /// The file of a new reminder.
    /// - Throws: `unusable-payload`.
    func creation(of reminder: Reminder, id: String) throws -> Data {
        try CalendarText.check(id: id)
        let title = try CalendarText.title(reminder.title)
        let priority = try Self.priority(reminder.priority)
        var todo = ContentComponent("VTODO", text.heading(id: id))
        todo.setText("SUMMARY", title)
        let recurrence = reminder.recurrence?.nonEmpty
        let time = try reminder.due.map {
            try clock.time($0, keeping: nil, isRecurring: recurrence != nil, field: "due")
        }
        if let time { todo.set("DUE", text.line("DUE", time, like: nil)) }
        if let recurrence { try setRule(recurrence, of: &todo, due: time, ZoneDefinitions()) }
        todo.set("STATUS", ContentLine("STATUS", value: "NEEDS-ACTION"))
        if priority > 0 { todo.set("PRIORITY", ContentLine("PRIORITY", value: String(priority))) }
        if let alarmMinutes = reminder.alarmMinutes {
            guard time != nil else {
                throw AssistantError(
                    .unusablePayload, "an alarm needs a due time", context: ErrorContext(field: "due"))
            }
            try text.setAlarm(alarmMinutes, of: &todo, title: title, ofEnd: true)
        }
        return text.file(todo, clocks: time.map { [$0.clock] } ?? [], from: time?.wall ?? WallTime(seconds: 0))
    }

    /// Sets the rule, which needs a start: the due time, where the reminder has none of its own.
    private func setRule(
        _ recurrence: String, of todo: inout ContentComponent, due: CalendarTime?, _ zones: ZoneDefinitions
    ) throws {
        guard let start = CalendarItem(todo).start ?? due else {
            throw AssistantError(
                .unusablePayload, "a repetition needs a due time", context: ErrorContext(field: "due"))
        }
        let value = try text.rule(recurrence, start: start, zones)
        if todo.first("DTSTART") == nil {
            todo.set("DTSTART", text.line("DTSTART", start, like: nil, ending: todo.ending))
        }
        todo.set("RRULE", ContentLine("RRULE", value: value, ending: todo.ending))
    }

    private static func priority(_ priority: Int) throws -> Int {
        guard (0...9).contains(priority) else {
            throw AssistantError(
                .unusablePayload, "the priority is not from 0 to 9",
                context: ErrorContext(field: "priority", expected: "0 to 9", found: "\(priority)"))
        }
        return priority
    }

    /// The file with the values that differ, but for a completion.
    /// - Throws: `unusable-payload`.
    func change(of record: CalendarRecord, in data: Data, from present: Reminder, to new: Reminder) throws -> Data {
        let title = try new.title == present.title ? nil : CalendarText.title(new.title)
        let priority = try new.priority == present.priority ? nil : Self.priority(new.priority)
        let due = new.due == present.due ? nil : new.due
        let alarmMinutes = new.alarmMinutes == present.alarmMinutes ? nil : new.alarmMinutes
        let losesDue = new.due == nil && present.due != nil
        let rule = new.recurrence ?? ""
        let isRepeatedAnew = rule != present.recurrence ?? ""
        guard !losesDue || rule.isEmpty else {
            throw AssistantError(
                .unusablePayload, "a repetition needs a due time", context: ErrorContext(field: "due"))
        }
        return try changing(record, in: data) { todo, item in
            let old = todo
            if let title { todo.setText("SUMMARY", title) }
            if let due {
                let time = try clock.time(
                    due, keeping: (item.end ?? item.start)?.clock, record.zones,
                    isRecurring: item.isRecurring || !rule.isEmpty, field: "due")
                // A start that was the due time stays it.
                if let start = todo.first("DTSTART"), item.end == nil || item.start == item.end {
                    todo.set("DTSTART", text.line("DTSTART", time, like: start, ending: todo.ending))
                }
                todo.set("DUE", text.line("DUE", time, like: todo.first("DUE"), ending: todo.ending))
                todo.set("DURATION", nil)
            }
            if losesDue { for name in ["DUE", "DURATION"] { todo.set(name, nil) } }
            if isRepeatedAnew {
                for name in ["RRULE", "RDATE", "EXDATE", "EXRULE"] { todo.set(name, nil) }
                let end = CalendarItem(todo).end
                if !rule.isEmpty { try setRule(rule, of: &todo, due: end, record.zones) }
            }
            if let priority {
                let line = ContentLine("PRIORITY", value: String(priority), ending: todo.ending)
                todo.set("PRIORITY", priority > 0 ? line : nil)
            }
            if losesDue || new.alarmMinutes == nil && present.alarmMinutes != nil {
                todo.items.removeAll { $0.asComponent?.name == "VALARM" }
            }
            if let alarmMinutes {
                guard todo.first("DUE") != nil else {
                    throw AssistantError(
                        .unusablePayload, "an alarm needs a due time", context: ErrorContext(field: "due"))
                }
                try text.setAlarm(alarmMinutes, of: &todo, title: title ?? item.title, ofEnd: true)
            }
            if present.completed != nil, new.completed != present.completed {
                for name in ["COMPLETED", "PERCENT-COMPLETE"] { todo.set(name, nil) }
                todo.set("STATUS", ContentLine("STATUS", value: "NEEDS-ACTION", ending: todo.ending))
            }
            guard todo != old else { return }
            text.touch(&todo, isRescheduled: todo.first("DUE") != old.first("DUE") || isRepeatedAnew)
        }
    }

    /// The file with its reminder changed by `body`, and the zone of a new due time.
    private func changing(
        _ record: CalendarRecord, in data: Data, _ body: (inout ContentComponent, CalendarItem) throws -> Void
    ) throws -> Data {
        var items = try ContentParser().parse(data)
        for index in items.indices {
            guard var calendar = items[index].asComponent, calendar.name == "VCALENDAR",
                let place = calendar.items.firstIndex(where: {
                    $0.asComponent?.name == "VTODO" && $0.asComponent?.first("RECURRENCE-ID") == nil
                }), var todo = calendar.items[place].asComponent
            else { continue }
            let oldDue = todo.first("DUE")
            try body(&todo, CalendarItem(todo))
            calendar.items[place] = .component(todo)
            if let line = todo.first("DUE"), line != oldDue, let due = CalendarTime(line: line) {
                text.addZones([due.clock], to: &calendar, from: due.wall)
            }
            items[index] = .component(calendar)
            return items.data
        }
        throw AssistantError.noRecord(record.id)
    }

    /// The file with the reminder completed. A repeating one moves to its next time instead, if it has one.
    func completion(of record: CalendarRecord, in data: Data, at date: Date) throws -> Data {
        try changing(record, in: data) { todo, item in
            if item.isDone { return }
            if let next = next(of: record, item) {
                advance(&todo, item, to: next)
                text.touch(&todo, isRescheduled: true)
            } else {
                complete(&todo, at: date)
                text.touch(&todo, isRescheduled: false)
            }
        }
    }

    private func complete(_ todo: inout ContentComponent, at date: Date) {
        let moment = CalendarTime(WallTime(seconds: Int(date.timeIntervalSince1970.rounded(.down))), .utc)
        for (name, value) in [("STATUS", "COMPLETED"), ("COMPLETED", moment.value), ("PERCENT-COMPLETE", "100")] {
            todo.set(name, ContentLine(name, value: value, ending: todo.ending))
        }
    }

    /// The next occurrence of a repeating reminder.
    private func next(of record: CalendarRecord, _ item: CalendarItem) -> CalendarTime? {
        let series = CalendarSeries(record: record, clock: clock)
        guard item.isRecurring, !series.isUnexpanded, let base = item.start ?? item.end else { return nil }
        let excluded = Set(item.exceptions.map { clock.moment(of: $0, record.zones) })
        for years in [1, 5, 30] {
            let window = (base.wall + 1)...(base.wall + years * 366 * WallTime.daySeconds)
            let times = series.starts(of: item, base, in: window)
                .filter { !excluded.contains(clock.moment(of: $0, record.zones)) }
            if let next = times.min(by: { $0.wall < $1.wall }) { return next }
        }
        return nil
    }

    /// Moves start and due time by the same time on the clock, and counts a COUNT down.
    private func advance(_ todo: inout ContentComponent, _ item: CalendarItem, to next: CalendarTime) {
        guard let base = item.start ?? item.end else { return }
        let shift = next.wall.seconds - base.wall.seconds
        for name in ["DTSTART", "DUE"] {
            guard let line = todo.first(name), let old = CalendarTime(line: line) else { continue }
            let time = CalendarTime(old.wall + shift, old.clock)
            todo.set(name, text.line(name, time, like: line, ending: todo.ending))
        }
        guard let line = todo.first("RRULE"), let rule = RecurrenceRule(line.value), let count = rule.count else {
            return
        }
        let value = rule.text(until: nil, count: max(1, count - 1))
        todo.set("RRULE", ContentLine("RRULE", line.parameters, value: value, ending: todo.ending))
    }
}
