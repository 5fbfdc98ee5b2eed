import Foundation
import HearthBase

@testable import HearthAssistant

/// Used on one thread, on which libFuzzer calls every target.
private nonisolated(unsafe) let clock = CalendarClock(deviceZone: { .gmt })

/// Reads a calendar file, lists its occurrences and changes an event. Untouched bytes stay.
func fuzzCalendar(_ data: Data) {
    guard let document = readable({ try ContentParser().parse(data) }) else { return }
    precondition(document.data == ImportedText.utf8(data), "a file changed when it was read and written")
    for name in ["VEVENT", "VTODO"] {
        guard let records = readable({ try CalendarFile.records(data, of: name) }) else { continue }
        let ids = records.map(\.id)
        precondition(Set(ids).count == ids.count, "two records have one id")
        for record in records.prefix(4) {
            let series = CalendarSeries(record: record, clock: clock)
            for found in series.occurrences(from: 1_700_000_000, until: 1_800_000_000) {
                precondition(found.begin < 1_800_000_000 && found.end >= found.begin, "an occurrence is in no period")
            }
            let changed = readable {
                try EventWriter(clock: clock, now: Date(timeIntervalSince1970: 0))
                    .change(of: record, in: data, to: EventFields(title: "New", notes: "a;b\nc"))
            }
            if let changed, name == "VEVENT", ids.count == 1 {
                let again = readable { try CalendarFile.records(changed, of: name) }
                precondition(again?.map(\.id) == ids, "a change lost the event")
            }
        }
    }
}

/// Reads a rule. A rule that is to be expanded ends.
func fuzzRecurrence(_ data: Data) {
    guard let rule = RecurrenceRule(String(decoding: data, as: UTF8.self)) else { return }
    let start = WallTime(year: 2026, month: 2, day: 28, hour: 9)
    let window = start...WallTime(seconds: start.seconds + 3000 * WallTime.daySeconds)
    guard let times = Recurrence.times(of: rule, start: start, in: window, until: nil) else { return }
    precondition(times.allSatisfy(window.contains), "a time is outside of the window")
    precondition(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "the times are not in order")
}

/// Reads a file of vCards and searches it.
func fuzzContact(_ data: Data) {
    guard let records = readable({ try VCard.contacts(data) }) else { return }
    precondition(records.allSatisfy { !$0.id.isEmpty }, "a card has no id")
    for text in ["anna", "+49 171 555", ""] {
        let query = ContactQuery(text)
        for record in records where text.isEmpty { precondition(record.rank(query) == 0, "nothing matches not all") }
        _ = records.map { $0.rank(query) }
    }
}

/// The result, or nothing for an error of the parser's kinds.
private func readable<Result>(_ body: () throws -> Result) -> Result? {
    do {
        return try body()
    } catch is ContentParser.Failure {
        return nil
    } catch is AssistantError {
        return nil
    } catch {
        preconditionFailure("an error of another kind: \(error)")
    }
}
