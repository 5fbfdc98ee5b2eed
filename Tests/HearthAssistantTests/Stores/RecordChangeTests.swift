import Foundation
import Testing

@testable import HearthAssistant

struct RecordChangeTests {
    @Test func undoIsTheSameRecordBackwards() {
        let change = RecordChange(store: .notes, collection: "a", id: "1", before: nil, after: Data("x".utf8))
        #expect(
            change.inverted == RecordChange(store: .notes, collection: "a", id: "1", before: Data("x".utf8), after: nil)
        )
        #expect(change.inverted.inverted == change)
    }
}
