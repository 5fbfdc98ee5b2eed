import Foundation
import HearthBase
import HearthCatalog

/// Decides from ``CollectionFacts`` alone which items are removed, which stay, and why.
///
/// Without a budget it removes: releases older than the active one of their family, outdated artifacts and those of
/// removed releases, orphaned transfers, cached catalogs of unconfigured origins, and states for weights that are not installed. With a budget it also removes the
/// releases used longest ago until the rest fits, but none that has a binding reason to stay.
package struct CollectionPlan: Sendable, Hashable {
    /// The age in seconds from which orphaned transfers and stray states are removed: a process may be about to record
    /// the purpose of a newer transfer, and a model that is opened by its path uses its states without being installed.
    package static let orphanAge: TimeInterval = 86_400

    /// An item to remove.
    package enum Item: Sendable, Hashable {
        case release(ReleaseIdentity)
        /// The artifacts of a removed release, or the outdated artifacts of an installed one.
        case prepared(ReleaseIdentity)
        case transfer(String)
        /// A cached catalog, by the name of its folder.
        case catalog(String)
        /// The computed states of instructions for one file of weights, by the name of their folder.
        case state(String)

        /// The kind, for programs.
        package var kind: String {
            switch self {
            case .release: "release"
            case .prepared: "prepared"
            case .transfer: "transfer"
            case .catalog: "catalog"
            case .state: "state"
            }
        }

        /// The name of the item.
        package var name: String {
            switch self {
            case .release(let identity), .prepared(let identity): identity.description
            case .transfer(let name): name
            case .catalog(let name), .state(let name): name
            }
        }
    }

    /// Reasons to remove an item.
    package enum Reason: String, Sendable, Hashable, Codable {
        case superseded
        case overBudget = "over-budget"
        case stray
        /// An artifact of another engine version, settings or source, or one that is not needed any more.
        case outdated
    }

    /// An item to remove and the bytes that frees. Bytes shared with kept releases are not freed; if removed releases
    /// share bytes, the last of them frees these.
    package struct Removal: Sendable, Hashable {
        package let item: Item
        package let reason: Reason
        package let bytes: UInt64
    }

    /// A release that stays.
    package struct Keeping: Sendable, Hashable {
        package let identity: ReleaseIdentity
        /// Reasons to keep it, sorted by weight; empty if it stays only because the budget has room.
        package let reasons: [KeepReason]
        /// The bytes that only this release takes.
        package let bytes: UInt64
    }

    package let removals: [Removal]
    package let kept: [Keeping]
    /// The bytes that all removals free.
    package var freedBytes: UInt64 { removals.map(\.bytes).saturatedSum }
    /// The bytes of the remaining releases and artifacts, shared bytes counted once.
    package let remainingBytes: UInt64
    /// The budget, `nil` for none.
    package let budget: UInt64?
    /// Whether the rest fits the budget.
    package var fits: Bool { budget.map { remainingBytes <= $0 } ?? true }

    /// Decides on the facts.
    /// - Parameter budget: the most bytes that releases and their artifacts may take; `nil` for no limit.
    package init(_ facts: CollectionFacts, budget: UInt64? = nil, now: Date) {
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
        // All artifacts of a removed release are removed with it.
        for member in facts.members where member.outdatedBytes > 0 && !leaving.contains(member.identity) {
            removals.append(
                Removal(item: .prepared(member.identity), reason: .outdated, bytes: member.outdatedBytes))
        }
        let orphans = (facts.orphans + facts.strayStates).filter { orphan in
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

    /// Reasons to keep a release without a budget; empty for one that was overtaken.
    package static func reasons(
        for member: CollectionFacts.Member, _ facts: CollectionFacts
    ) -> Set<KeepReason> {
        guard member.protections.isEmpty else { return member.protections }
        guard let active = facts.active[member.identity.family] else { return [.noActive] }
        return isOvertaken(member, by: active, facts) ? [] : [.notOlder]
    }

    /// Compares versions if both have an order, else dates: commits of hubs have no order. Other bytes of the active
    /// release's name were overtaken; another variant of its version is not older.
    private static func isOvertaken(
        _ member: CollectionFacts.Member, by active: ReleaseIdentity, _ facts: CollectionFacts
    ) -> Bool {
        let version = member.identity.version
        if version == active.version { return member.identity.published == active.published }
        if active.version.isNewer(than: version) == true { return true }
        if version.isNewer(than: active.version) == true { return false }
        guard let other = facts.members.first(where: { $0.identity == active }) else { return false }
        return member.lastUsed < other.lastUsed
    }
}
