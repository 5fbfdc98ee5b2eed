import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthStore

@Suite struct ProbationTests {
    private static let date = Date(timeIntervalSince1970: 1_800_000_000)

    private func probation(_ answers: Int, _ seconds: Double) throws -> Probation {
        Probation(of: try StoreFixture.identity("2.0.0"), began: Self.date, answers: answers, seconds: seconds)
    }

    @Test(
        arguments: [
            // answers, seconds, event, what follows: answers and seconds, passed or failed
            (0, 0, Probation.Event.answered(seconds: 2), "1 2.0"), (1, 5, .answered(seconds: 2), "2 7.0"),
            (2, 5, .answered(seconds: 2), "passed"), (0, 0, .used(seconds: 599.9), "0 599.9"),
            (0, 0, .used(seconds: 600), "passed"), (0, 599, .used(seconds: 1), "passed"),
            (1, 599, .answered(seconds: 1), "passed"), (0, 10, .used(seconds: -5), "0 10.0"),
            (0, 10, .used(seconds: .nan), "0 10.0"), (0, 10, .used(seconds: .infinity), "0 10.0"),
            (0, 0, .answered(seconds: .nan), "1 0.0"), (2, 1, .started(uncleanEnds: 0), "2 1.0"),
            (2, 1, .started(uncleanEnds: 1), "2 1.0"), (2, 1, .started(uncleanEnds: 2), "failed"),
            (0, 0, .started(uncleanEnds: 7), "failed"), (.max, 0, .answered(seconds: 1), "passed"),
        ] as [(Int, Double, Probation.Event, String)])
    func everyEventHasItsConsequence(
        _ answers: Int, _ seconds: Double, _ event: Probation.Event, _ expected: String
    ) throws {
        let text =
            switch try probation(answers, seconds).after(event) {
            case .continues(let next): "\(next.answers) \(next.seconds)"
            case .passed: "passed"
            case .failed: "failed"
            }
        #expect(text == expected)
    }

    @Test func reasonsAreKeptShortAndHarmless() throws {
        let held = HeldBack(
            try StoreFixture.identity(), reason: "a\u{1B}[31m\nb\u{202E}" + String(repeating: "ö", count: 600),
            since: Self.date)
        #expect(held.reason.hasPrefix("a [31m b "))
        #expect(held.reason.utf8.count <= HeldBack.maximumReasonBytes)
        let longest = String(repeating: "a", count: HeldBack.maximumReasonBytes)
        #expect(HeldBack.bounded(longest) == longest)
        #expect(HeldBack.bounded(longest + "a") == longest)
    }

    @Test func timesAreKeptInWholeSeconds() throws {
        let late = Self.date.addingTimeInterval(0.7)
        #expect(Probation(of: try identity("1.0.0"), began: late).began == Self.date)
        #expect(HeldBack(try identity("1.0.0"), reason: "r", since: late).since == Self.date)
    }

    // MARK: - What is recorded

    private func identity(_ version: String) throws -> ReleaseIdentity { try StoreFixture.identity(version) }

    @Test func aCommitBeginsAProbationAndForgetsWhatIsOlder() throws {
        let state = ReleaseState(
            active: try identity("2.0.0"), previous: try identity("1.0.0"),
            heldBack: try ["2.1.0", "3.0.0", "4.0.0", "abc"].map {
                HeldBack(try identity($0), reason: "r", since: Self.date)
            })
        let next = state.committing(try identity("3.0.0"), at: Self.date)
        #expect(try next.active == identity("3.0.0"))
        #expect(try next.previous == identity("2.0.0"))
        #expect(try next.probation == Probation(of: identity("3.0.0"), began: Self.date))
        #expect(next.heldBack.map(\.release.version.name) == ["4.0.0", "abc"])
        var onTheWay = next
        onTheWay.probation?.answers = 2
        #expect(try onTheWay.committing(identity("3.0.0"), at: Self.date) == onTheWay, "it goes on as it was")
    }

