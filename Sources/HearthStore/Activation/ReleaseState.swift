import Foundation
import HearthBase
import HearthCatalog

/// Record of a family's releases: `state.json`.
///
/// The link `active` decides which release is live, because it is switched first, in one step; this file records the
/// release to go back to. `reconciled(with:)` corrects the record after an interruption between the two.
/// `ReleaseStateRecord` describes the format.
package struct ReleaseState: Sendable, Hashable {
    /// The live release.
    package internal(set) var active: ReleaseIdentity?
    /// The release that was live before.
    package internal(set) var previous: ReleaseIdentity?
    /// The release the user has pinned; updates leave it alone.
    package internal(set) var pinned: ReleaseIdentity?
    /// The probation of the live release, `nil` once it is proven.
    package internal(set) var probation: Probation?
    /// The releases that updates pass over, the latest last.
    package internal(set) var heldBack: [HeldBack] = []

    /// The largest file that is read, in bytes.
    package static let sizeLimit: UInt64 = 1 << 16

    /// Whether updates pass a release over: it was refused or rolled back, and no newer one became live since.
    package func isHeldBack(_ release: ReleaseIdentity) -> Bool { heldBack(release) != nil }

    /// The reason and date for which a release is held back, `nil` if it is not.
    package func heldBack(_ release: ReleaseIdentity) -> HeldBack? { heldBack.last { $0.release == release } }

    /// The releases whose versions updates pass over; not the version of the live release, whatever other bytes it has.
    package var heldBackVersions: Set<ReleaseIdentity> {
        Set(heldBack.map(\.release)).filter { $0.published != active?.published }
    }

    /// Whether the user has pinned another release than this one.
    package func isPinned(against release: ReleaseIdentity) -> Bool { pinned.map { $0 != release } ?? false }

    // MARK: - Changes

    /// The state corrected by the link.
    func reconciled(with link: ActiveLink) -> Self {
        var next = self
        switch link {
        case .absent:
            next.active = nil
            next.previous = active ?? previous
        case .release(let linked) where linked != active:
            // The link was switched and the record not written: the recorded active release is the previous one.
            next.active = linked
            next.previous = active ?? (previous == linked ? nil : previous)
        case .release, .unusable: return self
        }
        return next.withoutStrayProbation
    }

    /// The state after `identity` became live.
    package func activating(_ identity: ReleaseIdentity) -> Self {
        guard active != identity else { return self }
        var next = self
        next.active = identity
        next.previous = active ?? (previous == identity ? nil : previous)
        next.heldBack = Self.stillHeldBack(heldBack, after: identity)
        return next.withoutStrayProbation
    }

    /// The state after `identity` became live on probation. A release that is live already stays as it was.
    package func committing(_ identity: ReleaseIdentity, at date: Date) -> Self {
        var next = activating(identity)
        next.heldBack = Self.stillHeldBack(heldBack, after: identity)
        if active != identity { next.probation = Probation(of: identity, began: date) }
        return next
    }

    /// The state after a rollback from the live release to `target`: it is held back, and there is no previous release
    /// any more.
    /// - Parameter target: `nil` for the release bundled with the app.
    package func rolledBack(to target: ReleaseIdentity?, because reason: String, at date: Date) -> Self {
        var next = self
        if let active, active != target { next = next.holdingBack(active, because: reason, at: date) }
        next.active = target
        next.previous = nil
        next.probation = nil
        next.heldBack.removeAll { $0.release == target }
        if next.pinned == active { next.pinned = nil }
        return next
    }

    /// The state after a release was held back.
    func holdingBack(_ release: ReleaseIdentity, because reason: String, at date: Date) -> Self {
        var next = self
        next.heldBack.removeAll { $0.release == release }
        next.heldBack.append(HeldBack(release, reason: reason, since: date))
        next.heldBack.removeFirst(max(0, next.heldBack.count - HeldBack.maximumCount))
        return next
    }

    /// The state after releases were removed; the previous one becomes live if it is `usable`.
    func removing(_ removed: Set<ReleaseIdentity>, isUsable: (ReleaseIdentity) throws -> Bool) rethrows -> Self {
        var next = self
        if let pinned, removed.contains(pinned) { next.pinned = nil }
        if let previous, removed.contains(previous) { next.previous = nil }
        if let active, removed.contains(active) {
            next.active = try next.previous.flatMap { try isUsable($0) ? $0 : nil }
            if next.active != nil { next.previous = nil }
        }
        return next.withoutStrayProbation
    }

    /// Removes a probation of a release that is not live.
    private var withoutStrayProbation: Self {
        var next = self
        if let probation, probation.release != active { next.probation = nil }
        return next
    }

    /// The releases that stay held back once `release` is live: neither that release nor older ones.
    private static func stillHeldBack(_ held: [HeldBack], after release: ReleaseIdentity) -> [HeldBack] {
        held.filter { $0.release != release && release.version.isNewer(than: $0.release.version) != true }
    }
}

/// Target of a family's link `active`.
enum ActiveLink: Sendable, Hashable {
    case absent
    /// A release folder of the family that exists.
    case release(ReleaseIdentity)
    /// Any other target, or not a link; the text is for the log.
    case unusable(String)
}
