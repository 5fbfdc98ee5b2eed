import Foundation
import HearthBase
import HearthCatalog

/// Facts that a collection is decided by: the contents of the home folder and the reasons to keep them. A value.
package struct CollectionFacts: Sendable {
    /// A release that has a folder, whole or not.
    package struct Member: Sendable, Hashable {
        package let identity: ReleaseIdentity
        /// Reasons to keep it; empty for one that may be removed.
        package var protections: Set<KeepReason> = []
        /// The date of its installation or of its last use, whichever is later; the distant past if unknown.
        var lastUsed = Date.distantPast
        /// The bytes of its artifacts.
        package var preparedBytes: UInt64 = 0
        /// The bytes of artifacts that no engine opens any more, and no process reads.
        package var outdatedBytes: UInt64 = 0

        /// The bytes of artifacts that an engine would open.
        var currentBytes: UInt64 { preparedBytes - min(outdatedBytes, preparedBytes) }
    }

    /// A folder besides the releases that may be removed.
    package struct Remnant: Sendable, Hashable {
        package let item: CollectionPlan.Item
        package let bytes: UInt64
        /// The date of its last change, `nil` if unknown.
        package var changed: Date?

        /// A remnant of the given facts.
        package init(item: CollectionPlan.Item, bytes: UInt64, changed: Date? = nil) {
            self.item = item
            self.bytes = bytes
            self.changed = changed
        }
    }

    package var members: [Member] = []
    /// The live release of each family that has one.
    package var active: [Family: ReleaseIdentity] = [:]
    package var owners = FileOwners()
    /// Artifacts of releases that are no longer installed.
    var strayPrepared: [Remnant] = []
    /// Transfers without a known purpose, or cancelled.
    package var orphans: [Remnant] = []
    /// Cached catalogs of origins that are not configured any more.
    package var strayCatalogs: [Remnant] = []
    /// Computed states of instructions for weights that are not installed.
    package var strayStates: [Remnant] = []
}

/// Reasons to keep a release.
package enum KeepReason: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
    /// It is the live release of its family.
    case active
    /// It was live before, so a rollback needs it.
    case previous
    /// The user has pinned it.
    case pinned
    /// It is on probation.
    case onProbation = "on-probation"
    /// A process reads it.
    case inUse = "in-use"
    /// It is being installed or transferred.
    case incoming
    /// No release of its family is active, so it is unknown which one is needed.
    case noActive = "no-active-release"
    /// It is not older than the active one.
    case notOlder = "not-older"

    package static func < (left: Self, right: Self) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }

    /// Whether the release stays even if a budget is exceeded.
    var isBinding: Bool { self != .noActive && self != .notOlder }

    /// For people, after `stays:`.
    package var sentence: String {
        switch self {
        case .active: "it is active"
        case .previous: "it was active before"
        case .pinned: "it is pinned"
        case .onProbation: "it is on probation"
        case .inUse: "a process uses it"
        case .incoming: "it is being installed"
        case .noActive: "no release of the model is active"
        case .notOlder: "it is not older than the active one"
        }
    }
}
