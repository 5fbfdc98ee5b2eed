import Foundation
import HearthBase
import Testing

@testable import HearthAssistant

/// Changes that the user commands outside of a conversation.
struct CommandedActionTests {
    /// A store whose change number `failing` is refused; negative for none.
    private actor FailingStore: ByteStore {
        private(set) var records: [String: Data] = [:]
        private let failing: Int
        private let canRevert: Bool
        private var count = 0

        init(failing: Int, canRevert: Bool = true) {
            self.failing = failing
            self.canRevert = canRevert
        }

        func apply(_ change: RecordChange) throws {
            defer { count += 1 }
            guard count != failing, canRevert || count <= failing else {
                throw AssistantError(.changedElsewhere, "another program has changed the record")
            }
            records[change.id] = change.after
        }

        func records(matching words: String, limit: Int) -> [Note] { [] }
        func record(_ id: String) -> Note? { nil }
        func change(of id: String, to record: Note?) -> RecordChange {
            RecordChange(store: .notes, id: id, before: nil, after: nil)
        }

        func state(of change: RecordChange) -> RecordState {
            records[change.id] == change.after ? .after : records[change.id] == change.before ? .before : .other
        }
    }

    private static let changes = ["a", "b", "c"].map {
        RecordChange(store: .notes, id: $0, before: nil, after: Data($0.utf8))
    }

    private static let time = TimeSource(clock: ContinuousClock(), now: { Date(timeIntervalSince1970: 1000) })

    private static func card() -> ActionCard { ActionCard(commanded: "Import", .note, id: "k", record: "3 notes") }

    private static func carryOut(_ journal: MemoryActionJournal, _ stores: [StoreKind: any ByteStore]) async throws {
        let runner = ActionRunner(
            registry: ActionRegistry([]), stores: stores, journal: journal, approval: DeclineAll(), time: time)
        try await runner.carryOut(card(), changes)
    }

    @Test func isDone() async throws {
        let (journal, store) = (MemoryActionJournal(), FailingStore(failing: -1))
        try await Self.carryOut(journal, [.notes: store])
        let entry = try #require(await journal.entry("k"))
        #expect(entry.state == .done && entry.card.state == .done && entry.card.canUndo && entry.card.note == nil)
        #expect(await store.records.count == 3)
    }

    @Test(arguments: 0..<3) func aRefusedChangeLeavesNothingAndTheEntrySaysSo(failing: Int) async throws {
        let (journal, store) = (MemoryActionJournal(), FailingStore(failing: failing))
        let error = await #expect(throws: AssistantError.self) {
            try await Self.carryOut(journal, [.notes: store])
        }
        #expect(error?.code == .changedElsewhere)
        let entry = try #require(await journal.entry("k"))
        #expect(entry.state == .failed && entry.card.state == .failed && !entry.card.canUndo)
        #expect(entry.card.note?.contains("another program has changed the record") == true)
        #expect(await store.records.isEmpty)
        #expect(await journal.unfinished().isEmpty)
    }

    @Test func aPartThatCannotBeRevertedIsSaid() async throws {
        let (journal, store) = (MemoryActionJournal(), FailingStore(failing: 1, canRevert: false))
        await #expect(throws: AssistantError.self) {
            try await Self.carryOut(journal, [.notes: store])
        }
        let entry = try #require(await journal.entry("k"))
        #expect(entry.state == .failed && entry.card.state == .unknown)
        #expect(entry.card.note?.contains("could not be reverted") == true)
    }

    @Test func aMissingStoreIsAFailure() async throws {
        let journal = MemoryActionJournal()
        let error = await #expect(throws: AssistantError.self) {
            try await Self.carryOut(journal, [:])
        }
        #expect(error?.code == .noSuchRecord)
        #expect(await journal.entry("k")?.state == .failed)
    }
}
