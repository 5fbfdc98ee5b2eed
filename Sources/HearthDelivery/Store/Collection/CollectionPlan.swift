import Foundation
import HearthBase

/// What goes, what stays, and why: decided from ``CollectionFacts`` alone.
///
/// Without a budget: releases that the active one of their family has overtaken, what was made from releases that are gone or
/// is not what their engine would open, transfers nobody wants, and copies of catalogs nobody asks for. With one, also the releases used longest ago, until the rest
/// fits; whoever is wanted by somebody stays all the same.
public struct CollectionPlan: Sendable, Hashable {
    /// Transfers without a purpose are left alone for a day: somebody may be about to say what they are for.
    public static let orphanAge: TimeInterval = 86_400

    /// Something that goes.
    public enum Item: Sendable, Hashable {
        case release(ReleaseIdentity)
        /// What an engine made from a release that is gone; or from one that is there, what it does not open any more.
        case prepared(ReleaseIdentity)
        case transfer(TransferKey)
        /// The copy of a catalog, by the name of its folder.
        case catalog(String)

        /// The kind, for programs.
        public var kind: String {
            switch self {
            case .release: "release"
            case .prepared: "prepared"
            case .transfer: "transfer"
            case .catalog: "catalog"
            }
        }

        /// Which one.
        public var name: String {
            switch self {
            case .release(let identity), .prepared(let identity): identity.description
            case .transfer(let key): key.name
            case .catalog(let name): name
            }
        }
    }

    /// Why something goes.
    public enum Reason: String, Sendable, Hashable, Codable {
        case superseded
        case overBudget = "over-budget"
        case stray
        /// It was made by another version of its engine, with other settings, from other bytes, or is not needed any more.
        case outdated
    }

    /// Something that goes, and what that frees: bytes that others share are not freed, and of releases that share with each
    /// other the last one frees them.
    public struct Removal: Sendable, Hashable {
        public let item: Item
        public let reason: Reason
        public let bytes: UInt64
    }

    /// A release that stays.
    public struct Keeping: Sendable, Hashable {
        public let identity: ReleaseIdentity
        /// Sorted, the weightiest first; empty for one that a budget has room for.
        public let reasons: [KeepReason]
        /// What it takes alone.
        public let bytes: UInt64
    }

    public let removals: [Removal]
    public let kept: [Keeping]
    /// What the removals free together.
    public var freedBytes: UInt64 { removals.map(\.bytes).saturatedSum }
    /// What releases and the prepared will take afterwards, shared bytes once.
    public let remainingBytes: UInt64
    /// The budget asked for, `nil` for none.
    public let budget: UInt64?
    /// Whether the rest fits the budget.
    public var fits: Bool { budget.map { remainingBytes <= $0 } ?? true }

    /// Decides.
    /// - Parameter budget: the most bytes that releases and what was made from them may take; `nil` for no limit.
    public init(_ facts: CollectionFacts, budget: UInt64? = nil, now: Date) {
        var leaving: Set<ReleaseIdentity> = []
        var removals: [Removal] = []
        var freed: UInt64 = 0
        func remove(_ member: CollectionFacts.Member, _ reason: Reason) {
            leaving.insert(member.identity)
            let total = facts.owners.freed(by: leaving)
            removals.append(
                Removal(
                    item: .release(member.identity), reason: reason,
                    bytes: [total - freed, member.preparedBytes].saturatedSum))
            freed = total
        }
        func remaining() -> UInt64 {
            let prepared = facts.members.filter { !leaving.contains($0.identity) }.map(\.currentBytes).saturatedSum
            return [facts.owners.total - freed, prepared].saturatedSum
        }

        let reasons = Dictionary(
            facts.members.map { ($0.identity, Self.reasons(for: $0, facts)) }, uniquingKeysWith: { first, _ in first })
        for member in facts.members where reasons[member.identity]?.isEmpty == true { remove(member, .superseded) }
        if let budget {
            let evictable = facts.members
                .filter { member in
                    !leaving.contains(member.identity)
                        && !(reasons[member.identity] ?? []).contains(where: \.isBinding)
                }
                .sorted { ($0.lastUsed, $0.identity.description) < ($1.lastUsed, $1.identity.description) }
            for member in evictable where remaining() > budget { remove(member, .overBudget) }
        }
        // With a release goes all that was made from it.
        for member in facts.members where member.outdatedBytes > 0 && !leaving.contains(member.identity) {
            removals.append(
                Removal(item: .prepared(member.identity), reason: .outdated, bytes: member.outdatedBytes))
        }
        let orphans = facts.orphans.filter { orphan in
            orphan.changed.map { now.timeIntervalSince($0) >= Self.orphanAge } ?? false
        }
        for stray in facts.strayPrepared + orphans + facts.strayCatalogs {
            removals.append(Removal(item: stray.item, reason: .stray, bytes: stray.bytes))
        }
        self.removals = removals
        self.budget = budget
        remainingBytes = remaining()
        let exclusive = facts.owners.exclusive
        kept = facts.members.filter { !leaving.contains($0.identity) }.map { member in
            Keeping(
                identity: member.identity, reasons: (reasons[member.identity] ?? []).sorted(),
                bytes: [exclusive[member.identity] ?? 0, member.currentBytes].saturatedSum)
        }
    }

    /// Why a release stays, without a budget; empty for one that was overtaken.
    static func reasons(
        for member: CollectionFacts.Member, _ facts: CollectionFacts
    ) -> Set<KeepReason> {
        guard member.wishes.isEmpty else { return member.wishes }
        guard let active = facts.active[member.identity.family] else { return [.noActive] }
        return isOvertaken(member, by: active, facts) ? [] : [.notOlder]
    }

    /// By version where both have an order; else by date: hubs know commits, which have none. Another variant of the active
    /// version is not older.
    private static func isOvertaken(
        _ member: CollectionFacts.Member, by active: ReleaseIdentity, _ facts: CollectionFacts
    ) -> Bool {
        let version = member.identity.version
        if version == active.version { return false }
        if active.version.isNewer(than: version) == true { return true }
        if version.isNewer(than: active.version) == true { return false }
        guard let other = facts.members.first(where: { $0.identity == active }) else { return false }
        return member.lastUsed < other.lastUsed
    }
}
