import HearthAssistant
import HearthBase
import HearthDatabase

/// Examines the user's records: the database, and the files that other programs write too.
struct RecordsExamination: Sendable {
    let home: Path
    let time: TimeSource

    /// The chapter on the records; `nil` without any.
    /// - Throws: `DatabaseError`, `FileError`.
    func add(to report: inout DoctorReport) async throws {
        var facts: [DoctorReport.Fact] = []
        let file = home.appending("hearth.db")
        if try await blocking({ try LocalFileSystem().status(at: file) }) != nil {
            let database = try await AssistantDatabase.open(home: home)
            let problems = try await database.integrity()
            let conversations = try await SQLiteConversationStore(database).conversations(limit: 100_000, offset: 0)
            let notes = try await SQLiteNoteStore(database).records(matching: "", limit: 100_000)
            await database.close()
            facts.append(.init(name: "database", value: problems.isEmpty ? "whole" : "damaged"))
            facts.append(.init(name: "conversations", value: String(conversations.count)))
            facts.append(.init(name: "notes", value: String(notes.count)))
            for problem in problems.prefix(3) {
                report.problem(
                    "database-damaged", "\(file): \(problem)",
                    cure:
                        "Copy the file, export with `hearth chats export` and `hearth notes export`, then move it away."
                )
            }
        }
        let unreadable = [
            ("calendar", try await VdirCalendarStore(home: home, time: time).unreadableFiles()),
            ("reminders", try await VdirReminderStore(home: home, time: time).unreadableFiles()),
            ("contacts", try await VdirContactStore(home: home, time: time).unreadableFiles()),
        ]
        let kept = [
            ("calendar", try await VdirCalendarStore(home: home, time: time).unreadableCount()),
            ("reminders", try await VdirReminderStore(home: home, time: time).unreadableCount()),
            ("contacts", try await VdirContactStore(home: home, time: time).unreadableCount()),
        ]
        for ((folder, files), (_, count)) in zip(unreadable, kept) where count > files.count {
            facts.append(.init(name: "\(folder), imported", value: "\(count - files.count) not readable"))
        }
        for (folder, files) in unreadable where !files.isEmpty {
            facts.append(.init(name: folder, value: "\(files.count) not readable"))
            for file in files.prefix(3) {
                report.note(
                    "unusable-record", "\(home)/\(folder)/\(file)",
                    cure: "Correct the file with the program that wrote it, or move it away.")
            }
        }
        if !facts.isEmpty { report.chapters.append(DoctorReport.Chapter(title: "Your records", facts: facts)) }
    }
}
