import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthStore

@Suite struct ReleaseStateTests {
    /// A state written as `active previous`, with `-` for none.
    private func state(_ text: String) throws -> ReleaseState {
        let parts = try text.split(separator: " ").map { part -> ReleaseIdentity? in
            part == "-" ? nil : try StoreFixture.identity(String(part), variant: nil)
        }
        return ReleaseState(active: parts[0], previous: parts[1])
    }

    @Test(arguments: [
        // recorded, link, what is true
        ("- -", "none", "- -"),
        ("- -", "1", "1 -"),
        ("1 -", "1", "1 -"),
        ("2 1", "2", "2 1"),
        ("1 -", "2", "2 1"),  // killed between the link and the record of the first update
        ("2 1", "1", "1 2"),  // killed in a rollback
        ("2 1", "3", "3 2"),
        ("- 1", "1", "1 -"),
        ("2 1", "none", "- 2"),
        ("2 1", "bad", "2 1"),
    ])
    func theLinkDecides(recorded: String, link: String, expected: String) throws {
        let link: ActiveLink =
            switch link {
            case "none": .absent
            case "bad": .unusable("it leads to /etc")
            default: .release(try StoreFixture.identity(link, variant: nil))
            }
        #expect(try state(recorded).reconciled(with: link) == state(expected))
    }

    @Test(arguments: [
        ("- -", "1", "1 -"), ("1 -", "2", "2 1"), ("2 1", "2", "2 1"), ("2 1", "1", "1 2"), ("- 1", "1", "1 -"),
        ("- 1", "2", "2 1"),
    ])
    func activatingRemembersTheWayBack(before: String, activated: String, after: String) throws {
        #expect(try state(before).activating(StoreFixture.identity(activated, variant: nil)) == state(after))
    }

    @Test(arguments: [
        ("2 1", "2", true, "1 -"), ("2 1", "2", false, "- 1"), ("2 1", "1", true, "2 -"), ("2 1", "1 2", true, "- -"),
        ("2 1", "3", true, "2 1"), ("2 -", "2", true, "- -"), ("- 1", "1", true, "- -"),
    ])
    func removingFallsBackToThePreviousOne(before: String, gone: String, isUsable: Bool, after: String) throws {
        let gone = Set(try gone.split(separator: " ").map { try StoreFixture.identity(String($0), variant: nil) })
        #expect(try state(before).removing(gone) { _ in isUsable } == state(after))
    }

    @Test func aPinGoesWithItsRelease() throws {
        let one = try StoreFixture.identity("1")
        let state = ReleaseState(active: try StoreFixture.identity("2"), previous: nil, pinned: one)
        #expect(state.removing([one]) { _ in true }.pinned == nil)
        #expect(state.activating(one).pinned == one)
    }

    @Test func whatIsWrittenIsRead() throws {
        let state = ReleaseState(
            active: try StoreFixture.identity("2"), previous: try StoreFixture.identity("1", variant: nil),
            pinned: try StoreFixture.identity("2"))
        let family = try #require(Family("tiny"))
        #expect(try ReleaseState(data: try state.data(), family: family) == state)
        #expect(try ReleaseState(data: try ReleaseState().data(), family: family) == ReleaseState())
    }

    @Test(arguments: [
        "", "{", "[]", "null", #"{"active":"1"}"#, #"{"schemaVersion":2,"active":"1"}"#,
        #"{"schemaVersion":1,"active":"../../etc"}"#, #"{"schemaVersion":1,"active":"/etc"}"#,
        #"{"schemaVersion":1,"active":".."}"#, #"{"schemaVersion":1,"active":""}"#,
        #"{"schemaVersion":1,"active":"active"}"#, #"{"schemaVersion":1,"previous":"state.json"}"#,
        #"{"schemaVersion":1,"active":".1.tmp-x"}"#, #"{"schemaVersion":1,"pinned":7}"#,
        #"{"schemaVersion":1,"active":"1\u0000"}"#, #"{"schemaVersion":1,"active":"1~q4~../x"}"#,
    ])
    func hostileRecordsAreRefused(_ text: String) throws {
        let family = try #require(Family("tiny"))
        #expect(throws: (any Error).self) { try ReleaseState(data: Data(text.utf8), family: family) }
    }
}
