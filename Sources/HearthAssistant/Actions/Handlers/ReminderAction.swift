import Foundation

/// The block `REMINDER_ACTION`: creates, completes and lists reminders.
package struct ReminderAction: AssistantAction {
    package let tag = ActionTag.reminder
    package let purpose = "The user's reminders."
    let store: any ReminderStore
    /// Tells the user on the card which program will ring at the due time; `nil` for the default text.
    var ringing: String?

    static let shape = PayloadSchema(
        fields: [
            .text("id", atMost: 64, about: "the id of the reminder, from an earlier result"),
            .text("title", atMost: 100, about: "what to do; in complete it finds the reminder"),
            .pattern(
                "due", PayloadPattern.time, atMost: 32,
                about: "such as 2026-11-24T15:00 in the user's zone, or 2026-11-24"),
            .integer("alarmMinutes", 0...40_320, about: "the minutes between the alarm and the due time"),
            .integer("priority", 1...9, about: "1 is highest, 9 lowest"),
        ],
        forms: [
            .init("create", required: ["title"], optional: ["due", "alarmMinutes", "priority"]),
            .init("complete", required: ["title"], optional: ["id"]),
            .init("list"),
        ])

    package var schema: String { Self.shape.block }
    package var toolSchema: String { Self.shape.tool }

    package func plan(_ payload: ReminderPayload, in context: ActionContext) async throws -> ActionPlan {
        switch payload.action {
        case .create: try await creation(payload, context)
        case .complete: try await completion(payload, context)
        case .list: list(context)
        }
    }

    private func creation(_ payload: ReminderPayload, _ context: ActionContext) async throws -> ActionPlan {
        guard let title = payload.title else { throw ActionRefusal.missing("title") }
        let due = payload.due?.eventTime(in: context.timeZone)
        let priority = payload.priority ?? 0
        guard due != nil || payload.alarmMinutes == nil else {
            throw PayloadDecoder.unusable("alarmMinutes without due", field: "due")
        }
        let change = try await store.creation(
            of: Reminder(
                id: context.key, title: title, due: due, alarmMinutes: payload.alarmMinutes, priority: priority))
        let fields = [ActionCard.Field](
            ("title", "Title", title), ("due", "Due", due.map { TimeWords(context).text($0) }),
            ("alarmMinutes", "Alarm", payload.alarmMinutes.map { AlarmWords.text($0) }),
            ("priority", "Priority", priority > 0 ? Self.word(priority) : nil)
        ).raw([
            "due": due?.text, "alarmMinutes": payload.alarmMinutes.map { "\($0)" }, "priority": "\(priority)",
        ])
        let isPast = payload.due.map { time in
            time.isAllDay
                ? CalendarDay(number: time.day) < CalendarDay(of: context.now, in: context.timeZone)
                : time.date(in: context.timeZone) < context.now
        }
        let elsewhere = "It rings in a program that shows due reminders; this one does not."
        let rings = ActionCard.Remark(ringing == nil ? "rings-elsewhere" : "rings", ringing ?? elsewhere)
        let remarks = [isPast == true ? .past : nil, due == nil ? nil : rings].compactMap(\.self)
        return ActionPlan(
            title: "New reminder", code: "new-reminder", fields: fields, effect: .changes, changes: [change],
            remarks: remarks)
    }

    private func completion(_ payload: ReminderPayload, _ context: ActionContext) async throws -> ActionPlan {
        let reminder = try await store.meant(
            payload.id, payload.title, "open reminder", isOpen: { $0.completed == nil },
            item: { Self.item($0, context, isForModel: $1) })
        let change = try await store.completion(of: reminder.id, at: context.now)
        return ActionPlan(
            title: "Complete a reminder", code: "complete-reminder",
            fields: .init(
                ("title", "Title", PayloadText.cleaned(reminder.title)),
                ("due", "Due", reminder.due.map { TimeWords(context).text($0) })
            ).raw(["due": reminder.due?.text]),
            effect: .changes, changes: [change])
    }

    private func list(_ context: ActionContext) -> ActionPlan {
        ActionPlan(title: "Open reminders", code: "reminders", effect: .reads) { [store] in
            let found = try await store.reminders(limit: 21)
            return ActionPlan.Result(
                items: found.prefix(20).map { Self.item($0, context) },
                itemsForModel: found.prefix(20).map { Self.item($0, context, isForModel: true) },
                note: found.isEmpty ? "No reminder is open." : found.count > 20 ? "There are more." : nil,
                noteCode: found.isEmpty ? "no-reminders" : "more",
                outsideSource: found.prefix(20).filter { !$0.isInvitation }.outsideSource)
        }
    }

    /// An item; the model does not see the texts of others.
    private static func item(
        _ reminder: Reminder, _ context: ActionContext, isForModel: Bool = false
    ) -> ActionCard.Item {
        let title = isForModel && reminder.isInvitation ? "invitation" : PayloadText.cleaned(reminder.title)
        let due = reminder.due.map { "due " + TimeWords(context).text($0) }
        let priority = reminder.priority > 0 ? "priority \(word(reminder.priority))" : nil
        return ActionCard.Item(
            id: reminder.id, title: title, detail: [due, priority].compactMap(\.self).joined(separator: ", "))
    }

    private static func word(_ priority: Int) -> String {
        switch priority {
        case 1...4: "high"
        case 5: "medium"
        default: "low"
        }
    }
}

/// Writes the time of an alarm.
enum AlarmWords {
    static func text(_ minutes: Int) -> String {
        if minutes == 0 { return "at that time" }
        let (days, hours) = (minutes / 1440, minutes / 60)
        if minutes % 1440 == 0 { return days == 1 ? "1 day before" : "\(days) days before" }
        if minutes % 60 == 0 { return hours == 1 ? "1 hour before" : "\(hours) hours before" }
        return minutes == 1 ? "1 minute before" : "\(minutes) minutes before"
    }
}
