import Foundation
import HearthBase
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// The decisions of a collection, without a disk.
struct CollectionPlanTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func identity(_ version: String, _ family: String = "toy") throws -> ReleaseIdentity {
        try StoreFixture.identity(version, family: family, variant: nil)
    }

    /// Releases of 100 bytes each, of which `shared` are in one file with the others, used so many days ago.
    private func facts(
        _ releases: [(String, Set<KeepReason>, daysAgo: Double)], active: String? = nil, shared: UInt64 = 0
    ) throws -> CollectionFacts {
        var facts = CollectionFacts()
        for (index, (version, protections, days)) in releases.enumerated() {
            let identity = try identity(version)
            facts.members.append(
                CollectionFacts.Member(
                    identity: identity, protections: protections, lastUsed: Self.now.addingTimeInterval(-days * 86_400))
            )
            facts.owners.add(
                FileIdentity(device: 1, inode: UInt64(index + 10)), size: 100 - shared, of: identity)
            if shared > 0 { facts.owners.add(FileIdentity(device: 1, inode: 1), size: shared, of: identity) }
        }
        if let active { facts.active[try #require(Family("toy"))] = try identity(active) }
        return facts
    }

    private func names(_ plan: CollectionPlan) -> [String] { plan.removals.map(\.item.name) }

    @Test func whatTheActiveOneHasOvertakenGoes() throws {
        let plan = CollectionPlan(
            try facts(
                [
                    ("1.0.0", [], 9), ("1.1.0", [.previous], 5), ("1.2.0", [.active], 1), ("2.0.0", [], 0),
                    ("1.0.1", [.pinned], 9), ("1.0.2", [.inUse], 9), ("1.0.3", [.incoming], 9),
                    ("1.0.4", [.onProbation], 9),
                ], active: "1.2.0"), now: Self.now)
        #expect(names(plan) == ["toy@1.0.0"])
        #expect(plan.removals.map(\.reason) == [.superseded] && plan.freedBytes == 100)
        #expect(plan.remainingBytes == 700 && plan.fits)
        let reasons = plan.kept.map { ($0.identity.version.name, $0.reasons) }
        #expect(reasons.first { $0.0 == "2.0.0" }?.1 == [.notOlder])
        #expect(reasons.allSatisfy { !$0.1.isEmpty })
    }

    @Test func withoutAnActiveReleaseAllStay() throws {
        let plan = CollectionPlan(try facts([("1.0.0", [], 9), ("2.0.0", [], 1)]), now: Self.now)
        #expect(plan.removals.isEmpty)
        #expect(plan.kept.map(\.reasons) == [[.noActive], [.noActive]])
    }

    /// Commits have no order: the date decides.
    @Test func withoutAnOrderOfVersionsTheDateDecides() throws {
        let plan = CollectionPlan(
            try facts(
                [("abc1234", [], 9), ("def5678", [.active], 5), ("0123abc", [], 1), ("fed9876", [], 5)],
                active: "def5678"),
            now: Self.now)
        #expect(names(plan) == ["toy@abc1234"], "and not one of the same date")
    }

    /// Another variant of the active version is not older, however long ago it was used.
    @Test func aVariantOfTheActiveVersionStays() throws {
        var facts = try facts([("1.0.0", [.active], 1)], active: "1.0.0")
        let small = try StoreFixture.identity("1.0.0", family: "toy", variant: "q2")
        facts.members.append(CollectionFacts.Member(identity: small))
        let plan = CollectionPlan(facts, now: Self.now)
        #expect(plan.removals.isEmpty && plan.kept.last?.reasons == [.notOlder])
    }

    @Test func whatWasMadeOfAReleaseIsFreedWithIt() throws {
        var facts = try facts([("1.0.0", [], 9), ("2.0.0", [.active], 1)], active: "2.0.0")
        for index in facts.members.indices { facts.members[index].preparedBytes = 40 }
        let plan = CollectionPlan(facts, now: Self.now)
        #expect(plan.removals.map(\.bytes) == [140] && plan.freedBytes == 140)
        #expect(plan.kept.map(\.bytes) == [140] && plan.remainingBytes == 140)
    }

    @Test func whatIsSharedIsFreedWithTheLast() throws {
        let two = CollectionPlan(
            try facts([("1.0.0", [], 9), ("1.1.0", [], 9), ("2.0.0", [.active], 1)], active: "2.0.0", shared: 90),
            now: Self.now)
        #expect(two.removals.map(\.bytes) == [10, 10], "the active one still needs the rest")
        #expect(two.remainingBytes == 100)
        let none = CollectionPlan(
            try facts([("1.0.0", [], 9), ("1.1.0", [], 8)], shared: 90), budget: 0, now: Self.now)
        #expect(none.removals.map(\.bytes) == [10, 100], "the last one frees what they shared")
        #expect(none.freedBytes == 110 && none.remainingBytes == 0)
    }

    @Test func aBudgetTakesWhatWasUsedLongestAgo() throws {
        let facts = try facts([
            ("1.0.0", [], 3), ("2.0.0", [], 9), ("3.0.0", [], 1), ("4.0.0", [.inUse], 30), ("5.0.0", [.pinned], 40),
        ])
        let plan = CollectionPlan(facts, budget: 300, now: Self.now)
        #expect(names(plan) == ["toy@2.0.0", "toy@1.0.0"])
        #expect(plan.removals.allSatisfy { $0.reason == .overBudget } && plan.fits)
        let least = CollectionPlan(facts, budget: 10, now: Self.now)
        #expect(names(least) == ["toy@2.0.0", "toy@1.0.0", "toy@3.0.0"])
        #expect(!least.fits && least.remainingBytes == 200, "what is used or pinned stays whatever the budget")
        #expect(CollectionPlan(facts, budget: 500, now: Self.now).removals.isEmpty)
    }

    /// Of a release that stays; with one that goes goes all of it, and is counted once.
    @Test func whatNoEngineOpensAnyMoreGoes() throws {
        var facts = try facts([("1.0.0", [], 9), ("2.0.0", [.active], 1)], active: "2.0.0")
        for index in facts.members.indices {
            facts.members[index].preparedBytes = 30
            facts.members[index].outdatedBytes = 20
        }
        let plan = CollectionPlan(facts, now: Self.now)
        #expect(plan.removals.map(\.item) == [.release(try identity("1.0.0")), .prepared(try identity("2.0.0"))])
        #expect(plan.removals.map(\.reason) == [.superseded, .outdated])
        #expect(plan.removals.map(\.bytes) == [130, 20])
        #expect(plan.remainingBytes == 110 && plan.kept.map(\.bytes) == [110])
    }

    @Test func orphansGoAfterADay() throws {
        var facts = CollectionFacts()
        let key = try TransferKey(
            TransferRequest(label: "x", locations: [], size: .exact(1), digest: SHA256Digest(hashing: Array("x".utf8))))
        for (age, bytes) in [(3600.0, 1), (CollectionPlan.orphanAge, 2)] {
            facts.orphans.append(
                CollectionFacts.Remnant(
                    item: .transfer(key.name), bytes: UInt64(bytes), changed: Self.now.addingTimeInterval(-age)))
        }
        facts.orphans.append(CollectionFacts.Remnant(item: .transfer(key.name), bytes: 4, changed: nil))
        for (age, bytes) in [(3600.0, 32), (CollectionPlan.orphanAge, 64)] {
            facts.strayStates.append(
                CollectionFacts.Remnant(
                    item: .state("\(bytes)"), bytes: UInt64(bytes), changed: Self.now.addingTimeInterval(-age)))
        }
        facts.strayPrepared = [CollectionFacts.Remnant(item: .prepared(try identity("1.0.0")), bytes: 8)]
        facts.strayCatalogs = [CollectionFacts.Remnant(item: .catalog("x"), bytes: 16)]
        let plan = CollectionPlan(facts, now: Self.now)
        #expect(plan.freedBytes == 2 + 64 + 8 + 16)
        #expect(plan.removals.allSatisfy { $0.reason == .stray })
        #expect(plan.removals.filter { $0.item.kind == "state" }.map(\.item.name) == ["64"])
    }
}
