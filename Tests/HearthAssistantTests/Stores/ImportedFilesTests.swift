import Foundation
import HearthBase
import HearthDatabase
import Testing

@testable import HearthAssistant

/// The side of Hearth in `scripts/stores/imported.py`, which compares what an import of each file stores with what other
/// programs make of it.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["HEARTH_IMPORTED"] != nil))
struct ImportedFilesTests {
    private struct Entry: Encodable {
        var store: String
        var title: String
        var start: String?
        var end: String?
        var isDone = false
    }

    private struct Outcome: Encodable {
        let name: String
        var error: String?
        var first: RecordFileImport?
        var second: RecordFileImport?
        var entries: [Entry] = []
        var contacts: [Contact] = []
        var problems: [RecordProblem] = []
    }

    /// Imports each file of the folder `cases` twice into a home of its own in `homes`, and writes `outcomes.json`.
    @Test func importsEachFile() async throws {
        let folder = Path(try #require(ProcessInfo.processInfo.environment["HEARTH_IMPORTED"]))
        let disk = LocalFileSystem()
        var outcomes: [Outcome] = []
        for name in try disk.contents(of: folder.joined("cases")).sorted() {
            let data = try disk.contents(ofFile: folder.joined("cases").joined(name), limit: 1 << 26)
            outcomes.append(try await outcome(name, data, home: folder.joined("homes").joined(name)))
        }
        #expect(!outcomes.isEmpty)
        try disk.replaceContents(of: folder.joined("outcomes.json"), with: try JSONEncoder().encode(outcomes))
    }

    private func outcome(_ name: String, _ data: Data, home: Path) async throws -> Outcome {
        let opened = try await AssistantHome(path: home, time: CalendarFixture.time)
        let records = opened.records
        var outcome = Outcome(name: name)
        do {
            outcome.first = try await records.importFile(data)
            outcome.second = try await records.importFile(data)
            outcome.entries = try await entries(records)
            outcome.contacts = try await records.contacts.find(limit: .max)
            outcome.problems =
                try await records.events.problems() + records.reminders.problems() + records.contacts.problems()
            for (store, export) in [
                ("calendar", records.events.export), ("reminders", records.reminders.export),
                ("contacts", records.contacts.export),
            ] {
                try LocalFileSystem().replaceContents(of: home.joined("\(store).export"), with: try await export())
            }
        } catch let error as AssistantError {
            outcome.error = error.code.rawValue
        }
        await opened.database.close()
        return outcome
    }

    /// The occurrences of three years, and the reminders.
    private func entries(_ records: Records) async throws -> [Entry] {
        let (from, until) = (
            try CalendarFixture.date("2025-01-01T00:00:00Z"), try CalendarFixture.date("2028-01-01T00:00:00Z")
        )
        let occurrences = try await records.stores.calendar?.occurrences(from: from, until: until, limit: 20_000) ?? []
        let events = occurrences.map { occurrence in
            Entry(
                store: "calendar", title: occurrence.event.displayName, start: occurrence.start.text,
                end: occurrence.end.text)
        }
        let reminders = try await records.reminders.store.reminders(completed: true, limit: .max)
        return events
            + reminders.map { reminder in
                Entry(
                    store: "reminders", title: reminder.title, end: reminder.due?.text,
                    isDone: reminder.completed != nil)
            }
    }
}
