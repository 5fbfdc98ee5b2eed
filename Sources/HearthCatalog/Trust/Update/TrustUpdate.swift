import Foundation
import HearthBase

/// An update of an origin's trusted metadata, and the search for files in it: the client workflow of The Update
/// Framework, specification 1.0, section 5, as a value.
///
/// Events go in, effects come out; ``TrustSession`` performs them. Effects are performed in order; the last one is
/// answered by the next event. After an error the update is over. The roots and the timestamps kept before it stay.
///
/// ```
/// start ──> next root? ──> stored timestamp ──> timestamp ──> stored snapshot ──> snapshot ──> stored targets
///              └─ again ┘                                                            targets <──┘
///                                                     search: role after role <── ready <──┘
/// ```
package struct TrustUpdate: Sendable {
    /// A fact from outside.
    package enum Event: Sendable, Hashable {
        case start
        /// Look for a file; only after ``Effect/refreshed``, and any number of times.
        case search(String)
        /// The device's own copy of the role that was loaded.
        case stored(Data?)
        /// The bytes of the requested file.
        case received(Data)
        /// The origin has no such file (404), or denies it (403), as some stores answer for missing files.
        case absent
    }

    /// A step for the caller.
    package enum Effect: Sendable, Hashable {
        /// Remove the device's copy.
        case forget(MetadataRole)
        /// Replace the device's copy, durably.
        case keep(MetadataRole, Data)
        /// Read the device's copy.
        case load(MetadataRole)
        /// Request a file below the address of the metadata, of at most so many bytes.
        case fetch(MetadataRole, name: String, limit: Int)
        /// The four roles are current.
        case refreshed
        /// The search ended; `nil` if no role lists the file.
        case found(TargetFile?)
    }

    /// A role that is loaded next, and the keys that its delegator gives it.
    struct Visit: Sendable {
        let role: MetadataRole
        let keys: RoleKeys
    }

    enum Stage: Sendable {
        case idle
        case roots(followed: Int)
        case storedTimestamp
        case timestamp
        case storedSnapshot
        case snapshot
        case storedTargets(Visit)
        case targets(Visit)
        case ready
    }

    /// The most roots that are followed in one update.
    static let rootLimit = 256
    /// The most roles that are asked for one file.
    static let visitLimit = 32

    package internal(set) var root: RootMetadata
    /// The copy of the device, for comparison; then the current one.
    var timestamp: TimestampMetadata?
    /// The copy of the device, for comparison; then the current one.
    var snapshot: SnapshotMetadata?
    package internal(set) var targets: TargetsMetadata?
    var search: TargetSearch?
    var stage = Stage.idle
    /// The time of the whole update: a clock that is set in its middle makes no difference.
    let now: Date

    /// Begins with a root that the device trusts.
    /// - Throws: ``TrustError`` if the root is malformed or not signed by its own keys. An expired one is accepted,
    ///   because the origin may have a newer one.
    package init(root data: Data, now: Date) throws(TrustError) {
        let file = try SignedMetadata(parsing: data, .root)
        let root = try RootMetadata(file)
        try file.verify(by: root.keys(.root))
        self.root = root
        self.now = now
    }

    /// Takes an event and decides the next steps.
    package mutating func next(_ event: Event) throws(TrustError) -> [Effect] {
        switch (stage, event) {
        case (.idle, .start):
            stage = .roots(followed: 0)
            return [fetchNextRoot()]
        case (.roots(let followed), .received(let data)): return try followRoot(data, followed)
        case (.roots, .absent): return try endOfRoots()
        case (.storedTimestamp, .stored(let data)):
            timestamp = trusted(.timestamp, data) { file throws(TrustError) in try TimestampMetadata(file) }
            stage = .timestamp
            let role = MetadataRole.timestamp
            return [.fetch(role, name: role.addressName(version: nil), limit: role.sizeLimit)]
        case (.timestamp, .received(let data)): return try takeTimestamp(data)
        case (.storedSnapshot, .stored(let data)): return try takeStoredSnapshot(data)
        case (.snapshot, .received(let data)): return try takeSnapshot(data)
        case (.storedTargets(let visit), .stored(let data)): return try takeStoredTargets(data, visit)
        case (.targets(let visit), .received(let data)): return try takeTargets(data, visit)
        case (.ready, .search(let path)):
            search = TargetSearch(path: path)
            guard let targets else { return [] }
            return try look(in: targets, of: .targets)
        case (.timestamp, .absent): throw .missing("\(MetadataRole.timestamp)")
        case (.snapshot, .absent): throw .missing("\(MetadataRole.snapshot)")
        case (.targets(let visit), .absent): throw .missing("\(visit.role)")
        default: return []
        }
    }

    /// The device's copy of a role, if the present root's keys signed it and it is well formed.
    func trusted<Content>(
        _ role: MetadataRole, _ data: Data?, _ read: (SignedMetadata) throws(TrustError) -> Content
    ) -> Content? {
        guard let data else { return nil }
        do {
            let file = try SignedMetadata(parsing: data, role)
            try file.verify(by: root.keys(role))
            return try read(file)
        } catch {
            Log.write(.info, "the stored \(role) is not used: \(error)")
            return nil
        }
    }

    /// The request for a role at the version that a signed list names.
    func fetch(_ role: MetadataRole, _ listed: ListedMetadata) -> Effect {
        .fetch(
            role, name: role.addressName(version: root.isConsistent ? listed.version : nil),
            limit: Int(min(listed.length ?? .max, UInt64(role.sizeLimit))))
    }
}
