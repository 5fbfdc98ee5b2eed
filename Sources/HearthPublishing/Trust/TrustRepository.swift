import Foundation
import HearthBase
import HearthCatalog

/// The metadata of a signed origin, as its publisher changes it. A value: each change is checked as a device would check
/// it, and a refused one changes nothing.
///
/// ```swift
/// var repository = try TrustRepository(roles: roles, signers: keys, now: now)
/// try repository.list([TargetFile(path: "models.json", …)], signers: keys, now: now)
/// for file in repository.files { write(file.name, file.data) }    // in this order, the timestamp last
/// ```
package struct TrustRepository: Sendable, Hashable {
    package private(set) var root: SignedMetadata
    package private(set) var targets: SignedMetadata
    package private(set) var snapshot: SignedMetadata
    package private(set) var timestamp: SignedMetadata
    package var lifetimes: TrustLifetimes

    /// The first metadata of an origin, which lists no file.
    /// - Parameter roles: the keys of all four roles.
    /// - Throws: ``TrustError`` with `bad-key` or `too-few-signatures`.
    package init(
        roles: [MetadataRole: RoleDraft], signers: [Ed25519Key], lifetimes: TrustLifetimes = TrustLifetimes(), now: Date
    ) throws(TrustError) {
        for role in MetadataRole.topLevel where roles[role] == nil {
            throw TrustError(.badKey, "\(role) has no key", context: ErrorContext(file: "\(role)"), disposition: .usage)
        }
        var root = try SignedDraft.root(after: nil, roles, expires: lifetimes.expiry(.root, now: now))
        let keys = try RootMetadata(root)
        try Self.sign(&root, signers, [keys.keys(.root)])
        var targets = try SignedDraft.targets(after: nil, [], expires: lifetimes.expiry(.targets, now: now))
        try Self.sign(&targets, signers, [keys.keys(.targets)])
        var snapshot = try SignedDraft.snapshot(
            after: nil, targets: targets, expires: lifetimes.expiry(.snapshot, now: now))
        try Self.sign(&snapshot, signers, [keys.keys(.snapshot)])
        var timestamp = try SignedDraft.timestamp(
            after: nil, snapshot: snapshot, expires: lifetimes.expiry(.timestamp, now: now))
        try Self.sign(&timestamp, signers, [keys.keys(.timestamp)])
        self.root = root
        self.targets = targets
        self.snapshot = snapshot
        self.timestamp = timestamp
        self.lifetimes = lifetimes
    }

    /// Reads the present metadata of an origin and checks that its root's keys signed all of it. Expired metadata is
    /// accepted, so that it can be renewed.
    package init(
        root: Data, targets: Data, snapshot: Data, timestamp: Data, lifetimes: TrustLifetimes = TrustLifetimes()
    ) throws(TrustError) {
        self.root = try SignedMetadata(parsing: root, .root)
        self.targets = try SignedMetadata(parsing: targets, .targets)
        self.snapshot = try SignedMetadata(parsing: snapshot, .snapshot)
        self.timestamp = try SignedMetadata(parsing: timestamp, .timestamp)
        self.lifetimes = lifetimes
        let keys = try RootMetadata(self.root)
        for file in [self.root, self.targets, self.snapshot, self.timestamp] {
            try file.verify(by: keys.keys(file.role))
        }
        _ = try TargetsMetadata(self.targets)
        _ = try SnapshotMetadata(self.snapshot)
        _ = try TimestampMetadata(self.timestamp)
    }

    /// Replaces the list of files; needs keys of targets, snapshot and timestamp.
    package mutating func list(_ files: [TargetFile], signers: [Ed25519Key], now: Date) throws(TrustError) {
        try change(signers, now) { copy, keys throws(TrustError) in
            try copy.replaceTargets(files, signers, keys, now)
        }
    }

    /// Signs a timestamp with a later expiry; needs a key of the timestamp only.
    package mutating func renew(signers: [Ed25519Key], now: Date) throws(TrustError) {
        try change(signers, now) { _, _ throws(TrustError) in }
    }

    /// The successor of the root with other keys for some roles, signed by the signers at hand. It may lack signatures:
    /// `SignedMetadata.sign(with:)` adds those of other machines, and ``take(root:signers:now:)`` publishes it.
    package func successor(
        _ roles: [MetadataRole: RoleDraft], signers: [Ed25519Key], now: Date
    ) throws(TrustError) -> SignedMetadata {
        var draft = try SignedDraft.root(after: root, roles, expires: lifetimes.expiry(.root, now: now))
        let present = try RootMetadata(root)
        let next = try RootMetadata(draft)
        let ids = present.keys(.root).ids.union(next.keys(.root).ids)
        for key in signers where ids.contains(MetadataKeys.id(of: key)) { try draft.sign(with: key) }
        return draft
    }

    /// Takes a successor of the root, and signs what its new keys must sign.
    /// - Throws: ``TrustError`` with `too-few-signatures` unless the present and the new keys signed it, and
    ///   `metadata-mismatch` for another version than the next.
    package mutating func take(root next: SignedMetadata, signers: [Ed25519Key], now: Date) throws(TrustError) {
        let present = try RootMetadata(root)
        let keys = try RootMetadata(next)
        try next.verify(by: present.keys(.root))
        try next.verify(by: keys.keys(.root))
        guard keys.fields.version == present.fields.version + 1 else {
            throw TrustError(
                .metadataMismatch, "this root is not the successor of the present one",
                context: ErrorContext(
                    file: "root.json", field: "version", expected: "\(present.fields.version + 1)",
                    found: "\(keys.fields.version)", remedy: "Make the change again from the present root."))
        }
        var copy = self
        copy.root = next
        let isChanged = { (role: MetadataRole) in present.keys(role) != keys.keys(role) }
        if isChanged(.targets) {
            try copy.replaceTargets(nil, signers, keys, now)
        } else if isChanged(.snapshot) {
            try copy.replaceSnapshot(signers, keys, now)
        }
        if isChanged(.targets) || isChanged(.snapshot) || isChanged(.timestamp) {
            try copy.replaceTimestamp(signers, keys, now)
        }
        self = copy
    }

    /// The files below the address of the metadata, in the order in which they must be written.
    package var files: [(name: String, data: Data)] {
        get throws(TrustError) {
            [
                (MetadataRole.root.addressName(version: try root.version()), root.data),
                (MetadataRole.targets.addressName(version: try targets.version()), targets.data),
                (MetadataRole.snapshot.addressName(version: try snapshot.version()), snapshot.data),
                (MetadataRole.timestamp.addressName(version: nil), timestamp.data),
            ]
        }
    }

    /// The signed list of files.
    package var listedFiles: [String: TargetFile] {
        get throws(TrustError) { try TargetsMetadata(targets).files }
    }

    // MARK: - Changes

    /// Makes a change to a copy, then signs a new timestamp.
    private mutating func change(
        _ signers: [Ed25519Key], _ now: Date,
        _ body: (inout TrustRepository, RootMetadata) throws(TrustError) -> Void
    ) throws(TrustError) {
        var copy = self
        let keys = try RootMetadata(root)
        try body(&copy, keys)
        try copy.replaceTimestamp(signers, keys, now)
        self = copy
    }

    private mutating func replaceTargets(
        _ files: [TargetFile]?, _ signers: [Ed25519Key], _ keys: RootMetadata, _ now: Date
    ) throws(TrustError) {
        targets = try SignedDraft.targets(
            after: targets, files, expires: lifetimes.expiry(.targets, now: now))
        try Self.sign(&targets, signers, [keys.keys(.targets)])
        try replaceSnapshot(signers, keys, now)
    }

    private mutating func replaceSnapshot(
        _ signers: [Ed25519Key], _ keys: RootMetadata, _ now: Date
    ) throws(TrustError) {
        snapshot = try SignedDraft.snapshot(
            after: snapshot, targets: targets, expires: lifetimes.expiry(.snapshot, now: now))
        try Self.sign(&snapshot, signers, [keys.keys(.snapshot)])
    }

    private mutating func replaceTimestamp(
        _ signers: [Ed25519Key], _ keys: RootMetadata, _ now: Date
    ) throws(TrustError) {
        timestamp = try SignedDraft.timestamp(
            after: timestamp, snapshot: snapshot, expires: lifetimes.expiry(.timestamp, now: now))
        try Self.sign(&timestamp, signers, [keys.keys(.timestamp)])
    }

    /// Signs with every signer that may, and checks that they are enough.
    private static func sign(
        _ file: inout SignedMetadata, _ signers: [Ed25519Key], _ roles: [RoleKeys]
    ) throws(TrustError) {
        for role in roles {
            for key in signers where role.ids.contains(MetadataKeys.id(of: key)) { try file.sign(with: key) }
        }
        for role in roles { try file.verify(by: role) }
    }
}
