import Foundation
import HearthBase
import HearthInference
import Testing

@testable import HearthAssistant

@Suite struct PayloadTests {
    private let registry = ActionBench().registry

    @Test func schemasAreAcceptedAndBounded() throws {
        for action in registry.actions {
            try OutputConstraint.check(schema: action.schema)
            // Each string has a length or a pattern, each number a range.
            let strings = action.schema.components(separatedBy: #""type":"string""#).count - 1
            let bounds =
                action.schema.components(separatedBy: #""maxLength""#).count
                + action.schema.components(separatedBy: #""pattern""#).count - 2
            #expect(strings == bounds)
            let integers = action.schema.components(separatedBy: #""type":"integer""#).count
            #expect(action.schema.components(separatedBy: #""maximum""#).count == integers)
            #expect(!action.schema.contains(#""type":"array""#))
        }
        try ToolDefinition.check(registry.toolDefinitions)
        #expect(registry.toolDefinitions.map(\.name).contains("reminder_action"))
        #expect(registry.toolDefinitions.allSatisfy { !$0.parameters.contains("anyOf") })
        #expect(registry.constraint.blocks.map(\.opening) == registry.tags.map(\.opening))
        #expect(registry.constraint.blocks.allSatisfy { $0.closing == "]" })
    }

    @Test(
        arguments: [
            (
                ActionTag.calendar,
                #"{"action":"create","title":"a","start":"2026-11-24T15:00","recurrence":"FREQ=WEEKLY;BYDAY=MO,WE;COUNT=10","alarmMinutes":15}"#,
                true
            ),
            (
                .calendar,
                #"{"action":"create","title":"a","start":"2028-02-29","end":"2028-03-01","allDay":true,"timeZone":"Europe/Berlin"}"#,
                true
            ),
            (.calendar, #"{"action":"create","title":"a","start":"2026-11-24T15:00+01:00"}"#, true),
            (.calendar, #"{"action":"create","title":"a","start":"2026-02-29"}"#, false),
            (.calendar, #"{"action":"create","title":"a","start":"2026-11-31"}"#, false),
            (.calendar, #"{"action":"create","title":"a"}"#, false),
            (.calendar, #"{"action":"update","id":"1","title":"a"}"#, true),
            (.calendar, #"{"action":"delete","title":"a"}"#, true),
            (.calendar, #"{"action":"list"}"#, true),
            (.calendar, #"{"action":"erase"}"#, false),
            (.note, #"{"action":"search","query":"a"}"#, true),
            (.note, #"{"action":"create","title":"a"}"#, false),
            (.habit, #"{"action":"log","name":"a","date":"2026-11-24","amount":2}"#, true),
            (.reminder, #"{"action":"create","title":"a","due":"2026-11-24","priority":1}"#, true),
            (.reminder, #"{"action":"create","title":""}"#, false),
            (.webSearch, #"{"query":"a"}"#, true),
            (.webSearch, #"{"query":"a","more":1}"#, false),
        ])
    func schemasAdmitWhatDecodes(_ tag: ActionTag, _ payload: String, isValid: Bool) async throws {
        let action = try #require(registry.action(tag))
        let check = try #require(SchemaCheck(action.schema))
        #expect((check.flaw(in: payload) == nil) == isValid)
        guard isValid else { return }
        let isDecoded = decodes(action, payload)
        #expect(isDecoded)
        #expect(ActionRegistry.fields(of: action).count > 0)
    }

    private func decodes<Action: AssistantAction>(_ action: Action, _ payload: String) -> Bool {
        (try? JSONDecoder().decode(Action.Payload.self, from: Data(payload.utf8))) != nil
    }

    @Test func promptLinesShowFormsAndFields() {
        let line = registry.promptActions[registry.tags.firstIndex(of: .reminder) ?? 0].line
        #expect(
            line.contains(#"[REMINDER_ACTION:{"action":"create","title":…}] (optional: due, alarmMinutes, priority)"#))
        #expect(line.contains(#"or {"action":"list"}"#))
        // The fields of the first form are named once.
        let events = registry.promptActions[registry.tags.firstIndex(of: .calendar) ?? 0].line
        #expect(events.contains(#"or {"action":"update","title":…} (optional: id, start, the above)"#))
    }

    /// Times in Berlin: the moment, or whether it is a whole day, or `nil` for text that is no time.
    @Test(
        arguments: [
            ("2026-11-24T15:00", "2026-11-24T14:00:00.000Z"), ("2026-07-24T15:00", "2026-07-24T13:00:00.000Z"),
            ("2026-11-24 15:00:30", "2026-11-24T14:00:30.000Z"),
            ("2026-11-24T15:00:00.123Z", "2026-11-24T15:00:00.000Z"),
            ("2026-11-24T15:00Z", "2026-11-24T15:00:00.000Z"), ("2026-11-24T15:00+05:30", "2026-11-24T09:30:00.000Z"),
            ("2026-11-24T15:00-0800", "2026-11-24T23:00:00.000Z"), ("2026-11-24T15:00+01", "2026-11-24T14:00:00.000Z"),
            ("2026-11-24T24:00", "2026-11-24T23:00:00.000Z"),
            // Clocks go forward from 02:00 to 03:00.
            ("2026-03-29T01:59", "2026-03-29T00:59:00.000Z"), ("2026-03-29T02:30", "2026-03-29T01:30:00.000Z"),
            ("2026-03-29T03:00", "2026-03-29T01:00:00.000Z"),
            // Clocks go back from 03:00 to 02:00: the first 02:30 counts.
            ("2026-10-25T02:30", "2026-10-25T00:30:00.000Z"), ("2026-10-25T03:00", "2026-10-25T02:00:00.000Z"),
            ("2026-11-24", "day"), ("2028-02-29", "day"), ("2026-02-29", nil), ("2026-13-01", nil), ("tomorrow", nil),
            ("15:00", nil), ("2026-11-24T25:00", nil), ("2026-11-24T15:60", nil), ("2026-11-24T15", nil),
            ("24.11.2026", nil), ("2026-11-24T15:00 Berlin", nil), ("", nil), ("9999-99-99", nil),
        ] as [(String, String?)])
    func readsTimes(_ text: String, _ expected: String?) {
        let time = PayloadTime(text)
        #expect((time == nil) == (expected == nil))
        guard let time else { return }
        #expect(time.isAllDay == (expected == "day"))
        if !time.isAllDay { #expect(Timestamp(time.date(in: ActionBench.berlin)).description == expected) }
    }

    @Test func isLenientWhereHarmless() throws {
        func reminder(_ json: String) throws -> ReminderPayload {
            try PayloadDecoder.decode(ReminderPayload.self, json, fields: []).payload
        }
        #expect(try reminder(#"{"action":"CREATE","title":"a","priority":"high"}"#).priority == 1)
        #expect(try reminder(#"{"action":"create","title":"a","priority":"3"}"#).priority == 3)
        #expect(try reminder(#"{"action":"create","title":"a","alarmMinutes":15.0}"#).alarmMinutes == 15)
        #expect(try reminder(#"{"action":"create","title":" a\n b ","due":""}"#).title == "a  b")
        #expect(try reminder(#"{"action":"create","title":"a","due":null}"#).due == nil)
        for wrong in [
            #"{"title":"a"}"#, #"{"action":"create","title":true}"#, #"{"action":"create","alarmMinutes":1.5}"#,
            #"{"action":"create","alarmMinutes":99999}"#, #"{"action":"create","alarmMinutes":1e400}"#,
            #"{"action":"create","priority":"soon"}"#, #"[]"#, "", #"{"action":"create","due":5}"#,
        ] {
            #expect(throws: AssistantError.self, "\(wrong)") { try reminder(wrong) }
        }
        let note = try PayloadDecoder.decode(
            NotePayload.self, #"{"action":"create","title":"a","mood":1}"#, fields: ["action", "title"])
        #expect(note.ignored == ["mood"])
    }
}
