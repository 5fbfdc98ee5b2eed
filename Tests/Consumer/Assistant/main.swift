import Foundation
import Hearth
import HearthAssistant

// An assistant with the app's own calendar: Assistant MESSAGE.
actor OwnCalendar: CalendarStore {
    private var events: [String: CalendarEvent] = [:]
    func records(matching words: String, limit: Int) -> [CalendarEvent] { Array(events.values.prefix(limit)) }
    func record(_ id: String) -> CalendarEvent? { events[id] }
    func write(_ event: CalendarEvent?, id: String) { events[id] = event }
    func occurrences(from: Date, until: Date, limit: Int) -> [EventOccurrence] { [] }
}
struct Screen: ActionApproval {
    func decide(_ card: ActionCard) async -> ActionDecision { print(card.title); return .approve }
}

let calendar = OwnCalendar()
let hearth = try Hearth()
let assistant = try await hearth.assistant(approval: Screen(), stores: AssistantStores(calendar: calendar))
for await event in try await assistant.session().send(CommandLine.arguments[1]) {
    if case .text(let piece) = event { print(piece, terminator: "") }
}
for event in await calendar.records(matching: "", limit: 10) { print("in the calendar:", event.fields.title ?? "") }
await hearth.close()
