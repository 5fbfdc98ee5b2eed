import Foundation
import HearthBase

/// Why a family stays as it is.
public enum NoUpdate: Sendable, Hashable {
    /// What is here is what the publisher wants.
    case upToDate
    /// The user holds on to this release.
    case pinned(ReleaseIdentity)
    /// The publisher went back to this older version.
    case offeredIsOlder(ReleaseVersion)
    /// The newer release is not for this device.
    case notEligible(ReleaseIdentity, Ineligibility)
    /// No configured source lists the family.
    case notOffered
    /// The origin it came from, of this address, does not list it or is not configured any more; others, of these names, list a
    /// model of the same name, which may be another publisher's.
    case otherOrigin(cameFrom: String, offeredBy: [String])
    /// It came from no origin, and several, of these names, list a model of its name.
    case severalOrigins([String])
    /// The catalog is past its date, and may hide what is newer.
    case catalogStale(since: Date)
    /// The source gave no answer, and there is no copy of an earlier one; the sentence says why.
    case unreachable(String)

    /// The reason as programs read it.
    public var code: String {
        switch self {
        case .upToDate: "up-to-date"
        case .pinned: "pinned"
        case .offeredIsOlder: "offered-is-older"
        case .notEligible(_, let objection): objection.code
        case .notOffered: "not-offered"
        case .otherOrigin: "other-origin"
        case .severalOrigins: "several-origins"
        case .catalogStale: "catalog-stale"
        case .unreachable: "unreachable"
        }
    }

    /// The reason for people, as the end of a sentence about the family.
    public var reason: String {
        switch self {
        case .upToDate: "up to date"
        case .pinned(let identity): "pinned to \(identity.version)"
        case .offeredIsOlder(let version): "the origin offers only \(version), which is older"
        case .notEligible(let identity, let objection): "\(identity.version) \(objection.reason)"
        case .notOffered: "no configured origin offers it"
        case .otherOrigin(let address, let names):
            "it came from \(address), and is now offered by \(names.joined(separator: ", ")) only; pull it from there to change over"
        case .severalOrigins(let names):
            "several origins offer it, and it came from none: \(names.joined(separator: ", ")); pull it from the one you mean"
        case .catalogStale(let date): "the catalog expired on \(date.timestamp), so it cannot tell"
        case .unreachable(let problem): problem
        }
    }
}

/// Whether a family should change, and to what or why not.
public enum UpdateAdvice: Sendable, Hashable {
    case take(ReleaseChoice)
    case stay(NoUpdate)
}

/// Decides about the update of one family. Pure.
public struct UpdateQuestion: Sendable {
    public var family: Family
    /// What is in use: the active release, or the one that came with the app.
    public var inUse: ReleaseIdentity?
    /// The release the user holds on to.
    public var pinned: ReleaseIdentity?
    /// Releases that did not prove themselves here.
    public var heldBack: Set<ReleaseIdentity> = []
    /// Bytes of releases that did not, as in ``ReleaseState/heldBackContents``.
    public var heldBackContents: [HeldBack] = []
    /// Whether a release may need more memory than there is, because somebody insists.
    public var ignoresMemory = false
    /// Whether a catalog past its date may decide.
    public var allowsStale = false

    /// A question about a family.
    public init(family: Family, inUse: ReleaseIdentity? = nil, pinned: ReleaseIdentity? = nil) {
        self.family = family
        self.inUse = inUse
        self.pinned = pinned
    }

    /// A question about a family of which so much is recorded.
    init(family: Family, inUse: ReleaseIdentity?, _ state: ReleaseState) {
        self.init(family: family, inUse: inUse, pinned: state.pinned)
        heldBack = state.heldBackReleases
        heldBackContents = state.heldBackContents
    }

    /// The answer that a catalog gives for a device; the first of these that holds:
    ///
    /// 1. a pinned family stays;
    /// 2. a family that is not listed stays, and so does any while the catalog is past its date;
    /// 3. the chosen release is taken if it is newer than what is in use, or only another where versions have no order
    ///    (``VersionRule/different``, or names that cannot be compared);
    /// 4. else it stays, and the reason is what speaks against the publisher's choice, if that is something newer, or other bytes of
    ///    what is in use that are held back.
    public func advice(from catalog: Catalog?, for device: DeviceProfile, at now: Date) throws -> UpdateAdvice {
        if let pinned { return .stay(.pinned(pinned)) }
        guard let catalog, let preferred = catalog.preferredVersion(of: family) else { return .stay(.notOffered) }
        if let expires = catalog.expires, expires < now, !allowsStale { return .stay(.catalogStale(since: expires)) }

        let resolution = Resolution(
            catalog: catalog, device: device, heldBack: heldBack, heldBackContents: heldBackContents,
            ignoresMemory: ignoresMemory)
        let choice = try choose(resolution, preferring: preferred)
        let identity = choice.release.identity
        let isInUse = identity.version == inUse?.version
        if let objection = choice.objection, !isInUse { return .stay(.notEligible(identity, objection)) }
        guard let inUse else { return .take(choice) }
        if !isInUse, Self.isWanted(identity.version, over: inUse.version, catalog) { return .take(choice) }
        // What is newer and not for this device explains more than that nothing changed.
        let newer = choice.passedOver.first { Self.isWanted($0.identity.version, over: inUse.version, catalog) }
        if let newer { return .stay(.notEligible(newer.identity, newer.objection)) }
        if isInUse {
            // Of what else speaks against a version in use, nothing is news.
            let isReplaced = identity == inUse && choice.objection == .bytesHeldBack
            return .stay(isReplaced ? .notEligible(identity, .bytesHeldBack) : .upToDate)
        }
        return .stay(preferred == inUse.version ? .upToDate : .offeredIsOlder(preferred))
    }

    /// The publisher's version, in the variant in use where there is one.
    private func choose(_ resolution: Resolution, preferring version: ReleaseVersion) throws -> ReleaseChoice {
        let variant = inUse?.variant
        let isOffered =
            variant != nil
            && resolution.catalog.releases.contains {
                $0.identity.family == family && $0.identity.version == version && $0.identity.variant == variant
            }
        return try resolution.choose(family: family, variant: isOffered ? variant : nil)
    }

    private static func isWanted(_ version: ReleaseVersion, over other: ReleaseVersion, _ catalog: Catalog) -> Bool {
        guard version != other else { return false }
        if catalog.versionRule == .different { return true }
        return version.isNewer(than: other) ?? true
    }
}
