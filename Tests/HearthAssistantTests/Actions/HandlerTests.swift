import Foundation
import Testing

@testable import HearthAssistant

@Suite struct HandlerTests {
    private func bench() async throws -> ActionBench {
        let bench = ActionBench(approval: ScriptedApproval(otherwise: .approve))
        try await bench.fill()
        return bench
    }

    private func run(_ bench: ActionBench, _ block: String, message: String = "m1") async -> ActionOutcome {
        await bench.runner().run(ActionBench.scan(block).blocks, in: bench.turn(message: message))
    }

    /// The order is that of the tags, whatever the order in the answer; two blocks of one tag keep theirs.
    @Test func runsTheBlocksOfAnAnswerInTheOrderOfTheirTags() async throws {
        let bench = try await bench()
        let outcome = await run(
            bench,
            #"[REMINDER_ACTION:{"action":"create","title":"Call"}] [HABIT_ACTION:{"action":"define","name":"Swim"}]"#
                + #" [CONTACTS_SEARCH:{"query":"anna"}] [NOTE_ACTION:{"action":"create","title":"b","body":"1"}]"#
                + #" [NOTE_ACTION:{"action":"create","title":"a","body":"2"}]"#
                + #" [CALENDAR_ACTION:{"action":"create","title":"Tea","start":"2026-11-25T15:00"}]"#)
        #expect(outcome.cards.map(\.tag) == [.calendar, .note, .note, .contactsSearch, .habit, .reminder])
        #expect(outcome.cards.allSatisfy { $0.state == .done })
        #expect(outcome.cards.filter { $0.tag == .note }.map { $0.fields.first?.value } == ["b", "a"])
    }

    @Test func createsAnEventWithAllFields() async throws {
        let bench = try await bench()
        let outcome = await run(
            bench,
            #"[CALENDAR_ACTION:{"action":"create","title":"Dentist","start":"2026-11-25T15:00","end":"2026-11-25T16:00","timeZone":"America/New_York","location":"Main St","notes":"card","recurrence":"RRULE:freq=weekly;count=3","alarmMinutes":60}]"#
        )
        let card = outcome.cards[0]
        let event = try #require(try await bench.calendar.record(card.id))
        #expect(
            event.fields.start == EventTime(Date(timeIntervalSince1970: 1_795_636_800), timeZone: "America/New_York"))
        #expect(event.fields.recurrence == "FREQ=WEEKLY;COUNT=3")
        #expect(card.fields.map(\.name) == ["title", "start", "recurrence", "location", "notes", "alarmMinutes"])
        #expect(card.fields[1].value.contains("America/New_York"))
        #expect(card.fields[2].value == "every week, 3 times")
        #expect(card.fields[5].value == "1 hour before")
        // What a shell makes words of its own from.
        #expect(card.code == "new-event")
        #expect(
            card.fields.map(\.raw) == [
                nil, "2026-11-25T20:00:00Z/2026-11-25T21:00:00Z", "FREQ=WEEKLY;COUNT=3", nil,
                nil, "60",
            ])
        #expect(outcome.results[0].text.contains(card.id))
    }

    @Test func countsTheLastDayOfWholeDays() async throws {
        let bench = try await bench()
        let outcome = await run(
            bench, #"[CALENDAR_ACTION:{"action":"create","title":"Trip","start":"2026-11-24","end":"2026-11-26"}]"#)
        let fields = try #require(try await bench.calendar.record(outcome.cards[0].id)).fields
        #expect(fields.start?.isAllDay == true && fields.end?.isAllDay == true)
        #expect(fields.end?.date.timeIntervalSince1970 == 1_795_737_600)
        #expect(outcome.cards[0].fields[1].value.contains("26"))
    }

    @Test func showsConflictsAndThePast() async throws {
        let bench = try await bench()
        // The board meeting is at 09:30 on the next day.
        let outcome = await run(
            bench,
            #"[CALENDAR_ACTION:{"action":"create","title":"a","start":"2026-11-25T10:00"}][CALENDAR_ACTION:{"action":"create","title":"b","start":"2026-11-20T10:00"}]"#
        )
        #expect(outcome.cards[0].note?.contains("Board meeting") == true)
        #expect(outcome.cards[1].note == "The time is in the past.")
    }

    @Test func movesAnEventAndKeepsItsDuration() async throws {
        let bench = try await bench()
        _ = await run(
            bench,
            #"[CALENDAR_ACTION:{"action":"create","title":"Talk","start":"2026-11-26T10:00","end":"2026-11-26T12:00"}]"#
        )
        let moved = await run(
            bench, #"[CALENDAR_ACTION:{"action":"update","title":"talk","start":"2026-11-27T10:00"}]"#, message: "m2")
        #expect(moved.cards.map(\.state) == [.done])
        let event = try #require(try await bench.calendar.records(matching: "Talk", limit: 1).first)
        let (start, end) = (try #require(event.fields.start), try #require(event.fields.end))
        #expect(end.date.timeIntervalSince(start.date) == 7200)
        #expect(start.date.timeIntervalSince1970 == 1_795_770_000)
    }

    @Test func namesTheCandidatesOfAnAmbiguousTitle() async throws {
        let bench = try await bench()
        for (message, title) in [("a", "Lunch Anna"), ("b", "Lunch Bea")] {
            _ = await run(
                bench, #"[CALENDAR_ACTION:{"action":"create","title":"\#(title)","start":"2026-11-25T12:00"}]"#,
                message: message)
        }
        let outcome = await run(bench, #"[CALENDAR_ACTION:{"action":"delete","title":"Lunch"}]"#, message: "c")
        #expect(outcome.cards.map(\.state) == [.failed])
        #expect(Set(outcome.cards[0].items.map(\.title)) == ["Lunch Anna", "Lunch Bea"])
        #expect(outcome.results[0].text.contains("ambiguous-record"))
        let second = outcome.cards[0].items[1]
        let byID = await run(
            bench, #"[CALENDAR_ACTION:{"action":"delete","id":"\#(second.id)","title":"x"}]"#, message: "d")
        #expect(byID.cards[0].fields[0].value == second.title)
        #expect(try await bench.calendar.record(second.id) == nil)
        // The title of exactly one of several is no ambiguity.
        _ = await run(
            bench, #"[CALENDAR_ACTION:{"action":"create","title":"Lunch","start":"2026-11-25"}]"#, message: "e")
        let exact = await run(bench, #"[CALENDAR_ACTION:{"action":"delete","title":"lunch"}]"#, message: "f")
        #expect(exact.cards.map(\.state) == [.done])
    }

    @Test func completesAndListsReminders() async throws {
        let bench = try await bench()
        let first = await run(
            bench,
            #"[REMINDER_ACTION:{"action":"create","title":"Call Anna","due":"2026-11-25T09:00","alarmMinutes":30,"priority":1}]"#
        )
        #expect(first.cards[0].fields.map(\.value).suffix(2) == ["30 minutes before", "high"])
        #expect(first.cards[0].note?.contains("rings") == true)
        let list = await run(bench, #"[REMINDER_ACTION:{"action":"list"}]"#, message: "m2")
        #expect(Set(list.cards[0].items.map(\.title)) == ["Call Anna", "Take medicine"])
        #expect(list.results[0].text.contains("id r"))
        let done = await run(bench, #"[REMINDER_ACTION:{"action":"complete","title":"call anna"}]"#, message: "m3")
        #expect(done.cards.map(\.state) == [.done])
        #expect(try await bench.reminders.reminders(completed: false, limit: 9).map(\.id) == ["r"])
        #expect(try await bench.runner().undo(done.cards[0].id).state == .undone)
        #expect(try await bench.reminders.reminders(completed: false, limit: 9).count == 2)
    }

    @Test func completesNoReminderThatIsDone() async throws {
        let bench = try await bench()
        let complete = #"[REMINDER_ACTION:{"action":"complete","title":"take medicine"}]"#
        #expect(await run(bench, complete).cards.map(\.state) == [.done])
        let date = try #require(try await bench.reminders.record("r")?.completed)
        for (message, block) in [
            ("m2", complete), ("m3", #"[REMINDER_ACTION:{"action":"complete","title":"x","id":"r"}]"#),
        ] {
            let again = await run(bench, block, message: message)
            #expect(again.cards.map(\.state) == [.failed])
            #expect(again.results.first?.text.contains("no-such-record") == true)
        }
        #expect(try await bench.reminders.record("r")?.completed == date)
        // Another one of the same title is found.
        let create = #"[REMINDER_ACTION:{"action":"create","title":"Take medicine"}]"#
        _ = await run(bench, create, message: "m4")
        #expect(await run(bench, complete, message: "m5").cards.map(\.state) == [.done])
        #expect(try await bench.reminders.reminders(completed: false, limit: 9).isEmpty)
    }

    @Test func appendsToAndFindsNotes() async throws {
        let bench = try await bench()
        let outcome = await run(bench, #"[NOTE_ACTION:{"action":"append","title":"shopping","body":"bread"}]"#)
        #expect(outcome.cards.map(\.state) == [.done])
        #expect(try await bench.notes.record("n")?.body == "milk\n\nbread")
        let found = await run(bench, #"[NOTE_ACTION:{"action":"search","query":"bread"}]"#, message: "m2")
        #expect(found.cards[0].items.map(\.id) == ["n"])
        #expect(found.results[0].outsideSource == nil)
        let missing = await run(
            bench, #"[NOTE_ACTION:{"action":"append","title":"nothing","body":"x"}]"#, message: "m3")
        #expect(missing.cards.map(\.state) == [.failed])
    }

    @Test func logsHabitsOnTheUsersDay() async throws {
        var bench = try await bench()
        // 00:30 on 25 November in Berlin is still the 24th in UTC.
        bench.now = Date(timeIntervalSince1970: 1_795_563_000)
        _ = await run(bench, #"[HABIT_ACTION:{"action":"define","name":"Run","frequency":"daily"}]"#)
        _ = await run(bench, #"[HABIT_ACTION:{"action":"log","name":"run"}]"#, message: "m2")
        _ = await run(
            bench, #"[HABIT_ACTION:{"action":"log","name":"run","date":"2026-11-24","amount":"3"}]"#, message: "m3")
        let habit = try #require(try await bench.habits.habit(named: "Run"))
        #expect(habit.log.map { "\($0.key) \($0.value)" }.sorted() == ["2026-11-24 3.0", "2026-11-25 1.0"])
        let list = await run(bench, #"[HABIT_ACTION:{"action":"list"}]"#, message: "m4")
        #expect(list.cards[0].items[0].detail == "daily, done, 2 days in a row, longest 2")
    }

    @Test(
        arguments: [
            ("FREQ=DAILY", "every day"), ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE", "every 2 weeks on Monday, Wednesday"),
            ("FREQ=MONTHLY;BYDAY=-1FR;COUNT=5", "every month on the last Friday, 5 times"),
            ("FREQ=MONTHLY;BYMONTHDAY=15", "every month on day 15"),
            ("FREQ=YEARLY;UNTIL=20301231T000000Z", "every year, until 2030-12-31"),
            ("FREQ=YEARLY;BYMONTH=3", "FREQ=YEARLY;BYMONTH=3"), ("nonsense", "nonsense"),
        ])
    func writesRules(_ rule: String, _ text: String) { #expect(RecurrenceWords.text(rule) == text) }
}
