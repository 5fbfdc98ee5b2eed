import Foundation

/// The block `REMINDER_ACTION`: creates, completes and lists reminders.
package struct ReminderAction: AssistantAction {
    package let tag = ActionTag.reminder
    package let purpose = "The user's reminders."
    let store: any ReminderStore
    let ringing: String?

    /// - Parameter ringing: tells the user on the card which program will ring at the due time.
    package init(
        store: any ReminderStore,
        ringing: String? = "It rings in a program that shows due reminders; this one does not."
    ) {
        self.store = store
        self.ringing = ringing
    }

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
            throw PayloadDecoder.unusable("alarmMinutes without due")
        }
        let change = try await store.creation(
            of: Reminder(
                id: context.key, title: title, due: due, alarmMinutes: payload.alarmMinutes, priority: priority))
        var fields = [ActionCard.Field(name: "title", label: "Title", value: title)]
        if let due { fields.append(.init(name: "due", label: "Due", value: TimeWords(context).text(due))) }
        if let minutes = payload.alarmMinutes {
            fields.append(.init(name: "alarmMinutes", label: "Alarm", value: AlarmWords.text(minutes)))
        }
        if priority > 0 { fields.append(.init(name: "priority", label: "Priority", value: Self.word(priority))) }
        let isPast = payload.due.map { time in
            time.isAllDay
                ? CalendarDay(number: time.day) < CalendarDay(of: context.now, in: context.timeZone)
                : time.date(in: context.timeZone) < context.now
        }
        let notes = [isPast == true ? "The time is in the past." : nil, due == nil ? nil : ringing].compactMap(\.self)
        return ActionPlan(
            title: "New reminder", fields: fields, effect: .changes, changes: [change],
            note: notes.isEmpty ? nil : notes.joined(separator: " "))
    }

    private func completion(_ payload: ReminderPayload, _ context: ActionContext) async throws -> ActionPlan {
        let reminder = try await reminder(payload, context)
        let change = try await store.completion(of: reminder.id, at: context.now)
        var fields = [ActionCard.Field(name: "title", label: "Title", value: PayloadText.cleaned(reminder.title))]
        if let due = reminder.due {
            fields.append(.init(name: "due", label: "Due", value: TimeWords(context).text(due)))
        }
        return ActionPlan(title: "Complete a reminder", fields: fields, effect: .changes, changes: [change])
    }

    private func reminder(_ payload: ReminderPayload, _ context: ActionContext) async throws -> Reminder {
        if let id = payload.id {
            guard let reminder = try await store.record(id) else { throw ActionRefusal.unknown("reminder") }
            guard reminder.completed == nil else { throw ActionRefusal.unknown("open reminder") }
            return reminder
        }
        guard let title = payload.title else { throw ActionRefusal.missing("title") }
        let found = try await store.reminders(matching: title, limit: 6)
        let wanted = SearchText.folded(title)
        let exact = found.filter { SearchText.folded($0.title) == wanted }
        if let only = exact.count == 1 ? exact.first : found.count == 1 ? found.first : nil { return only }
        if found.isEmpty { throw ActionRefusal.unknown("open reminder") }
        let several = exact.isEmpty ? found : exact
        throw ActionRefusal.ambiguous(
            "reminders", several.map { Self.item($0, context) },
            forModel: several.map { Self.item($0, context, isForModel: true) })
    }

    private func list(_ context: ActionContext) -> ActionPlan {
        ActionPlan(title: "Open reminders", effect: .reads) { [store] in
            let found = try await store.reminders(limit: 21)
            return ActionPlan.Result(
                items: found.prefix(20).map { Self.item($0, context) },
                itemsForModel: found.prefix(20).map { Self.item($0, context, isForModel: true) },
                note: found.isEmpty ? "No reminder is open." : found.count > 20 ? "There are more." : nil)
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
