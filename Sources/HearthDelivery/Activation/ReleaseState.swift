import Foundation
import HearthBase

/// What is recorded about a family's releases: `state.json`.
///
/// The link `active` decides what is live, because it is switched first, in one step; this file knows the way back.
/// `reconciled(with:)` brings both together after an interruption between the two. How it is written stands beside
/// `ReleaseStateRecord`.
public struct ReleaseState: Sendable, Hashable {
    /// The live release.
    public internal(set) var active: ReleaseIdentity?
    /// The release that was live before.
    public internal(set) var previous: ReleaseIdentity?
    /// The release the user holds on to; updates leave it alone.
    public internal(set) var pinned: ReleaseIdentity?
    /// The live release has still to prove itself.
    public internal(set) var probation: Probation?
    /// What is not tried again by itself, the latest last.
    public internal(set) var heldBack: [HeldBack]
    /// Other bytes of a live release that are not tried again by themselves, each with its ``HeldBack/content``; the latest last.
    public internal(set) var heldBackContents: [HeldBack]

    /// The largest file that is read, in bytes.
    static let sizeLimit: UInt64 = 1 << 16

    /// Nothing recorded.
    init(
        active: ReleaseIdentity? = nil, previous: ReleaseIdentity? = nil, pinned: ReleaseIdentity? = nil,
        probation: Probation? = nil, heldBack: [HeldBack] = [], heldBackContents: [HeldBack] = []
    ) {
        self.active = active
        self.previous = previous
        self.pinned = pinned
        self.probation = probation
        self.heldBack = heldBack
        self.heldBackContents = heldBackContents
    }

    /// Whether a release was refused or rolled back, and no newer one has taken its place since: updates pass it over.
    public func isHeldBack(_ release: ReleaseIdentity) -> Bool { heldBack(release) != nil }

    /// Why and since when a release is held back, `nil` if it is not.
    public func heldBack(_ release: ReleaseIdentity) -> HeldBack? { heldBack.last { $0.release == release } }

    /// The releases that are held back, whatever they hold.
    var heldBackReleases: Set<ReleaseIdentity> { Set(heldBack.map(\.release)) }

    /// Why and since when other bytes of a release are held back, `nil` if they are not.
    func heldBack(_ release: ReleaseIdentity, content: SHA256Digest) -> HeldBack? {
        heldBackContents.last { $0.release == release && $0.content == content }
    }

    /// Whether the user holds on to another release than this one.
    public func isPinned(against release: ReleaseIdentity) -> Bool { pinned.map { $0 != release } ?? false }

    // MARK: - What changes it

    /// What is true, given what the link says.
    func reconciled(with link: ActiveLink) -> Self {
        var next = self
        switch link {
        case .absent:
            next.active = nil
            next.previous = active ?? previous
        case .release(let linked) where linked != active:
            // The switch was made and not yet recorded: what is recorded as active is what was live before it.
            next.active = linked
            next.previous = active ?? (previous == linked ? nil : previous)
        case .release, .unusable: return self
        }
        return next.withoutStrayProbation
    }

    /// The state after `identity` became live.
    func activating(_ identity: ReleaseIdentity) -> Self {
        guard active != identity else { return self }
        var next = self
        next.active = identity
        next.previous = active ?? (previous == identity ? nil : previous)
        next.heldBack = Self.stillHeldBack(heldBack, after: identity)
        // Nothing is put in the place of what is older any more.
        next.heldBackContents.removeAll { identity.version.isNewer(than: $0.release.version) == true }
        return next.withoutStrayProbation
    }

    /// The state after `identity` became live and has to prove itself. One that is live already goes on as it was.
    func committing(_ identity: ReleaseIdentity, at date: Date) -> Self {
        var next = activating(identity)
        next.heldBack = Self.stillHeldBack(heldBack, after: identity)
        if active != identity { next.probation = Probation(of: identity, began: date) }
        return next
    }

    /// The state after the live release gave way to `target`; it is not tried again. The way back is used up with it.
    func rolledBack(to target: ReleaseIdentity, because reason: String, at date: Date) -> Self {
        var next = self
        if let active, active != target { next = next.holdingBack(active, because: reason, at: date) }
        next.active = target
        next.previous = nil
        next.probation = nil
        next.heldBack.removeAll { $0.release == target }
        if next.pinned == active { next.pinned = nil }
        return next
    }

    /// The state after the live release gave way to what came with the app; it is not tried again.
    func retired(because reason: String, at date: Date) -> Self {
        var next = self
        if let active { next = next.holdingBack(active, because: reason, at: date) }
        next.active = nil
        next.previous = nil
        next.probation = nil
        if next.pinned == active { next.pinned = nil }
        return next
    }

    /// The state after a release was found unfit.
    func holdingBack(_ release: ReleaseIdentity, because reason: String, at date: Date) -> Self {
        var next = self
        next.heldBack.removeAll { $0.release == release }
        next.heldBack.append(HeldBack(release, reason: reason, since: date))
        next.heldBack.removeFirst(max(0, next.heldBack.count - HeldBack.maximumCount))
        return next
    }

    /// The state after other bytes of a release were found unfit.
    /// - Parameter promised: what was promised of them, as ``HeldBack/promised``.
    func holdingBack(
        _ content: SHA256Digest, promised: SHA256Digest? = nil, of release: ReleaseIdentity, because reason: String,
        at date: Date
    ) -> Self {
        var next = accepting(content, of: release)
        next.heldBackContents.append(
            HeldBack(release, content: content, promised: promised, reason: reason, since: date))
        next.heldBackContents.removeFirst(max(0, next.heldBackContents.count - HeldBack.maximumCount))
        return next
    }

    /// The state after an entry was seen to bring them that promises something else of them.
    func noting(_ promised: SHA256Digest, of content: SHA256Digest, of release: ReleaseIdentity) -> Self {
        var next = self
        for index in heldBackContents.indices
        where heldBackContents[index].release == release && heldBackContents[index].content == content {
            next.heldBackContents[index].promised = promised
        }
        return next
    }

    /// The state after they have passed.
    func accepting(_ content: SHA256Digest, of release: ReleaseIdentity) -> Self {
        var next = self
        next.heldBackContents.removeAll { $0.release == release && $0.content == content }
        return next
    }

    /// The state after releases are gone; the previous one takes over where it is `usable`.
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

    /// Only what is live is on probation.
    private var withoutStrayProbation: Self {
        var next = self
        if let probation, probation.release != active { next.probation = nil }
        return next
    }

    /// What stays held back once `release` is live: neither itself nor what is older.
    private static func stillHeldBack(_ held: [HeldBack], after release: ReleaseIdentity) -> [HeldBack] {
        held.filter { $0.release != release && release.version.isNewer(than: $0.release.version) != true }
    }
}

/// Where a family's link `active` leads.
enum ActiveLink: Sendable, Hashable {
    case absent
    /// To a release folder of the family that is there.
    case release(ReleaseIdentity)
    /// Elsewhere, or it is no link; the text is for the log.
    case unusable(String)
}
