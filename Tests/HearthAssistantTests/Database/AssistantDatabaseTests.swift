import Foundation
import HearthBase
import HearthDatabase
import HearthTestSupport
import Testing

@testable import HearthAssistant

@Suite struct AssistantDatabaseTests {
    @Test func aHomeGetsItsFile() async throws {
        let folder = try TemporaryFolder()
        let database = try await AssistantDatabase.open(home: folder.path("home"))
        #expect(database.path == folder.path("home/hearth.db"))
        #expect(try await database.integrity() == [])
        await database.close()
        let again = try await AssistantDatabase.open(home: folder.path("home"))
        #expect(try await again.integrity() == [])
    }

    @Test func theJournalsTableKeepsAnAction() async throws {
        let database = try await AssistantDatabase.open(home: nil)
        let texts = ["key", "c", "m", "NOTE_ACTION", "done", "{}", "[]"]
        let row = texts.map { SQLValue.text($0) } + [.double(1), .double(2)]
        try await database.writeDurably { connection in
            try connection.run("INSERT INTO action_journal VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)", row)
        }
        #expect(try await database.read { try $0.rows("SELECT * FROM action_journal") } == [row])
    }
}
