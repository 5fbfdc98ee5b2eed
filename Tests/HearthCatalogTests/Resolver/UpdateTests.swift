import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog

@Suite struct UpdateTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var what: String
        var offers: [String]
        var inUse: String?
        var current: String?
        var pinned: String?
        var heldBack: [String] = []
        var isOrdered = true
        var isStale = false
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
            what: "a single-model manifest: older", offers: ["0.9.0"], inUse: "1.0.0", isOrdered: false,
            advice: "take 0.9.0"),
        Row(
            what: "a single-model manifest: equal", offers: ["1.0.0"], inUse: "1.0.0", isOrdered: false,
            advice: "stay up-to-date"),
        Row(
            what: "a withdrawn one in use, and an older one", offers: ["1.0.0", "1.1.0 yanked=bad"], inUse: "1.1.0",
            current: "1.0.0", advice: "take 1.0.0"),
        Row(
            what: "a withdrawn one in use, which is still current", offers: ["1.0.0", "1.1.0 yanked=bad"],
            inUse: "1.1.0", current: "1.1.0", advice: "take 1.0.0"),
        Row(
            what: "a withdrawn one in use, and no other", offers: ["1.1.0 yanked=bad"], inUse: "1.1.0",
            advice: "stay yanked"),
        Row(
            what: "a withdrawn one in use, and no other for this device",
            offers: ["1.0.0 rollout=0", "1.1.0 yanked=bad"], inUse: "1.1.0", advice: "stay yanked"),
        Row(
            what: "a withdrawn one in use, pinned", offers: ["1.0.0", "1.1.0 yanked=bad"], inUse: "1.1.0",
            pinned: "1.1.0", advice: "stay pinned"),
        Row(
            what: "a withdrawn newer one", offers: ["1.0.0", "1.1.0 yanked=bad"], inUse: "1.0.0", advice: "stay yanked"),
        Row(what: "the variant in use", offers: ["1.1.0:q4", "1.1.0:q8"], inUse: "1.0.0:q4", advice: "take 1.1.0:q4"),
        Row(what: "a variant that is gone", offers: ["1.1.0:q2"], inUse: "1.0.0:q4", advice: "take 1.1.0:q2"),
    ]

    @Test(arguments: rows) func advisesAsTheTableSays(_ row: Row) throws {
        let family = try #require(Family("m"))
        var catalog = Catalog(releases: try row.offers.map { try release($0) })
        if let current = row.current { catalog.current = [family: try #require(ReleaseVersion(current))] }
        catalog.isOrdered = row.isOrdered
        let now = Date(timeIntervalSince1970: 1000)
        // Good to its last moment.
        catalog.expires = Date(timeIntervalSince1970: row.isStale ? 999 : 1000)
        let pinned = try row.pinned.map { try release($0).identity }
        let inUse = try row.inUse.map { try release($0).identity }
        var resolver = Resolver(
            catalog: catalog, device: try device(), heldBack: Set(try row.heldBack.map { try release($0).identity }))
        func update() throws -> Resolver.Update {
            try resolver.update(of: family, inUse: inUse, pinned: pinned, at: now)
        }
        switch try update() {
        case .newVersion(let offer):
            let identity = offer.release.identity
            #expect("take \(identity.version)" + (identity.variant.map { ":\($0)" } ?? "") == row.advice)
            #expect(offer.isUpdate == (inUse != nil))
        case .noUpdate(let reason):
            #expect("stay \(reason.code)" == row.advice)
            #expect(!reason.reason.isEmpty)
        }
        resolver.catalog = Catalog(releases: [])
        #expect(try update() == .noUpdate(pinned.map { .pinned($0) } ?? .notOffered))
    }
}
