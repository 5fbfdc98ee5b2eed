import Foundation
import HearthBase

/// What there is on the device and who wants it: all that a collection is decided by. A value.
public struct CollectionFacts: Sendable {
    /// A release that has a folder, whole or not.
    struct Member: Sendable, Hashable {
        let identity: ReleaseIdentity
        /// Why it has to stay; empty for one that may go.
        var wishes: Set<KeepReason> = []
        /// When it was installed, or last taken into use if that was later; the distant past where nobody knows.
        var lastUsed = Date.distantPast
        /// The bytes of what an engine made from it.
        var preparedBytes: UInt64 = 0
        /// Those of them that no engine opens any more, and nobody reads.
        var outdatedBytes: UInt64 = 0

        /// What an engine made from it and would open.
        var currentBytes: UInt64 { preparedBytes - min(outdatedBytes, preparedBytes) }
    }

    /// Something besides releases that may be left over.
    struct Remnant: Sendable, Hashable {
        let item: CollectionPlan.Item
        let bytes: UInt64
        /// When it last changed, `nil` where nobody knows.
        var changed: Date?
    }

    var members: [Member] = []
    /// The live release of each family that has one.
    var active: [Family: ReleaseIdentity] = [:]
    var owners = FileOwners()
    /// What engines made from releases that are gone.
    var strayPrepared: [Remnant] = []
    /// Transfers that nobody knows the purpose of, or that were cancelled.
    var orphans: [Remnant] = []
    /// Copies of catalogs of origins that are not configured any more.
    var strayCatalogs: [Remnant] = []
}

/// Why a release stays.
public enum KeepReason: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
    /// It is the one its family's users get.
    case active
    /// It was active before: the way back.
    case previous
    /// The user holds on to it.
    case pinned
    /// It has yet to prove itself.
    case onProbation = "on-probation"
    /// A process reads it.
    case inUse = "in-use"
    /// It is being installed or transferred.
    case incoming
    /// No release of its family is active, so nobody can tell which is wanted.
    case noActive = "no-active-release"
    /// It is not older than the active one.
    case notOlder = "not-older"

    public static func < (left: Self, right: Self) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }

    /// Whether not even a budget moves it.
    var isBinding: Bool { self != .noActive && self != .notOlder }

    /// For people, after `stays:`.
    public var sentence: String {
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
