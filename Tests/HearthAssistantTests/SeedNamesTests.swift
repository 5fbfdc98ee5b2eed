import Foundation
import Testing

@testable import HearthAssistant

/// Calls by the names of seed 001, as its readers write them.
@Suite struct SeedNamesTests {
    /// An app's own notes.
    private actor Notes: NotesStore {
        private var notes: [String: Note] = [:]

        func records(matching words: String, limit: Int) -> [Note] { Array(notes.values.prefix(limit)) }

        func record(_ id: String) -> Note? { notes[id] }

        func write(_ note: Note?, id: String) { notes[id] = note }
    }

    @Test func anAppGivesItsOwnNotes() async throws {
        let notes: any NotesStore = Notes()
        try await notes.write(Note(id: "1", title: "Plumber"), id: "1")
        let stores = AssistantStores(notes: notes)
        #expect(try await stores.notes?.record("1")?.title == "Plumber")
        let contacts: (any ContactsService)? = stores.contacts
        #expect(contacts == nil)
    }
}
