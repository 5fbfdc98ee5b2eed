import Foundation
import HearthBase

/// The counts of an imported file, by kind. A kind that the file does not have is `nil`.
public struct RecordFileImport: Sendable, Hashable, Codable {
    public var events: RecordImport?
    public var reminders: RecordImport?
    public var contacts: RecordImport?
}

extension Records {
    /// The most records that one file adds or replaces.
    public static var fileLimit: Int { 10_000 }

    /// Adds the events and reminders of an iCalendar file, or the contacts of a file of vCards; the first component tells
    /// which. Records of known ids are replaced, and equal ones stay, so that a second import of a file changes nothing.
    /// - Throws: ``AssistantError``, in which case nothing is changed: `unusable-record` for other files and for files of more
    ///   than 64 MiB, `too-many-records` for more than ``fileLimit`` records. Errors of the stores and the journal;
    ///   events that were written before the reminders failed are taken back.
    @discardableResult
    public func importFile(_ data: Data) async throws -> RecordFileImport {
        let text = ImportedText.utf8(data)
        // A series has a component for each changed occurrence.
        let counts = ImportedText.counts(in: text)
        let records = max(0, counts.components - counts.occurrences)
        guard records <= Self.fileLimit, counts.components <= 4 * Self.fileLimit else {
            throw Self.tooMany(max(records, counts.components / 4))
        }
        let head = String(decoding: text.prefix(4096), as: UTF8.self).uppercased().replacing("\r\n", with: "\n")
            .replacing("\n ", with: "")
        let beginnings = ["BEGIN:VCARD", "BEGIN:VCALENDAR"].map { head.firstRange(of: $0)?.lowerBound ?? head.endIndex }
        if beginnings[0] < beginnings[1] {
            let plan = try await contacts.store.importing(text)
            try Self.check([plan])
            return RecordFileImport(contacts: try await contacts.carryOut(plan))
        }
        guard beginnings[1] < head.endIndex else {
            throw AssistantError(
                .unusableRecord, "the file is neither iCalendar nor vCard",
                context: ErrorContext(expected: "a file that begins with BEGIN:VCALENDAR or BEGIN:VCARD"))
        }
        // Both kinds are read before the first is written.
        var newEvents = try await events.store.importing(text)
        var newReminders = try await reminders.store.importing(text)
        try Self.check([newEvents, newReminders])
        // Each takes what is of another kind for the other.
        newEvents.other.removeAll { $0.store == .reminders }
        newReminders.other = newEvents.isEmpty ? newEvents.other : []
        guard !newEvents.isEmpty || !newReminders.isEmpty else {
            throw AssistantError(.unusableRecord, "the iCalendar file has neither events nor reminders")
        }
        var done = RecordFileImport()
        if !newEvents.isEmpty { done.events = try await events.carryOut(newEvents) }
        guard !newReminders.isEmpty else { return done }
        do {
            done.reminders = try await reminders.carryOut(newReminders)
        } catch {
            if let action = done.events?.action { await takeBack(action) }
            throw error
        }
        return done
    }

    /// Takes an action back, also if the caller has gone.
    private func takeBack(_ action: String) async {
        let work = Task { _ = try await undo(action) }
        if case .failure(let error) = await work.result {
            Log.write(.error, "a half imported file cannot be taken back", [.error(error)])
        }
    }

    private static func check(_ plans: [RecordImportPlan]) throws {
        let count = plans.reduce(0) { $0 + $1.changes.count + $1.kept.count }
        guard count <= fileLimit else { throw tooMany(count) }
    }

    private static func tooMany(_ count: Int) -> AssistantError {
        AssistantError(
            .tooManyRecords, "the file has \(count) records; one import takes at most \(fileLimit)",
            context: ErrorContext(
                expected: "\(fileLimit)", found: "\(count)", remedy: "Split the file and import its parts."))
    }
}
