import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthDelivery

@Suite struct UpdateAdviceTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var what: String
        var offers: [String]
        var inUse: String?
        var current: String?
        var pinned: String?
        var heldBack: [String] = []
        /// Releases whose bytes are; another word is other bytes.
        var heldBackContents: [String] = []
        var rule = VersionRule.ordered
        var isStale = false
        var allowsStale = false
        /// `take 1.0.0` or `stay code`.
        var advice: String

        var testDescription: String { what }
    }

    static let rows: [Row] = [
        Row(what: "the same version", offers: ["1.0.0"], inUse: "1.0.0", advice: "stay up-to-date"),
        Row(what: "a newer one", offers: ["1.0.0", "1.1.0"], inUse: "1.0.0", advice: "take 1.1.0"),
        Row(what: "nothing in use", offers: ["1.0.0"], advice: "take 1.0.0"),
        Row(what: "an older one", offers: ["0.9.0"], inUse: "1.0.0", advice: "stay offered-is-older"),
        Row(
            what: "the publisher went back", offers: ["1.0.0", "1.1.0"], inUse: "1.1.0", current: "1.0.0",
            advice: "stay offered-is-older"),
        Row(
            what: "the publisher holds still", offers: ["1.0.0", "1.1.0"], inUse: "1.0.0", current: "1.0.0",
            advice: "stay up-to-date"),
        Row(what: "pinned", offers: ["2.0.0"], inUse: "1.0.0", pinned: "1.0.0", advice: "stay pinned"),
        Row(what: "pinned and gone from the list", offers: [], inUse: "1.0.0", pinned: "1.0.0", advice: "stay pinned"),
        Row(what: "gone from the list", offers: [], inUse: "1.0.0", advice: "stay not-offered"),
        Row(
            what: "a stale list says nothing", offers: ["2.0.0"], inUse: "1.0.0", isStale: true,
            advice: "stay catalog-stale"),
        Row(
            what: "unless one insists", offers: ["2.0.0"], inUse: "1.0.0", isStale: true, allowsStale: true,
            advice: "take 2.0.0"),
        Row(
            what: "not for this app", offers: ["1.0.0", "2.0.0 app=9.0.0"], inUse: "1.0.0", advice: "stay app-too-old"),
        Row(
            what: "not in the cohort", offers: ["1.0.0", "2.0.0 rollout=40"], inUse: "1.0.0",
            advice: "stay not-in-rollout"),
        Row(what: "in the cohort", offers: ["1.0.0", "2.0.0 rollout=41"], inUse: "1.0.0", advice: "take 2.0.0"),
        Row(what: "too large", offers: ["2.0.0 memory=101"], inUse: "1.0.0", advice: "stay not-enough-memory"),
        Row(what: "no engine", offers: ["2.0.0 format=onnx"], inUse: "1.0.0", advice: "stay no-engine"),
        Row(
            what: "held back", offers: ["1.0.0", "2.0.0"], inUse: "1.0.0", heldBack: ["2.0.0"], advice: "stay held-back"
        ),
        Row(
            what: "newer than held back", offers: ["2.0.0", "2.0.1"], inUse: "1.0.0", heldBack: ["2.0.0"],
            advice: "take 2.0.1"),
        Row(
            what: "other bytes of what is in use that are held back", offers: ["1.0.0 bytes=2"], inUse: "1.0.0",
            heldBackContents: ["1.0.0 bytes=2"], advice: "stay bytes-held-back"),
        Row(
            what: "they are no reason to go back", offers: ["0.9.0", "1.0.0 bytes=2"], inUse: "1.0.0",
            heldBackContents: ["1.0.0 bytes=2"], advice: "stay bytes-held-back"),
        Row(
            what: "not those bytes", offers: ["1.0.0 bytes=3"], inUse: "1.0.0", heldBackContents: ["1.0.0 bytes=2"],
            advice: "stay up-to-date"),
        Row(
            what: "bytes of another variant than the one in use", offers: ["1.0.0:q8 bytes=2"], inUse: "1.0.0:q4",
            heldBackContents: ["1.0.0:q8 bytes=2"], advice: "stay up-to-date"),
        Row(
            what: "newer than bytes that are held back", offers: ["1.0.0 bytes=2", "1.1.0"], inUse: "1.0.0",
            heldBackContents: ["1.0.0 bytes=2"], advice: "take 1.1.0"),
        Row(
            what: "what is newer explains more", offers: ["1.0.0 bytes=2", "2.0.0 rollout=0"], inUse: "1.0.0",
            heldBackContents: ["1.0.0 bytes=2"], advice: "stay not-in-rollout"),
        Row(
            what: "newer bytes that are held back", offers: ["1.0.0", "1.1.0 bytes=2"], inUse: "1.0.0",
            heldBackContents: ["1.1.0 bytes=2"], advice: "stay bytes-held-back"),
        Row(
            what: "between what is in use and what is not for this device",
            offers: ["1.0.0", "1.5.0", "2.0.0 rollout=0"],
            inUse: "1.0.0", advice: "take 1.5.0"),
        Row(
            what: "an ineligible one that is in use already", offers: ["2.0.0 rollout=0"], inUse: "2.0.0",
            advice: "stay up-to-date"),
        Row(
            what: "newer than the eligible, older than the publisher's choice", offers: ["1.0.0", "3.0.0 rollout=0"],
            inUse: "2.0.0", advice: "stay not-in-rollout"),
        Row(what: "another name without order", offers: ["def"], inUse: "abc", advice: "take def"),
        Row(
            what: "a single-model manifest: older", offers: ["0.9.0"], inUse: "1.0.0", rule: .different,
            advice: "take 0.9.0"),
        Row(
            what: "a single-model manifest: equal", offers: ["1.0.0"], inUse: "1.0.0", rule: .different,
            advice: "stay up-to-date"),
        Row(what: "the variant in use", offers: ["1.1.0:q4", "1.1.0:q8"], inUse: "1.0.0:q4", advice: "take 1.1.0:q4"),
        Row(what: "a variant that is gone", offers: ["1.1.0:q2"], inUse: "1.0.0:q4", advice: "take 1.1.0:q2"),
    ]

    @Test(arguments: rows) func advisesAsTheTableSays(_ row: Row) throws {
        let family = try #require(Family("m"))
        var catalog = Catalog(releases: try row.offers.map { try release($0) })
        if let current = row.current { catalog.current = [family: try #require(ReleaseVersion(current))] }
        catalog.versionRule = row.rule
        let now = Date(timeIntervalSince1970: 1000)
        // Good to its last moment.
        catalog.expires = Date(timeIntervalSince1970: row.isStale ? 999 : 1000)
        var question = UpdateQuestion(
            family: family, inUse: try row.inUse.map { try release($0).identity },
            pinned: try row.pinned.map { try release($0).identity })
        question.heldBack = Set(try row.heldBack.map { try release($0).identity })
        question.heldBackContents = try row.heldBackContents.map { words in
            let release = try release(words)
            return HeldBack(release.identity, content: release.content, reason: "it said nothing", since: now)
        }
        question.allowsStale = row.allowsStale
        switch try question.advice(from: catalog, for: try device(), at: now) {
        case .take(let choice):
            let identity = choice.release.identity
            #expect("take \(identity.version)" + (identity.variant.map { ":\($0)" } ?? "") == row.advice)
        case .stay(let reason):
            #expect("stay \(reason.code)" == row.advice)
            #expect(!reason.reason.isEmpty)
        }
        let absent = try question.advice(from: nil, for: try device(), at: now)
        #expect(absent == .stay(question.pinned.map { .pinned($0) } ?? .notOffered))
    }

    @Test func whatWouldChangeIsCounted() throws {
        var new = try release("2.0.0 size=1000")
        func companion(_ name: String, _ text: String, size: UInt64) throws -> RemoteFile {
            RemoteFile(
                name: try #require(RelativePath(name)), role: .projector, size: .exact(size),
                digest: SHA256Digest(hashing: Array(text.utf8)), locations: [])
        }
        new.companions = [try companion("mmproj.gguf", "same", size: 300), try companion("other", "new", size: 50)]
        func installed(isVerified: Bool) throws -> InstalledRelease {
            let identity = try release("1.0.0").identity
            let files = try [("mmproj.gguf", "same", 300), ("m.gguf", "old", 900)].map { name, text, size in
                Receipt.File(
                    name: try #require(RelativePath(name)), role: .weights, size: UInt64(size),
                    digest: SHA256Digest(hashing: Array(text.utf8)))
            }
            return InstalledRelease(
                identity: identity, folder: Path("/x"),
                receipt: Receipt(
                    try release("1.0.0"), files: files, isVerified: isVerified, origin: nil, at: Date()),
                isActive: true)
        }
        let plan = UpdatePlan(new, installed: [try installed(isVerified: true)]) {
            $0.name.string == "m.gguf" ? 400 : 0
        }
        #expect(plan.sharedFiles.map(\.string) == ["mmproj.gguf"])
        #expect(plan.sharedBytes == 300)
        #expect(plan.fetchedBytes == 600 + 50)
        let unproven = UpdatePlan(new, installed: [try installed(isVerified: false)])
        #expect(unproven.sharedBytes == 0, "bytes nobody vouched for are not shared")
        #expect(unproven.fetchedBytes == 1350)
        new.file.size = .exact(.max)
        #expect(UpdatePlan(new, installed: []).fetchedBytes == .max, "absurd sizes do not overflow")
    }
}
