import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthStore

/// What a start makes of what it finds, on values alone.
@Suite struct RecoveryTests {
    private static let date = Date(timeIntervalSince1970: 1_800_000_000)

    /// One case: the state as `active previous probation held`, the marks as `stage:release`, what is whole, and what follows:
    /// the state, the marks that stay, and a rollback that is to be made. A mark may say when it was made, `@second`, and which
    /// process made it, `#number`; else they were made at the same time by processes of their own.
    struct Case: Sendable {
        var state: String
        var marks: [String]
        var whole = "1 2 3"
        var after: String
        var stay: [String] = []
        var rollback: String?
        var hasBundled = false
    }

    private static let cases: [Case] = [
        Case(state: "2 1 - -", marks: [], after: "2 1 - -"),
        // Nothing had changed.
        Case(state: "1 - - -", marks: ["verify:2", "prepare:2", "?:2"], after: "1 - - -"),
        // One end in a probe is no proof, two are.
        Case(state: "1 - - -", marks: ["probe:2"], after: "1 - - -", stay: ["probe:2"]),
        Case(state: "1 - - -", marks: ["probe:2", "probe:2"], after: "1 - - 2"),
        Case(
            state: "1 - - -", marks: ["probe:2#7", "probe:2#7"], after: "1 - - -", stay: ["probe:2#7", "probe:2#7"]),
        Case(state: "1 - - -", marks: ["probe:2", "probe:3"], after: "1 - - -", stay: ["probe:2", "probe:3"]),
        Case(state: "2 1 - -", marks: ["probe:2"], after: "2 1 - -"),
        Case(state: "1 - - 2", marks: ["probe:2"], after: "1 - - 2"),
        // A switch is finished, at whichever half it ended.
        Case(state: "1 - - -", marks: ["commit:2"], after: "2 1 2 -"),
        Case(state: "2 1 - -", marks: ["commit:2"], after: "2 1 2 -"),
        Case(state: "2 1 2 -", marks: ["commit:2"], after: "2 1 2 -"),
        // It was held back, and somebody took it all the same.
        Case(state: "2 1 - 2", marks: ["commit:2"], after: "2 1 2 -"),
        // It never came to the link, or somebody has gone back from it since.
        Case(state: "1 - - 2", marks: ["commit:2"], after: "1 - - 2"),
        Case(state: "- - - 2", marks: ["commit:2"], after: "- - - 2"),
        Case(state: "1 - - -", marks: ["commit:2"], whole: "1", after: "1 - - -"),
        Case(state: "- - - -", marks: ["commit:2"], after: "2 - 2 -"),
        // The way back is gone to its end.
        Case(state: "2 1 2 -", marks: ["rollback:2>1"], after: "1 - - 2"),
        Case(state: "1 2 - -", marks: ["rollback:2>1"], after: "1 - - 2"),
        Case(state: "1 - - 2", marks: ["rollback:2>1"], after: "1 - - 2"),
        Case(state: "3 2 - -", marks: ["rollback:2>1"], after: "3 2 - -"),
        // It was taken into use again since.
        Case(state: "2 1 - 2", marks: ["rollback:2>1"], after: "2 1 - 2"),
        Case(state: "2 1 2 -", marks: ["rollback:2>1"], whole: "2", after: "2 1 2 -"),
        Case(state: "2 1 2 -", marks: ["rollback:2>../x"], after: "2 1 2 -"),
        Case(state: "2 1 2 -", marks: ["rollback:2>2"], after: "2 1 2 -"),
        // The latest decision overtakes what was decided before, whatever of that came to the disk.
        Case(state: "1 - - -", marks: ["commit:2@1", "commit:3@2"], after: "3 1 3 -"),
        Case(state: "1 - - -", marks: ["commit:3@2", "commit:2@1"], after: "3 1 3 -"),
        Case(state: "2 1 - -", marks: ["commit:2@1", "commit:3@2"], after: "3 2 3 -"),
        Case(state: "1 2 - -", marks: ["rollback:2>1@1", "commit:2@2"], after: "2 1 2 -"),
        Case(state: "2 1 2 -", marks: ["rollback:2>1@1", "commit:2@2"], after: "2 1 2 -"),
        Case(state: "2 1 - -", marks: ["commit:2@1", "rollback:2>1@2"], after: "1 - - 2"),
        Case(state: "3 1 3 -", marks: ["commit:2@1", "commit:3@2"], after: "3 1 3 -"),
        // Two ends inside of load and generate, while on probation.
        Case(state: "2 1 2 -", marks: ["load:2"], after: "2 1 2 -", stay: ["load:2"]),
        Case(
            state: "2 1 2 -", marks: ["load:2", "generate:2"], after: "2 1 2 -", stay: ["load:2", "generate:2"],
            rollback: "2>1"),
        Case(
            state: "2 1 2 -", marks: ["generate:2#7", "load:2#7", "generate:2#7"], after: "2 1 2 -",
            stay: ["generate:2#7", "load:2#7", "generate:2#7"]),
        Case(
            state: "2 1 2 -", marks: ["generate:2#7", "generate:2#7", "generate:2#8"], after: "2 1 2 -",
            stay: ["generate:2#7", "generate:2#7", "generate:2#8"], rollback: "2>1"),
        Case(
            state: "2 1 2 -", marks: ["generate:2", "generate:2"], whole: "2", after: "2 1 2 -",
            stay: ["generate:2", "generate:2"]),
        Case(
            state: "2 - 2 -", marks: ["load:2", "load:2"], after: "2 - 2 -", stay: ["load:2", "load:2"]),
        Case(state: "2 1 - -", marks: ["load:2", "load:2"], after: "2 1 - -"),
        Case(state: "2 1 2 -", marks: ["load:1", "load:2"], after: "2 1 2 -", stay: ["load:2"]),
        Case(state: "1 - - 2", marks: ["load:2", "load:2"], after: "1 - - 2"),
        // With nothing before it the first release stays, unless a model came with the app.
        Case(state: "1 - 1 -", marks: ["load:1", "load:1"], after: "1 - 1 -", stay: ["load:1", "load:1"]),
        Case(
            state: "1 - 1 -", marks: ["load:1", "load:1"], after: "1 - 1 -", stay: ["load:1", "load:1"],
            rollback: "1>bundled", hasBundled: true),
        Case(
            state: "2 1 2 -", marks: ["load:2", "load:2"], after: "2 1 2 -", stay: ["load:2", "load:2"],
            rollback: "2>1", hasBundled: true),
        // A way back to it that was interrupted before the link was gone, and after.
        Case(state: "1 - 1 -", marks: ["rollback:1"], after: "- - - 1", hasBundled: true),
        Case(state: "- 1 - -", marks: ["rollback:1"], after: "- - - 1", hasBundled: true),
        Case(state: "2 1 - -", marks: ["rollback:1"], after: "2 1 - -", hasBundled: true),
        // Where nothing came with the app, the release stays, or comes back on probation.
        Case(state: "1 - 1 -", marks: ["rollback:1"], after: "1 - 1 -"),
        Case(state: "- 1 - -", marks: ["rollback:1"], after: "1 - 1 -"),
        Case(state: "- 1 - -", marks: ["rollback:1"], whole: "2", after: "- 1 - -"),
        Case(state: "- - - 1", marks: ["rollback:1"], after: "- - - 1"),
        Case(
            state: "- 1 - -", marks: ["rollback:1", "load:1", "load:1"], after: "1 - 1 -", stay: ["load:1", "load:1"]),
    ]

