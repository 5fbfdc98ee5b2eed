import Foundation
import HearthBase
import Testing

@testable import HearthAssistant

/// Which alarms ring: a table of alarms, of what has rung, and of the time.
struct RingPlanTests {
    private static func alarm(_ record: String, _ moment: Int, begin: Int? = nil) -> RecordAlarm {
        RecordAlarm(
            store: .reminders, record: record, collection: "personal", title: record,
            time: EventTime(Date(timeIntervalSince1970: Double(begin ?? moment))), begin: begin ?? moment,
            moment: moment)
    }

    private struct Expected {
        var rings: [String] = []
        var late: [String] = []
        var missed: [String] = []
        var gone = 0
        var next: Int?
    }

    private static func expect(
        _ alarms: [RecordAlarm], _ kept: [(RecordAlarm, KeptRing.Stage)] = [], now: Int, _ wanted: Expected,
        _ line: SourceLocation = #_sourceLocation
    ) {
        let kept = Dictionary(
            uniqueKeysWithValues: kept.map { ($0.0.id, KeptRing(stage: $0.1, moment: $0.0.moment, isLate: false)) })
        let plan = RingPlan(alarms: alarms, kept: kept, now: now)
        let names = Dictionary(alarms.map { ($0.id, "\($0.record)\($0.moment)") }) { first, _ in first }
        #expect(plan.rings.map { names[$0.id] ?? "" } == wanted.rings, sourceLocation: line)
        #expect(plan.rings.filter(\.isLate).map { names[$0.id] ?? "" } == wanted.late, sourceLocation: line)
        #expect(plan.missed.compactMap { names[$0] }.sorted() == wanted.missed, sourceLocation: line)
        #expect(plan.gone.count == wanted.gone, sourceLocation: line)
        #expect(plan.next == wanted.next, sourceLocation: line)
    }

    @Test func ringsWhenItIsTime() {
        let a = Self.alarm("a", 100)
        Self.expect([a], now: 99, Expected(next: 100))
        Self.expect([a], now: 100, Expected(rings: ["a100"]))
        Self.expect([a], now: 220, Expected(rings: ["a100"]))
        Self.expect([a], now: 221, Expected(rings: ["a100"], late: ["a100"]))
    }

    @Test func ringsOnce() {
        let a = Self.alarm("a", 100)
        for state in [KeptRing.Stage.open, .ended] { Self.expect([a], [(a, state)], now: 5000, Expected()) }
        // Another due time is another alarm.
        let moved = Self.alarm("a", 400)
        Self.expect([moved], [(a, .ended)], now: 400, Expected(rings: ["a400"]))
        Self.expect([moved], [(a, .open)], now: 300, Expected(gone: 1, next: 400))
    }

    @Test func ringsAgainAfterASnooze() {
        let a = Self.alarm("a", 100)
        Self.expect([a], [(a, .snoozed(until: 700))], now: 699, Expected(next: 700))
        Self.expect([a], [(a, .snoozed(until: 700))], now: 700, Expected(rings: ["a100"]))
        Self.expect([a], [(a, .snoozed(until: 700))], now: 900, Expected(rings: ["a100"], late: ["a100"]))
        Self.expect([], [(a, .snoozed(until: 700))], now: 700, Expected(gone: 1))
    }

    @Test func aFewLateOnesRingAndTheRestIsCounted() {
        let alarms = (1...8).map { Self.alarm("r\($0)", $0 * 10) }
        Self.expect(
            alarms, now: 10_000,
            Expected(
                rings: ["r440", "r550", "r660", "r770", "r880"], late: ["r440", "r550", "r660", "r770", "r880"],
                missed: ["r110", "r220", "r330"]))
        // Those in time ring all.
        Self.expect(alarms, now: 80, Expected(rings: (1...8).map { "r\($0)\($0 * 10)" }))
    }

    @Test func ofARecordThatFellDueOftenTheLastTimeRings() {
        let daily = (1...4).map { Self.alarm("d", $0 * 1000) }
        Self.expect(
            daily, now: 10_000, Expected(rings: ["d4000"], late: ["d4000"], missed: ["d1000", "d2000", "d3000"]))
    }

    @Test(arguments: [
        (RingSnooze.tenMinutes, "2026-11-24T12:10:00Z"), (.oneHour, "2026-11-24T13:00:00Z"),
        // Nine o'clock in Berlin.
        (.tomorrow, "2026-11-25T08:00:00Z"),
    ])
    func snoozesEnd(snooze: RingSnooze, end: String) throws {
        let now = try Date("2026-11-24T12:00:00Z", strategy: .iso8601)
        let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
        let wanted = try Date(end, strategy: .iso8601)
        #expect(snooze.end(from: now, in: berlin) == wanted)
    }

    @Test func wordsOfTheDesktop() throws {
        let now = try Date("2026-11-24T12:00:00Z", strategy: .iso8601)
        let utc = try #require(TimeZone(identifier: "UTC"))
        var alarm = Self.alarm("Call <b>Anna</b>\u{202E}", 1_795_521_600)
        let german = RingWords(environment: ["LANG": "de_DE.UTF-8"], timeZone: { utc })
        let english = RingWords(environment: ["LANG": "en_GB.UTF-8"], timeZone: { utc })
        let ring = Ring(alarm, rings: alarm.moment, isLate: true)
        #expect(english.title(ring) == "Call <b>Anna</b>‹U+202E›")
        #expect(english.body(ring, now: now) == "Reminder: 12:00, late")
        #expect(german.body(ring, now: now) == "Erinnerung: 12:00, verspätet")
        alarm.source = "reminders team"
        alarm.collection = "team"
        let other = Ring(alarm, rings: alarm.moment, isLate: false)
        #expect(english.title(other) == "Reminder")
        #expect(english.body(other, now: now) == "Reminder (team): 12:00")
    }
}
