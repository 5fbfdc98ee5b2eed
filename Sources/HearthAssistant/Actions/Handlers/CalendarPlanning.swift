import Foundation
import HearthBase

/// Plans the actions of a calendar.
struct CalendarPlanning: Sendable {
    let store: any CalendarStore
    let context: ActionContext
    private var words: TimeWords { TimeWords(context) }

    // MARK: - Create

    func creation(_ payload: CalendarPayload) async throws -> ActionPlan {
        guard let title = payload.title else { throw ActionRefusal.missing("title") }
        guard payload.start != nil else { throw ActionRefusal.missing("start") }
        let zone = try PayloadTime.zone(named: payload.timeZone, or: context.timeZone)
        let fields = try eventFields(payload, zone: zone, isAllDay: nil)
        let change = try await store.creation(of: CalendarEvent(id: context.key, fields: fields))
        return ActionPlan(
            title: "New event", code: "new-event", fields: .init(("title", "Title", title)) + rows(fields),
            effect: .changes,
            changes: [change], remarks: try await remarks(fields))
    }

    /// The values of the payload. The end of whole days is their last day in a payload, and the day after it in a record.
    private func eventFields(_ payload: CalendarPayload, zone: TimeZone, isAllDay: Bool?) throws -> EventFields {
        let start = payload.start
        let isAllDay = start.map { $0.isAllDay || payload.allDay == true } ?? isAllDay ?? false
        if let end = payload.end {
            guard isAllDay || !end.isAllDay else {
                throw PayloadDecoder.unusable("end has no time of day", field: "end")
            }
        }
        var end = payload.end?.eventTime(in: zone, isAllDay: isAllDay)
        if isAllDay { end?.date += 86_400 }
        return EventFields(
            title: payload.title, start: start?.eventTime(in: zone, isAllDay: isAllDay), end: end,
            location: payload.location, notes: payload.notes, recurrence: payload.recurrence,
            alarmMinutes: payload.alarmMinutes)
    }

    /// The values on the card, without the title.
    private func rows(_ fields: EventFields) -> [ActionCard.Field] {
        .init(
            ("start", "Time", fields.start.map { words.period($0, fields.end) }),
            ("end", "Until", fields.start == nil ? fields.end.map { words.text($0) } : nil),
            ("recurrence", "Repeats", fields.recurrence.map { RecurrenceWords.text($0) }),
            ("location", "Place", fields.location), ("notes", "Notes", fields.notes),
            ("alarmMinutes", "Alarm", fields.alarmMinutes.map { AlarmWords.text($0) })
        ).raw([
            "start": fields.start.map { [$0.text, fields.end?.text].compactMap(\.self).joined(separator: "/") },
            "end": fields.end?.text, "recurrence": fields.recurrence,
            "alarmMinutes": fields.alarmMinutes.map { "\($0)" },
        ])
    }

    // MARK: - Conflicts

    /// Names the events at the same time, and a start in the past.
    private func remarks(_ fields: EventFields, except id: String? = nil) async throws -> [ActionCard.Remark] {
        guard let start = fields.start else { return [] }
        var remarks: [ActionCard.Remark] = []
        if !start.isAllDay, start.date < context.now { remarks.append(.past) }
        if !start.isAllDay {
            let end = max(fields.end?.date ?? start.date.addingTimeInterval(3600), start.date.addingTimeInterval(60))
            let others = try await events(from: start.date, until: end).filter {
                !$0.start.isAllDay && $0.event.id != id && $0.start.date < end && $0.end.date > start.date
            }
            if !others.isEmpty {
                let names = others.prefix(3).map { other in
                    let title = PayloadText.cleaned(other.event.displayName)
                    return "\(title.isEmpty ? "an event" : title) (\(words.period(other.start, other.end)))"
                }
                let more = others.count > 3 ? " and \(others.count - 3) more" : ""
                let values = others.prefix(3).flatMap {
                    [PayloadText.cleaned($0.event.displayName), $0.start.text + "/" + $0.end.text]
                }
                remarks.append(
                    .init(
                        "same-time", "At the same time: \(names.joined(separator: "; "))\(more).",
                        values + (others.count > 3 ? ["\(others.count - 3)"] : [])))
            }
        }
        return remarks
    }

    /// The events of a time; none where the person lets the app only add events.
    private func events(from: Date, until: Date) async throws -> [EventOccurrence] {
        do {
            return try await store.occurrences(from: from, until: until, limit: 20)
        } catch AssistantError.Code.accessWriteOnly {
            return []
        }
    }

    // MARK: - Change and remove