    private func identity(_ name: String) throws -> ReleaseIdentity? {
        name == "-" ? nil : try StoreFixture.identity(name, variant: nil)
    }

    private func state(_ text: String) throws -> ReleaseState {
        let words = try text.split(separator: " ").map { try identity(String($0)) }
        return ReleaseState(
            active: words[0], previous: words[1], probation: words[2].map { Probation(of: $0, began: Self.date) },
            heldBack: words[3].map { [HeldBack($0, reason: "r", since: Self.date)] } ?? [])
    }

    private func mark(_ text: String, at index: Int) throws -> MarkFiles.Found {
        let match = try #require(try /(.+):([^>@#]+)(?:>([^@#]+))?(?:@(\d+))?(?:#(\d+))?/.wholeMatch(in: text))
        let date = Self.date.addingTimeInterval(match.4.flatMap { Double($0) } ?? 0)
        var mark = ActivityMark.Stage(rawValue: String(match.1)).map {
            ActivityMark($0, at: date, target: match.3.map(String.init), reason: "r")
        }
        mark?.process = ProcessIdentity(
            number: match.5.flatMap { Int32($0) } ?? Int32(100 + index), started: "0", boot: "b", space: "")
        return MarkFiles.Found(
            release: try #require(try identity(String(match.2))), token: "\(index)", mark: mark)
    }

    @Test func everyMarkHasItsConsequence() throws {
        for (number, row) in Self.cases.enumerated() {
            let left = try row.marks.enumerated().map { try mark($1, at: $0) }
            let whole = Set(try row.whole.split(separator: " ").map { try identity(String($0)) })
            let before = try state(row.state)
            let recovery = Recovery(before, left: left, hasBundled: row.hasBundled, at: Self.date) {
                whole.contains($0)
            }
            let note = "case \(number): \(row)"
            func shown(_ state: ReleaseState) -> String {
                [
                    state.active, state.previous, state.probation?.release, state.heldBack.first?.release,
                ].map { $0?.version.name ?? "-" }.joined(separator: " ")
            }
            #expect(shown(recovery.state) == row.after, "\(note)")
            let done = Set(recovery.done.map(\.token))
            let stay = row.marks.enumerated().filter { !done.contains("\($0.offset)") }.map(\.element)
            #expect(stay == row.stay, "\(note)")
            #expect(
                recovery.rollback.map { "\($0.from.version)>\($0.to?.version.name ?? "bundled")" } == row.rollback,
                "\(note)")
        }
    }