    @Test func aRollbackHoldsBackAndUsesTheWayBackUp() throws {
        var state = ReleaseState(
            active: try identity("2.0.0"), previous: try identity("1.0.0"), pinned: try identity("2.0.0"))
        state.probation = Probation(of: try identity("2.0.0"), began: Self.date)
        let next = state.rolledBack(to: try identity("1.0.0"), because: "bad", at: Self.date)
        #expect(try next.active == identity("1.0.0"))
        #expect(next.previous == nil && next.probation == nil && next.pinned == nil)
        #expect(try next.isHeldBack(identity("2.0.0")))
        #expect(try next.heldBack(identity("2.0.0"))?.reason == "bad")
        #expect(try !next.isHeldBack(identity("1.0.0")))
        let retired = state.rolledBack(to: nil, because: "bad", at: Self.date)
        #expect(
            retired == ReleaseState(heldBack: [HeldBack(try identity("2.0.0"), reason: "bad", since: Self.date)]),
            "to what came with the app")
        // A pin on another release is none of its business.
        state.pinned = try identity("3.0.0")
        #expect(try state.rolledBack(to: nil, because: "bad", at: Self.date).pinned == identity("3.0.0"))
        #expect(
            try state.rolledBack(to: identity("1.0.0"), because: "bad", at: Self.date).pinned == identity("3.0.0"))
    }

    private func held(_ versions: String..., reason: String = "r") throws -> [HeldBack] {
        try versions.map { HeldBack(try identity($0), reason: reason, since: Self.date) }
    }

    /// By whichever way a release becomes live, it and what is older are held back no more.
    @Test func whatIsLiveIsNotHeldBack() throws {
        var state = ReleaseState(active: try identity("1.0.0"), heldBack: try held("2.0.0", "3.0.0", "4.0.0"))
        #expect(try state.activating(identity("3.0.0")).heldBack.map(\.release.version.name) == ["4.0.0"])
        state.active = try identity("3.0.0")
        #expect(
            try state.committing(identity("3.0.0"), at: Self.date).heldBack.map(\.release.version.name) == ["4.0.0"])
        let back = try state.rolledBack(to: identity("2.0.0"), because: "bad", at: Self.date)
        #expect(back.heldBack.map(\.release.version.name) == ["4.0.0", "3.0.0"])
        let same = try state.rolledBack(to: identity("3.0.0"), because: "bad", at: Self.date)
        #expect(same.heldBack.map(\.release.version.name) == ["2.0.0", "4.0.0"], "it gave way to nothing")
    }

    @Test func theLastReasonIsTheOneThatIsTold() throws {
        var state = ReleaseState(heldBack: try held("1.0.0", reason: "first") + held("1.0.0", reason: "then"))
        #expect(try state.heldBack(identity("1.0.0"))?.reason == "then")
        state = try state.holdingBack(identity("1.0.0"), because: "last", at: Self.date)
        #expect(state.heldBack.map(\.reason) == ["last"])
    }

    @Test func onlyWhatIsLiveIsOnProbation() throws {
        var state = ReleaseState(active: try identity("2.0.0"), previous: try identity("1.0.0"))
        state.probation = Probation(of: try identity("2.0.0"), began: Self.date)
        #expect(try state.activating(identity("3.0.0")).probation == nil)
        #expect(try state.activating(identity("2.0.0")).probation != nil)
        #expect(try state.removing([identity("2.0.0")]) { _ in true }.probation == nil)
        #expect(try state.removing([identity("1.0.0")]) { _ in true }.probation != nil)
    }

    @Test func aPinHoldsAgainstOthersOnly() throws {
        var state = ReleaseState()
        #expect(try !state.isPinned(against: identity("1.0.0")))
        state.pinned = try identity("1.0.0")
        #expect(try !state.isPinned(against: identity("1.0.0")))
        #expect(try state.isPinned(against: identity("2.0.0")))
    }

    @Test func theMemoryOfWhatFailedIsBounded() throws {
        var state = ReleaseState()
        for number in 0..<40 {
            state = state.holdingBack(try identity("1.0.\(number)"), because: "r", at: Self.date)
        }
        #expect(state.heldBack.count == HeldBack.maximumCount)
        #expect(try state.isHeldBack(identity("1.0.39")))
    }

    /// Other bytes of a held-back release have an identity of their own.
    @Test func otherBytesAreNotHeldBack() throws {
        let plain = try identity("2.0.0")
        let bad = plain.tagged(try #require(ContentTag("0badbad0")))
        let good = plain.tagged(try #require(ContentTag("00000001")))
        var state = ReleaseState(active: try identity("1.0.0"))
        state = state.holdingBack(bad, because: "bad", at: Self.date)
        #expect(state.isHeldBack(bad) && !state.isHeldBack(good) && !state.isHeldBack(plain))
        #expect(state.heldBackVersions == [bad])
        #expect(state.activating(good).heldBackVersions.isEmpty, "the version is in use")
        #expect(state.activating(good).isHeldBack(bad))
    }

    /// The longest names and reasons, with nothing but what takes an escape each: the file is read again.
    @Test func theLargestRecordIsRead() throws {
        let family = try #require(Family("tiny"))
        let name = String(repeating: "1", count: 60)
        let release = ReleaseIdentity(
            family: family, version: try #require(ReleaseVersion(name)), variant: Variant(name),
            content: ContentTag("1a2b3c4d"))
        var state = ReleaseState(active: release, previous: release, pinned: release)
        for _ in 0..<40 {
            let reason = String(repeating: "\"", count: 1000)
            state.heldBack.append(HeldBack(release, reason: reason, since: Self.date))
        }
        state.heldBack = Array(state.heldBack.suffix(HeldBack.maximumCount))
        let data = try state.data()
        #expect(data.count <= ReleaseState.sizeLimit && data.count > 16_000)
        #expect(try ReleaseState(data: data, family: family) == state)
    }

    @Test func theLinkTakesTheProbationAlong() throws {
        var state = ReleaseState(active: try identity("2.0.0"), previous: try identity("1.0.0"))
        state.probation = Probation(of: try identity("2.0.0"), began: Self.date)
        #expect(state.reconciled(with: .release(try identity("2.0.0"))) == state)
        #expect(state.reconciled(with: .release(try identity("1.0.0"))).probation == nil)
        #expect(state.reconciled(with: .absent).probation == nil)
    }

    @Test func whatIsWrittenIsRead() throws {
        var state = ReleaseState(active: try identity("2.0.0"), pinned: try identity("2.0.0"))
        state.probation = Probation(of: try identity("2.0.0"), began: Self.date, answers: 2, seconds: 12.25)
        state.heldBack = [HeldBack(try identity("3.0.0"), reason: "no answer", since: Self.date)]
        let tagged = try identity("2.0.0").tagged(try #require(ContentTag("1a2b3c4d")))
        state = state.holdingBack(tagged, because: "bad", at: Self.date)
        let family = try #require(Family("tiny"))
        #expect(try ReleaseState(data: try state.data(), family: family) == state)
        let old = Data(#"{"schemaVersion":1,"active":"2.0.0~q4","previous":"1.0.0~q4"}"#.utf8)
        #expect(
            try ReleaseState(data: old, family: family)
                == ReleaseState(active: identity("2.0.0"), previous: identity("1.0.0")))
    }

    @Test(arguments: [
        #""probation":{"release":"../x","began":"2026-11-21T10:00:00Z","answers":0,"seconds":0}"#,
        #""probation":{"release":"1","began":"2026-11-21T10:00:00Z","answers":-1,"seconds":0}"#,
        #""probation":{"release":"1","began":"2026-11-21T10:00:00Z","answers":99,"seconds":0}"#,
        #""probation":{"release":"1","began":"2026-11-21T10:00:00Z","answers":0,"seconds":-1}"#,
        #""probation":{"release":"1","began":"yesterday","answers":0,"seconds":0}"#, #""probation":7"#,
        #""heldBack":[{"release":"active","reason":"","since":"2026-11-21T10:00:00Z"}]"#, #""heldBack":{}"#,
        #""heldBack":[{"release":"1","since":"2026-11-21T10:00:00Z"}]"#,
    ])
    func hostileRecordsAreRefused(_ field: String) throws {
        let family = try #require(Family("tiny"))
        let text = #"{"schemaVersion":1,\#(field)}"#
        #expect(throws: (any Error).self) { try ReleaseState(data: Data(text.utf8), family: family) }
    }
}