    func update(_ payload: CalendarPayload) async throws -> ActionPlan {
        let event = try await event(payload)
        let old = event.fields
        let zone = try PayloadTime.zone(
            named: payload.timeZone, or: old.start?.timeZone.flatMap(TimeZone.init(identifier:)) ?? context.timeZone)
        var fields = try eventFields(payload, zone: zone, isAllDay: old.start?.isAllDay)
        // Without an id the title finds the event.
        if payload.id == nil || fields.title == old.title { fields.title = nil }
        if let start = fields.start, fields.end == nil, let oldStart = old.start, let oldEnd = old.end,
            start.isAllDay == oldStart.isAllDay
        {
            // A moved event keeps its duration.
            fields.end = EventTime(
                start.date.addingTimeInterval(oldEnd.date.timeIntervalSince(oldStart.date)), timeZone: start.timeZone,
                isAllDay: start.isAllDay)
        }
        guard fields != EventFields() else { throw PayloadDecoder.unusable("no new value is given") }
        let change = try await store.change(of: event.id) { $0.fields = $0.fields.changed(to: fields) }
        let rows = [ActionCard.Field](("id", "Event", summary(event)), ("title", "New title", fields.title))
        let remarks = try await remarks(fields, except: event.id) + seriesRemark(event, "changed")
        return ActionPlan(
            title: "Change an event", code: "change-event", fields: rows + self.rows(fields), effect: .changes,
            changes: [change],
            remarks: remarks)
    }

    func removal(_ payload: CalendarPayload) async throws -> ActionPlan {
        let event = try await event(payload)
        let change = try await store.removal(of: event.id)
        return ActionPlan(
            title: "Delete an event", code: "delete-event",
            fields: .init(("title", "Event", PayloadText.cleaned(event.displayName))) + rows(event.fields),
            effect: .changes, changes: [change], remarks: seriesRemark(event, "deleted"))
    }

    private func seriesRemark(_ event: CalendarEvent, _ verb: String) -> [ActionCard.Remark] {
        guard event.fields.recurrence != nil || event.repeatsUnexpanded else { return [] }
        return [.init("series-\(verb)", "The event repeats; all of its occurrences are \(verb).")]
    }

    /// The event with the payload's id, or the one near now whose title fits.
    private func event(_ payload: CalendarPayload) async throws -> CalendarEvent {
        try await store.meant(payload.id, payload.title, "event") { item($0, isForModel: $1) }
    }

    private func summary(_ event: CalendarEvent) -> String {
        let title = PayloadText.cleaned(event.displayName)
        guard let start = event.fields.start else { return title }
        return "\(title) (\(words.period(start, event.fields.end)))"
    }

    /// An item; the model does not see the texts of invitations.
    private func item(
        _ event: CalendarEvent, _ start: EventTime? = nil, _ end: EventTime? = nil, isForModel: Bool = false
    ) -> ActionCard.Item {
        let hides = isForModel && event.isInvitation
        let time = (start ?? event.fields.start).map {
            words.period($0, end ?? (start == nil ? event.fields.end : nil))
        }
        let place = hides ? nil : event.fields.location.map { PayloadText.cleaned($0) }
        let repeats = event.repeatsUnexpanded ? "repeats, not expanded" : nil
        return ActionCard.Item(
            id: event.id, title: hides ? "invitation" : PayloadText.cleaned(event.displayName),
            detail: [time, place, repeats].compactMap(\.self).joined(separator: ", "))
    }

    // MARK: - List

    /// The most events of a list.
    static let limit = 20

    func list(_ payload: CalendarPayload) throws -> ActionPlan {
        let zone = context.timeZone
        let from = payload.from.map { $0.date(in: zone) } ?? context.now
        // A day alone as the end includes the day.
        let until =
            payload.to.map { $0.date(in: zone).addingTimeInterval($0.isAllDay ? 86_400 : 0) }
            ?? payload.from.map { $0.date(in: zone).addingTimeInterval($0.isAllDay ? 86_400 : 7 * 86_400) }
            ?? context.now.addingTimeInterval(7 * 86_400)
        guard until > from else { throw PayloadDecoder.unusable("to is not after from", field: "to") }
        let fields = [ActionCard.Field](("from", "From", words.moment(from)), ("to", "To", words.moment(until)))
            .raw(["from": EventTime(from).text, "to": EventTime(until).text])
        return ActionPlan(title: "Events", code: "events", fields: fields, effect: .reads) { [self] in
            let found = try await store.occurrences(from: from, until: until, limit: Self.limit + 1)
            let shown = found.prefix(Self.limit)
            return ActionPlan.Result(
                items: shown.map { item($0.event, $0.start, $0.end) },
                itemsForModel: shown.map { item($0.event, $0.start, $0.end, isForModel: true) },
                note: found.isEmpty
                    ? "No event lies in that time." : found.count > Self.limit ? "There are more." : nil,
                noteCode: found.isEmpty ? "no-events" : "more",
                outsideSource: shown.map(\.event).filter { !$0.isInvitation }.outsideSource)
        }
    }
}

extension ActionCard.Remark {
    static let past = Self("past", "The time is in the past.")
}