    /// What was decided and is not done any more is said, with the reason; what is done already is not said again.
    @Test func whatIsNotFinishedIsTold() throws {
        let rows: [(state: String, mark: String, hasBundled: Bool, note: String?)] = [
            ("1 - - 2", "commit:2", false, "2 is held back and does not become live"),
            ("1 - - -", "commit:9", false, "9 was to become live and is no longer whole"),
            ("3 2 - -", "rollback:2>1", false, "3 is live since"),
            ("- 1 - -", "rollback:2>1", false, "nothing is live"),
            ("2 9 2 -", "rollback:2>9", false, "9 is no longer whole"),
            ("2 1 2 -", "rollback:2>../x", false, "it led nowhere"),
            ("2 1 2 -", "rollback:2>2", false, "it led nowhere"),
            ("2 1 - -", "rollback:1", true, "2 is live since"),
            ("1 - 1 -", "rollback:1", false, "nothing came with it"),
            ("- 9 - -", "rollback:9", false, "9 is no longer whole"),
            ("1 - - 2", "rollback:2>1", false, nil), ("- - - 1", "rollback:1", true, nil),
            ("2 1 2 -", "commit:2", false, nil),
        ]
        for row in rows {
            let before = try state(row.state)
            let nine = try identity("9")
            let recovery = Recovery(
                before, left: [try mark(row.mark, at: 0)], hasBundled: row.hasBundled, at: Self.date
            ) { $0 != nine }
            #expect(recovery.state == before && recovery.done.count == 1, "\(row)")
            let told = recovery.notes.joined().replacing("tiny@", with: "")
            #expect(row.note.map { told.hasSuffix($0) } ?? told.isEmpty, "\(row): \(told)")
        }
    }

    @Test func aFinishedSwitchLeavesItsProbationAlone() throws {
        var before = try state("2 1 2 -")
        before.probation?.answers = 2
        let two = try #require(try identity("2"))
        let left = MarkFiles.Found(release: two, token: "0", mark: ActivityMark(.commit, at: Self.date))
        let recovery = Recovery(before, left: [left], at: Self.date.addingTimeInterval(60)) { _ in true }
        #expect(recovery.state == before && recovery.done == [left] && recovery.notes.isEmpty)
    }

    @Test func onlyAMarkWhoseProcessIsGoneCounts() {
        var mark = ActivityMark(.load, at: Self.date)
        #expect(!mark.isLeft(at: Self.date, isRunning: { _ in true }))
        #expect(mark.isLeft(at: Self.date, isRunning: { _ in false }))
        // One of another container: too old to be true, or nothing.
        let old = Self.date.addingTimeInterval(ActivityMark.lifetime.seconds + 1)
        #expect(!mark.isLeft(at: Self.date, isRunning: { _ in nil }))
        #expect(mark.isLeft(at: old, isRunning: { _ in nil }))
        // One of another boot.
        mark.process = ProcessIdentity(number: 7, started: "1", boot: "another", space: mark.process.space)
        #expect(mark.isLeft(at: Self.date, isRunning: { $0.isRunning }))
        #expect(!ActivityMark(.load, at: Self.date).isLeft(at: old, isRunning: { $0.isRunning }), "this process runs")
    }

    @Test func aClaimOfAnotherPurposeIsNoMark() {
        #expect(ActivityMark(Claim(at: Self.date)) == nil)
        #expect(ActivityMark(Claim(at: Self.date, purpose: "dance")) == nil)
    }

    @Test func whatIsWrittenIsRead() throws {
        let mark = ActivityMark(.rollback, at: Self.date, target: "1.0.0~q4", reason: "bad\n")
        #expect(mark.reason == "bad ")
        #expect(ActivityMark(try Claim(data: try mark.claim.padded())) == mark)
    }
}
