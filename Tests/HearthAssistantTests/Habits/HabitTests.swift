import Foundation
import HearthBase
import HearthDatabase
import HearthTestSupport
import Testing

@testable import HearthAssistant

@Suite struct HabitTests {
    private static let date = Date(timeIntervalSince1970: 1_800_000_000)

    private static func store() async throws -> SQLiteHabitStore {
        SQLiteHabitStore(try await AssistantDatabase.open(home: nil))
    }

    private static func day(_ text: String) throws -> CalendarDay { try #require(CalendarDay(text)) }

    @Test func amountsOfADayAddUpAndCanBeUndone() async throws {
        let store = try await Self.store()
        let definition = try await store.definition(name: "  Read  a book ", frequency: .daily, id: "h", at: Self.date)
        try await store.apply(definition)
        try await store.apply(definition)
        let day = try Self.day("2026-11-24")
        let first = try await store.logging("READ A BÓOK", on: day, amount: 1.5)
        try await store.apply(first)
        let second = try await store.logging("read a book", on: day, amount: 2)
        try await store.apply(second)
        try await store.apply(second)
        let other = try await store.logging("read a book", on: day.advanced(by: 1), amount: 7)
        try await store.apply(other)
        #expect(try await store.records(matching: "", limit: .max).map(\.name) == ["Read a book"])
        #expect(try await store.record("h")?.log == [day: 3.5, day.advanced(by: 1): 7])
        #expect(try await store.state(of: first) == .other)

        // Undoing one day leaves the other.
        try await store.apply(second.inverted)
        try await store.apply(first.inverted)
        #expect(try await store.record("h")?.log == [day.advanced(by: 1): 7])
    }

    @Test func aHabitOfTheSameNameGetsTheOtherFrequency() async throws {
        let store = try await Self.store()
        try await store.apply(store.definition(name: "Café", frequency: .daily, id: "h", at: Self.date))
        let change = try await store.definition(name: "CAFE", frequency: .weekly, id: "other", at: Self.date)
        try await store.apply(change)
        #expect(
            try await store.records(matching: "", limit: .max).map { [$0.id, $0.name, $0.frequency.rawValue] } == [
                ["h", "Café", "weekly"]
            ])
        try await store.apply(change.inverted)
        #expect(try await store.record("h")?.frequency == .daily)
    }

    @Test func aRemovalBringsTheLogBack() async throws {
        let store = try await Self.store()
        try await store.apply(store.definition(name: "Run", frequency: .weekly, id: "h", at: Self.date))
        for number in 0..<100 {
            try await store.apply(
                store.logging("run", on: Self.day("2026-01-01").advanced(by: number), amount: Double(number) + 0.1))
        }
        let habit = try await store.record("h")
        let removal = try await store.removal(of: "h")
        try await store.apply(removal)
        #expect(try await store.records(matching: "", limit: .max) == [])
        let logging = RecordChange(
            store: .habits, collection: "day", id: "h/2026-01-01", before: nil, after: Data("1".utf8))
        let error = await #expect(throws: AssistantError.self) { try await store.apply(logging) }
        #expect(error?.code == .changedElsewhere)
        try await store.apply(removal.inverted)
        #expect(try await store.record("h") == habit)
    }

    @Test func aTakenNameIsNotTakenTwice() async throws {
        let store = try await Self.store()
        let first = try await store.definition(name: "Run", frequency: .daily, id: "a", at: Self.date)
        let second = try await store.definition(name: "run", frequency: .daily, id: "b", at: Self.date)
        try await store.apply(first)
        let error = await #expect(throws: AssistantError.self) { try await store.apply(second) }
        #expect(error?.code == .changedElsewhere)
    }

