import Foundation
import HearthBase

/// Why a family is not updated.
public enum NoUpdate: Sendable, Hashable {
    /// The release in use is the publisher's choice.
    case upToDate
    /// The user pinned this release.
    case pinned(ReleaseIdentity)
    /// The publisher went back to this older version.
    case offeredIsOlder(ReleaseVersion)
    /// This device cannot use the newer release.
    case notEligible(ReleaseIdentity, Ineligibility)
    /// No configured source lists the family.
    case notOffered
    /// The release's origin no longer lists it or is no longer configured. Other origins list a model of the same name,
    /// which may be another publisher's.
    case otherOrigin(cameFrom: String, offeredBy: [String])
    /// The release came from no origin, and several origins list a model of its name.
    case severalOrigins([String])
    /// The catalog has expired, and may lack newer releases.
    case catalogStale(since: Date)
    /// The source did not answer, and no cached list exists; the text is the reason.
    case unreachable(String)

    /// The reason for programs.
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
            "it came from \(address), and is now offered by \(names.joined(separator: ", ")) only; pull it from there to follow that origin"
        case .severalOrigins(let names):
            "several origins offer it, and it came from none: \(names.joined(separator: ", ")); pull it from the one you mean"
        case .catalogStale(let date): "the catalog expired on \(date.timestamp), so it cannot tell"
        case .unreachable(let problem): problem
        }
    }
}
