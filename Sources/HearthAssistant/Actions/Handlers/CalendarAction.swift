import Foundation

/// The block `CALENDAR_ACTION`: creates, changes, removes and lists events.
package struct CalendarAction: AssistantAction {
    package let tag = ActionTag.calendar
    package let purpose = "The user's events; recurrence is like FREQ=WEEKLY;COUNT=10."
    let store: any CalendarStore

    static let shape = PayloadSchema(
        fields: [
            .text("id", atMost: 64, about: "the id of the event, from an earlier result"),
            .text("title", atMost: 80, about: "the title; without id it finds the event to change or delete"),
            .pattern("start", PayloadPattern.time, atMost: 32, about: "such as 2026-11-24T15:00, or 2026-11-24"),
            .pattern(
                "end", PayloadPattern.time, atMost: 32, about: "the end; of a whole-day event its last day"),
            .flag("allDay", about: "whether it lasts whole days"),
            .pattern(
                "timeZone", PayloadPattern.zone, atMost: 40,
                about: "such as Europe/Berlin; the user's zone if left out"),
            .text("location", atMost: 60, about: "the place"),
            .text("notes", atMost: 120, about: "further text"),
            .pattern(
                "recurrence", PayloadPattern.recurrence, atMost: 60, about: "an RRULE such as FREQ=WEEKLY;COUNT=10"),
            .integer("alarmMinutes", 0...40_320, about: "the minutes between the alarm and the start"),
            .pattern("from", PayloadPattern.time, atMost: 32, about: "the beginning of the list; now if left out"),
            .pattern("to", PayloadPattern.time, atMost: 32, about: "the end of the list; a week later if left out"),
        ],
        forms: [
            .init(
                "create", required: ["title", "start"],
                optional: ["end", "allDay", "timeZone", "location", "notes", "recurrence", "alarmMinutes"]),
            .init(
                "update", required: ["title"],
                optional: [
                    "id", "start", "end", "allDay", "timeZone", "location", "notes", "recurrence", "alarmMinutes",
                ]),
            .init("delete", required: ["title"], optional: ["id"]),
            .init("list", optional: ["from", "to"]),
        ])

    package var schema: String { Self.shape.block }
    package var toolSchema: String { Self.shape.tool }

    package func plan(_ payload: CalendarPayload, in context: ActionContext) async throws -> ActionPlan {
        let planning = CalendarPlanning(store: store, context: context)
        return switch payload.action {
        case .create: try await planning.creation(payload)
        case .update: try await planning.update(payload)
        case .delete: try await planning.removal(payload)
        case .list: try planning.list(payload)
        }
    }
}