    @Test(arguments: [0, -1, .infinity, .nan, 1e300]) func unusableAmountsAreRefused(_ amount: Double) async throws {
        let store = try await Self.store()
        try await store.apply(store.definition(name: "Run", frequency: .daily, id: "h", at: Self.date))
        let day = try Self.day("2026-11-24")
        let error = await #expect(throws: AssistantError.self) {
            try await store.logging("run", on: day, amount: amount)
        }
        #expect(error?.code == .unusablePayload)
    }

    @Test func aNegativeAmountCorrectsADay() async throws {
        let store = try await Self.store()
        try await store.apply(store.definition(name: "Run", frequency: .daily, id: "h", at: Self.date))
        let day = try Self.day("2026-11-24")
        for (amount, log) in [(5.0, [day: 5.0]), (-2, [day: 3]), (-4, [:])] {
            try await store.apply(store.logging("run", on: day, amount: amount))
            #expect(try await store.record("h")?.log == log)
        }
    }

    @Test func missingAndNamelessHabitsAreRefused() async throws {
        let store = try await Self.store()
        let day = try Self.day("2026-11-24")
        var error = await #expect(throws: AssistantError.self) { try await store.logging("x", on: day, amount: 1) }
        #expect(error?.code == .noSuchRecord)
        error = await #expect(throws: AssistantError.self) { try await store.removal(of: "x") }
        #expect(error?.code == .noSuchRecord)
        error = await #expect(throws: AssistantError.self) {
            try await store.definition(name: " \n", frequency: .daily, id: "h", at: Self.date)
        }
        #expect(error?.code == .unusablePayload)
    }

    @Test(arguments: [
        ("unknown", "h", "1"), ("day", "h", "1"), ("day", "h/2026-02-30", "1"), ("definition", "h", "[]"),
        ("whole", "h", "{}"),
        ("definition", "h", #"{"id":"x","name":"n","frequency":"daily","created":1}"#),
        ("definition", "h", #"{"id":"h","name":"n","frequency":"hourly","created":1}"#),
    ])
    func brokenChangesAreRefused(_ collection: String, _ id: String, _ after: String) async throws {
        let store = try await Self.store()
        let change = RecordChange(
            store: .habits, collection: collection, id: id, before: nil, after: Data(after.utf8))
        let error = await #expect(throws: AssistantError.self) { try await store.apply(change) }
        #expect(error?.code == .unusableRecord)
    }

    @Test(arguments: ["yes", "0", "-1", "inf", ""]) func brokenAmountsAreRefused(_ amount: String) async throws {
        let store = try await Self.store()
        try await store.apply(store.definition(name: "Run", frequency: .daily, id: "h", at: Self.date))
        let change = RecordChange(
            store: .habits, collection: "day", id: "h/2026-01-01", before: nil, after: Data(amount.utf8))
        let error = await #expect(throws: AssistantError.self) { try await store.apply(change) }
        #expect(error?.code == .unusableRecord)
    }

    @Test func filesGiveTheSameHabits() async throws {
        let days = try ["2024-02-29", "2026-03-29", "2026-10-25"].map(Self.day)
        let habits = [
            Habit(
                id: "a", name: "Run, \"fast\"\r\nand far", frequency: .weekly, created: Self.date, log: [days[0]: 0.1]),
            Habit(id: "b", name: "=1+1 日本", frequency: .daily, created: Self.date, log: [days[1]: 1, days[2]: 1e9]),
            Habit(id: "c", name: "never", frequency: .daily, created: Self.date),
        ]
        let read = try HabitFiles.habits(json: HabitFiles.json(habits))
        #expect(read == habits)
        let table = try HabitFiles.habits(csv: HabitFiles.csv(habits), created: Self.date)
        #expect(table.map(\.name) == habits.map(\.name))
        #expect(table.map(\.log) == habits.map(\.log))
        #expect(table.map(\.frequency) == habits.map(\.frequency))

        let store = try await Self.store()
        #expect(try await store.add(HabitFiles.json(habits)) == (3, 0, 0))
        let kept = try await store.records(matching: "", limit: .max)
        // Names are on one line.
        let named = habits.map { habit in
            var habit = habit
            habit.name = habit.name.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            return habit
        }
        #expect(Set(kept) == Set(named))
        #expect(try await store.add(Data(HabitFiles.csv(habits).utf8)) == (0, 0, 3))
        #expect(try await store.records(matching: "", limit: .max) == kept)
    }

    @Test(arguments: [
        "", "a,b\n1,2", "habit,frequency,day,amount\nrun,daily,2026-02-30,1",
        "habit,frequency,day,amount\nrun,hourly,,",
        "habit,frequency,day,amount\nrun,daily,2026-01-01,-1", "habit,frequency,day,amount\nrun,daily,2026-01-01",
        "habit,frequency,day,amount\n\"run,daily,2026-01-01,1",
    ])
    func brokenTablesAreRefused(_ text: String) {
        let error = #expect(throws: AssistantError.self) { try HabitFiles.habits(csv: text, created: Self.date) }
        #expect(error?.code == .unusableRecord)
    }

    @Test(arguments: ["", "{}", "[]", #"{"version":2,"habits":[]}"#, #"{"version":1,"habits":[{"id":"x"}]}"#])
    func brokenDocumentsAreRefused(_ text: String) {
        let error = #expect(throws: AssistantError.self) { try HabitFiles.habits(json: Data(text.utf8)) }
        #expect(error?.code == .unusableRecord)
    }
}
