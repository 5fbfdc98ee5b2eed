import Foundation
import HearthBase
import HearthDatabase
import HearthTestSupport
import Testing

@testable import HearthAssistant

/// Rings over looks, answers and restarts, with the files of a home.
@Suite(.timeLimit(.minutes(5))) struct RingKeeperTests {
    /// 2026-11-24T12:00:00Z.
    private static let start = Date(timeIntervalSince1970: 1_795_521_600)

    private struct Lab {
        let folder: TemporaryFolder
        let clock = ManualClock(start: RingKeeperTests.start)
        var home: AssistantHome
        var keeper: RingKeeper

        init() async throws {
            folder = try TemporaryFolder()
            home = try await AssistantHome(path: folder.path("home"), time: clock.time)
            keeper = RingKeeper(home, timeZone: { .gmt })
        }

        mutating func restart() async throws {
            await home.database.close()
            home = try await AssistantHome(path: folder.path("home"), time: clock.time)
            keeper = RingKeeper(home, timeZone: { .gmt })
        }

        @discardableResult
        func add(_ title: String, in seconds: Double, rule: String? = nil) async throws -> String {
            let due = EventTime(clock.time.now.addingTimeInterval(seconds), timeZone: "UTC")
            let id = try await home.records.reminders.add(Reminder(title: title, due: due)).id
            guard let rule else { return id }
            let path = folder.path("home/reminders/personal/\(id).ics")
            let text = String(decoding: try LocalFileSystem().contents(ofFile: path, limit: 1 << 20), as: UTF8.self)
            try folder.write(
                "home/reminders/personal/\(id).ics",
                Data(text.replacing("STATUS:", with: "RRULE:\(rule)\r\nSTATUS:").utf8))
            return id
        }

        func titles() async throws -> [String?] { try await keeper.look().rings.map(\.title) }
    }

    @Test func ringsOnceAlsoAcrossRestarts() async throws {
        var lab = try await Lab()
        try await lab.add("Call", in: 100)
        #expect(try await lab.titles() == [])
        lab.clock.advance(by: .seconds(85))
        let look = try await lab.keeper.look()
        #expect(look.rings.isEmpty && look.wait == .seconds(15))
        lab.clock.advance(by: .seconds(15))
        #expect(try await lab.titles() == ["Call"])
        #expect(try await lab.titles() == [])
        #expect(await lab.keeper.open.map(\.title) == ["Call"])
        try await lab.restart()
        #expect(try await lab.titles() == [])
        #expect(await lab.keeper.open.map(\.title) == ["Call"])
        await lab.home.database.close()
    }

    @Test func whatFellDueWhileNothingRanRingsLate() async throws {
        var lab = try await Lab()
        _ = try await lab.keeper.look()
        for number in 1...7 { try await lab.add("R\(number)", in: Double(number * 60)) }
        try await lab.restart()
        lab.clock.advance(by: .seconds(5 * 86_400))
        let look = try await lab.keeper.look()
        #expect(look.rings.map(\.title) == ["R3", "R4", "R5", "R6", "R7"])
        #expect(look.rings.filter(\.isLate).count == 5)
        #expect(look.missed == 2)
        #expect(try await lab.keeper.look().missed == 0)
        await lab.home.database.close()
    }

    @Test func oldRemindersDoNotRingAtTheFirstStart() async throws {
        let lab = try await Lab()
        try await lab.add("Years ago", in: -900 * 86_400)
        try await lab.add("This morning", in: -3 * 3600)
        #expect(try await lab.titles() == ["This morning"])
        await lab.home.database.close()
    }

    @Test func snoozesAndIsDone() async throws {
        var lab = try await Lab()
        let id = try await lab.add("Call", in: 10)
        lab.clock.advance(by: .seconds(10))
        let ring = try #require(try await lab.keeper.look().rings.first)
        #expect(try await lab.keeper.answer(ring.id, .snooze(.tenMinutes)) == nil)
        #expect(await lab.keeper.open.isEmpty)
        lab.clock.advance(by: .seconds(590))
        #expect(try await lab.titles() == [])
        try await lab.restart()
        _ = try await lab.keeper.look()
        lab.clock.advance(by: .seconds(10))
        let again = try #require(try await lab.keeper.look().rings.first)
        #expect(again.id == ring.id && !again.isLate)
        let edit = try #require(try await lab.keeper.answer(ring.id, .done))
        #expect(try await lab.home.reminders.record(id)?.completed != nil)
        _ = try await lab.home.records.undo(edit.action)
        #expect(try await lab.home.reminders.record(id)?.completed == nil)
        #expect(try await lab.titles() == [])
        // A second device is too late.
        await #expect(throws: AssistantError.self) { _ = try await lab.keeper.answer(ring.id, .close) }
        await lab.home.database.close()
    }

    @Test func aRepeatingReminderIsDoneOnce() async throws {
        let lab = try await Lab()
        let id = try await lab.add("Water", in: 60, rule: "FREQ=DAILY")
        lab.clock.advance(by: .seconds(60))
        let ring = try #require(try await lab.keeper.look().rings.first)
        _ = try await lab.keeper.answer(ring.id, .done)
        let next = try #require(try await lab.home.reminders.record(id))
        #expect(next.completed == nil && next.due?.date == Self.start.addingTimeInterval(60 + 86_400))
        lab.clock.advance(by: .seconds(86_400))
        let second = try #require(try await lab.keeper.look().rings.first)
        #expect(second.id != ring.id)
        // It was completed in another program meanwhile: the ring must not complete the next time.
        try await lab.home.records.reminders.change(id) { $0.completed = lab.clock.time.now }
        await #expect { _ = try await lab.keeper.answer(second.id, .done) } throws: { error in
            (error as? AssistantError)?.code == .changedElsewhere
        }
        #expect(try await lab.keeper.look().ended == [second.id])
        await lab.home.database.close()
    }

    @Test func aChangedRecordEndsItsRingAndRingsAnew() async throws {
        let lab = try await Lab()
        let id = try await lab.add("Call", in: 10)
        lab.clock.advance(by: .seconds(10))
        let ring = try #require(try await lab.keeper.look().rings.first)
        let due = EventTime(lab.clock.time.now.addingTimeInterval(30), timeZone: "UTC")
        try await lab.home.records.reminders.change(id) { $0.due = due }
        #expect(try await lab.keeper.look().ended == [ring.id])
        lab.clock.advance(by: .seconds(30))
        #expect(try await lab.titles() == ["Call"])
        try await lab.home.records.reminders.remove(id)
        #expect(try await lab.keeper.look().ended.count == 1)
        #expect(await lab.keeper.open.isEmpty)
        await lab.home.database.close()
    }

    @Test func kindsThatAreSwitchedOffDoNotRing() async throws {
        let lab = try await Lab()
        try await lab.add("Call", in: 10)
        lab.clock.advance(by: .seconds(10))
        let silent = RingKeeper(lab.home, timeZone: { .gmt }) { $0 != .reminders }
        #expect(try await silent.look().rings.isEmpty)
        #expect(try await lab.titles() == ["Call"])
        await lab.home.database.close()
    }
}
