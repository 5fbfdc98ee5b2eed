import Foundation
import HearthBase

/// Where releases are listed.
public struct Origin: Sendable, Hashable {
    /// The user's name for it; the family of a manifest that names none.
    public var name: String
    /// The address of its `models.json`.
    public var manifestURL: URL

    /// An origin of the given name and address.
    public init(name: String, manifestURL: URL) {
        self.name = name
        self.manifestURL = manifestURL
    }
}

/// A release and who offers it.
public struct AvailableRelease: Sendable, Hashable {
    public let release: Release
    public let origin: Origin
    /// Whether this is the version the publisher wants used.
    public let isCurrent: Bool
    /// Why this device may not have it, `nil` if it may.
    public let objection: Ineligibility?

    /// An offer of the given facts.
    public init(release: Release, origin: Origin, isCurrent: Bool, objection: Ineligibility? = nil) {
        self.release = release
        self.origin = origin
        self.isCurrent = isCurrent
        self.objection = objection
    }
}

/// What a pull may and should do.
public struct PullOptions: Sendable, Hashable {
    /// Make the release the active one of its family. Default `true`.
    public var activate = true
    /// Let an engine try the release before it becomes the active one. Default `true`.
    public var probes = true
    /// Accept a remote file the catalog gives no digest for.
    public var allowUnverified = false
    /// Accept a version older than the active one without having named it.
    public var allowDowngrade = false
    /// Install from a catalog past its date.
    public var allowStale = false
    /// Install a model that needs more memory than the device has, and have it tried so. What a preparer makes of it for this
    /// device is made and opened all the same, now and later: `Configuration.ignoresMemory` has models used as they come.
    public var ignoreMemory = false
    /// What to do on a metered network; ``MeteredUse/ask`` refuses here as ``MeteredUse/deny`` does, so that the caller can ask.
    public var metered = MeteredUse.deny
    /// Ask the sources anew, even where their last answer is still good.
    public var asksAgain = false
    /// At most this many bytes a second, `nil` for no limit.
    public var bytesPerSecond: UInt64?

    /// The usual options.
    public init() {}
}

/// The release a reference leads to.
public struct ResolvedRelease: Sendable, Hashable {
    public let release: Release
    /// Why this variant, for people.
    public let reason: ReleaseChoice.Reason
    /// What speaks against it on this device: a pull refuses it, or takes it because it was named.
    public let objection: Ineligibility?
    /// Newer releases that are not for this device, the publisher's choice first.
    public let passedOver: [PassedOver]
    /// The list it was found in; `nil` for a local file.
    public let location: URL?
    /// Whether the user named the version, and so means it whatever the publisher prefers.
    public internal(set) var isNamed: Bool
    /// Whether what is held back is tried once more: somebody who named it asks for it now.
    var triesHeldBack: Bool
    /// Whether one of its versions is newer than another. It is not so where they have no order: in a hub's repository, and in a
    /// list of one model.
    var isOrdered = true
    /// Whether nobody else's list could be meant: it was named by its address, or everybody was asked and no other has the family.
    var isOnlyOrigin = false
    /// What to pull to get it again; `nil` where the list and the release's own name say it.
    public internal(set) var reference: ModelReference?
    /// How new the list was; `nil` for a local file.
    public internal(set) var standing: CatalogListing.Standing?

    init(_ choice: ReleaseChoice, location: URL?, isNamed: Bool) {
        release = choice.release
        reason = choice.reason
        objection = choice.objection
        passedOver = choice.passedOver
        self.location = location
        self.isNamed = isNamed
        triesHeldBack = isNamed
    }

    /// Whether it is wanted also in place of a newer one.
    public var acceptsOlder: Bool { isNamed || !isOrdered }
}

/// How a pull ended.
public enum PullOutcome: Sendable, Hashable {
    /// The release is new on this device; so many bytes came over the network.
    case installed(InstalledRelease, fetchedBytes: UInt64)
    /// The release was there, whole; no byte of it was fetched.
    case alreadyInstalled(InstalledRelease)

    /// The release, either way.
    public var release: InstalledRelease {
        switch self {
        case .installed(let release, _), .alreadyInstalled(let release): release
        }
    }
}

/// What `update` found for one family.
public struct UpdateFinding: Sendable, Hashable {
    /// Why there is, or is not, something to do.
    public enum Reason: Sendable, Hashable {
        case newVersion(Release)
        case noUpdate(NoUpdate)

        /// What is here is what the publisher wants.
        public static var upToDate: Self { .noUpdate(.upToDate) }
        /// No configured source lists the family.
        public static var notOffered: Self { .noUpdate(.notOffered) }
        /// The publisher went back to an older version.
        public static func offeredIsOlder(_ version: ReleaseVersion) -> Self { .noUpdate(.offeredIsOlder(version)) }
    }

    public let family: Family
    /// The version in use, `nil` if none is.
    public let active: ReleaseVersion?
    public let reason: Reason
    /// What to pull for the new version.
    public internal(set) var resolved: ResolvedRelease?
    /// What pulling it would change.
    public internal(set) var plan: UpdatePlan?
    /// How new the source's list was, `nil` where none was read.
    public internal(set) var standing: CatalogListing.Standing?

    /// A finding of the given facts.
    public init(family: Family, active: ReleaseVersion?, reason: Reason) {
        self.family = family
        self.active = active
        self.reason = reason
    }
}
