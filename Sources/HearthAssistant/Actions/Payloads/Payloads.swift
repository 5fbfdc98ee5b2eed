import Foundation
import HearthBase

/// The values of a `WEB_SEARCH` or `CONTACTS_SEARCH` block.
package struct QueryPayload: Sendable, Hashable, Codable {
    package var query: String

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        guard let query = try values.line(.query) else { throw values.refusal(.query, "is missing") }
        self.query = query
    }
}

/// The values of a `CALENDAR_ACTION` block.
package struct CalendarPayload: Sendable, Hashable, Codable {
    package enum Action: String, Sendable, Codable, CaseIterable { case create, update, delete, list }

    package var action: Action
    package var id: String?
    package var title: String?
    package var start: PayloadTime?
    /// The end; of a whole-day event its last day.
    package var end: PayloadTime?
    package var allDay: Bool?
    package var timeZone: String?
    package var location: String?
    package var notes: String?
    package var recurrence: String?
    package var alarmMinutes: Int?
    package var from: PayloadTime?
    package var to: PayloadTime?

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        action = try values.requiredChoice(.action)
        id = try values.line(.id)
        title = try values.line(.title)
        start = try values.time(.start)
        end = try values.time(.end)
        allDay = try values.flag(.allDay)
        timeZone = try values.line(.timeZone, atMost: 64)
        location = try values.line(.location)
        notes = try values.paragraphs(.notes)
        recurrence = try values.line(.recurrence).map(Self.rule)
        alarmMinutes = try values.whole(.alarmMinutes, 0...40_320)
        from = try values.time(.from)
        to = try values.time(.to)
    }

    /// The rule without the name of its property.
    private static func rule(_ text: String) -> String {
        let rule = text.uppercased().filter { !$0.isWhitespace }
        return rule.hasPrefix("RRULE:") ? String(rule.dropFirst(6)) : rule
    }
}

/// The values of a `REMINDER_ACTION` block.
package struct ReminderPayload: Sendable, Hashable, Codable {
    package enum Action: String, Sendable, Codable, CaseIterable { case create, complete, list }

    package var action: Action
    package var id: String?
    package var title: String?
    package var due: PayloadTime?
    package var alarmMinutes: Int?
    /// 1 is highest, 9 lowest.
    package var priority: Int?

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        action = try values.requiredChoice(.action)
        id = try values.line(.id)
        title = try values.line(.title)
        due = try values.time(.due)
        alarmMinutes = try values.whole(.alarmMinutes, 0...40_320)
        // The priority follows as a number if it is no word.
        switch try? values.decode(String.self, forKey: .priority).lowercased() {
        case "high": priority = 1
        case "medium", "normal": priority = 5
        case "low": priority = 9
        case "none": priority = 0
        default: priority = try values.whole(.priority, 0...9)
        }
    }
}

/// The values of a `NOTE_ACTION` block.
package struct NotePayload: Sendable, Hashable, Codable {
    package enum Action: String, Sendable, Codable, CaseIterable { case create, append, search }

    package var action: Action
    package var id: String?
    package var title: String?
    package var body: String?
    package var query: String?

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        action = try values.requiredChoice(.action)
        id = try values.line(.id)
        title = try values.line(.title)
        body = try values.paragraphs(.body)
        query = try values.line(.query)
    }
}

/// The values of a `HABIT_ACTION` block.
package struct HabitPayload: Sendable, Hashable, Codable {
    package enum Action: String, Sendable, Codable, CaseIterable { case define, log, list }

    package var action: Action
    package var name: String?
    package var frequency: HabitFrequency?
    package var date: PayloadTime?
    package var amount: Double?

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        action = try values.requiredChoice(.action)
        name = try values.line(.name)
        frequency = try values.choice(.frequency)
        date = try values.time(.date)
        amount = try values.number(.amount)
    }
}
