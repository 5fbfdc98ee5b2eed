import Foundation
import HearthBase
import HearthCatalog

/// The metadata of a signed origin, as its publisher changes it. A value: each change is checked as a device would check
/// it, and a refused one changes nothing. Signing blocks.
///
/// ```swift
/// var repository = try TrustRepository(roles: roles, signers: keys, now: now)
/// try repository.list([TargetFile(path: "models.json", …)], signers: keys, now: now)
/// for file in try repository.files { write(file.name, file.data) }    // in this order, the timestamp last
/// ```
package struct TrustRepository: Sendable, Hashable {
    package private(set) var root: SignedMetadata
    package private(set) var targets: SignedMetadata
    package private(set) var snapshot: SignedMetadata
    package private(set) var timestamp: SignedMetadata
    package var lifetimes: TrustLifetimes
    /// The roles whose files only the keys of the former root signed: a change of the root was interrupted after the new
    /// root was written. The next change signs them.
    package private(set) var outdated: Set<MetadataRole> = []

    /// The first metadata of an origin, which lists no file.
    /// - Parameter roles: the keys of all four roles.
    /// - Throws: ``TrustError`` with `bad-key` or `too-few-signatures`.
    package init(
        roles: [MetadataRole: RoleDraft], signers: [any MetadataSigner], lifetimes: TrustLifetimes = TrustLifetimes(),
        now: Date
    ) throws(TrustError) {
        let root = try Self.firstRoot(roles, signers: signers, lifetimes: lifetimes, now: now)
        try self.init(first: root, signers: signers, lifetimes: lifetimes, now: now)
    }

    /// The first metadata of an origin, with a root that its owners have signed.
    /// - Throws: ``TrustError`` with `too-few-signatures`, also if the root lacks some.
    package init(
        first root: SignedMetadata, signers: [any MetadataSigner], lifetimes: TrustLifetimes = TrustLifetimes(),
        now: Date
    ) throws(TrustError) {
        let keys = try RootMetadata(root)
        try root.verify(by: keys.keys(.root))
        try Self.checkVersion(of: keys, 1)
        var targets = try SignedDraft.targets(after: nil, [], expires: lifetimes.expiry(.targets, now: now))
        try Self.sign(&targets, signers, keys)
        var snapshot = try SignedDraft.snapshot(
            after: nil, targets: targets, expires: lifetimes.expiry(.snapshot, now: now))
        try Self.sign(&snapshot, signers, keys)
        var timestamp = try SignedDraft.timestamp(
            after: nil, snapshot: snapshot, expires: lifetimes.expiry(.timestamp, now: now))
        try Self.sign(&timestamp, signers, keys)
        self.root = root
        self.targets = targets
        self.snapshot = snapshot
        self.timestamp = timestamp
        self.lifetimes = lifetimes
    }

    /// The first root of an origin, signed by the signers at hand. It may lack signatures, which
    /// `SignedMetadata.sign(with:)` adds on other machines.
    /// - Throws: ``TrustError`` with `bad-key`.
    package static func firstRoot(
        _ roles: [MetadataRole: RoleDraft], signers: [any MetadataSigner],
        lifetimes: TrustLifetimes = TrustLifetimes(), now: Date
    ) throws(TrustError) -> SignedMetadata {
        for role in MetadataRole.topLevel where roles[role] == nil {
            throw TrustError(.badKey, "\(role) has no key", context: ErrorContext(file: "\(role)"), disposition: .usage)
        }
        var root = try SignedDraft.root(after: nil, roles, expires: lifetimes.expiry(.root, now: now))
        let ids = try RootMetadata(root).keys(.root).ids
        try addSignatures(to: &root, signers, ids: ids)
        return root
    }

    /// Reads the present metadata of an origin and checks that its root's keys signed all of it, or those of the root
    /// before. Expired metadata is accepted, so that it can be renewed.
    package init(
        root: Data, formerRoot: Data? = nil, targets: Data, snapshot: Data, timestamp: Data,
        lifetimes: TrustLifetimes = TrustLifetimes()
    ) throws(TrustError) {
        self.root = try SignedMetadata(parsing: root, .root)
        self.targets = try SignedMetadata(parsing: targets, .targets)
        self.snapshot = try SignedMetadata(parsing: snapshot, .snapshot)
        self.timestamp = try SignedMetadata(parsing: timestamp, .timestamp)
        self.lifetimes = lifetimes
        let keys = try RootMetadata(self.root)
        try self.root.verify(by: keys.keys(.root))
        for file in [self.targets, self.snapshot, self.timestamp] {
            do {
                try file.verify(by: keys.keys(file.role))
            } catch {
                guard let formerRoot else { throw error }
                let former = try SignedMetadata(parsing: formerRoot, .root)
                try file.verify(by: RootMetadata(former).keys(file.role))
                outdated.insert(file.role)
            }
        }
        _ = try TargetsMetadata(self.targets)
        _ = try SnapshotMetadata(self.snapshot)
        _ = try TimestampMetadata(self.timestamp)
    }

    /// The keys of the present root.
    package var rootMetadata: RootMetadata {
        get throws(TrustError) { try RootMetadata(root) }
    }

    /// Replaces the list of files; needs keys of targets, snapshot and timestamp.
    /// - Parameter files: `nil` keeps the list and renews its expiry.
    package mutating func list(
        _ files: [TargetFile]?, signers: [any MetadataSigner], now: Date
    ) throws(TrustError) {
        var copy = self
        let keys = try RootMetadata(root)
        try copy.replaceTargets(files, signers, keys, now)
        try copy.replaceTimestamp(signers, keys, now)
        self = copy
    }

    /// Signs a timestamp, a snapshot or a list of files with a later expiry, and the metadata that names it. A timestamp
    /// needs only its own key.
    package mutating func renew(
        _ role: MetadataRole = .timestamp, signers: [any MetadataSigner], now: Date
    ) throws(TrustError) {
        if role == .targets || outdated.contains(.targets) { return try list(nil, signers: signers, now: now) }
        var copy = self
        let keys = try RootMetadata(root)
        if role == .snapshot || outdated.contains(.snapshot) { try copy.replaceSnapshot(signers, keys, now) }
        try copy.replaceTimestamp(signers, keys, now)
        self = copy
    }

    /// The successor of the root with other keys for some roles, signed by the signers at hand. It may lack signatures:
    /// `SignedMetadata.sign(with:)` adds those of other machines, and ``take(root:signers:now:)`` publishes it.
    package func successor(
        _ roles: [MetadataRole: RoleDraft], signers: [any MetadataSigner], now: Date
    ) throws(TrustError) -> SignedMetadata {
        var draft = try SignedDraft.root(after: root, roles, expires: lifetimes.expiry(.root, now: now))
        let ids = try RootMetadata(root).keys(.root).ids.union(RootMetadata(draft).keys(.root).ids)
        try Self.addSignatures(to: &draft, signers, ids: ids)
        return draft
    }

    /// Takes a successor of the root, and signs what its new keys must sign.
    /// - Throws: ``TrustError`` with `too-few-signatures` unless the present and the new keys signed it, and
    ///   `metadata-mismatch` for another version than the next.
    package mutating func take(
        root next: SignedMetadata, signers: [any MetadataSigner], now: Date
    ) throws(TrustError) {
        let present = try RootMetadata(root)
        let keys = try RootMetadata(next)
        try next.verify(by: present.keys(.root))
        try next.verify(by: keys.keys(.root))
        try Self.checkVersion(of: keys, present.fields.version + 1)
        var copy = self
        copy.root = next
        let isChanged = { (role: MetadataRole) in
            present.keys(role) != keys.keys(role) || copy.outdated.contains(role)
        }
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

    private mutating func replaceTargets(
        _ files: [TargetFile]?, _ signers: [any MetadataSigner], _ keys: RootMetadata, _ now: Date
    ) throws(TrustError) {
        targets = try SignedDraft.targets(after: targets, files, expires: lifetimes.expiry(.targets, now: now))
        try Self.sign(&targets, signers, keys)
        try replaceSnapshot(signers, keys, now)
    }

    private mutating func replaceSnapshot(
        _ signers: [any MetadataSigner], _ keys: RootMetadata, _ now: Date
    ) throws(TrustError) {
        snapshot = try SignedDraft.snapshot(
            after: snapshot, targets: targets, expires: lifetimes.expiry(.snapshot, now: now))
        try Self.sign(&snapshot, signers, keys)
    }

    private mutating func replaceTimestamp(
        _ signers: [any MetadataSigner], _ keys: RootMetadata, _ now: Date
    ) throws(TrustError) {
        timestamp = try SignedDraft.timestamp(
            after: timestamp, snapshot: snapshot, expires: lifetimes.expiry(.timestamp, now: now))
        try Self.sign(&timestamp, signers, keys)
        // It comes last in each change, after the roles above it were signed.
        outdated = []
    }

    /// Signs with every signer of the file's role, and checks that they are enough.
    private static func sign(
        _ file: inout SignedMetadata, _ signers: [any MetadataSigner], _ keys: RootMetadata
    ) throws(TrustError) {
        let role = keys.keys(file.role)
        try addSignatures(to: &file, signers, ids: role.ids)
        let count = try file.signatureCount(by: role)
        guard count >= role.threshold else {
            throw TrustError.keysMissing(file.role, found: count, needed: role.threshold)
        }
    }

    private static func addSignatures(
        to file: inout SignedMetadata, _ signers: [any MetadataSigner], ids: Set<String>
    ) throws(TrustError) {
        for signer in signers where ids.contains(try signer.key.id) { try file.sign(with: signer) }
    }

    private static func checkVersion(of root: RootMetadata, _ expected: UInt64) throws(TrustError) {
        guard root.fields.version == expected else {
            throw TrustError(
                .metadataMismatch, "this root is not the successor of the present one",
                context: ErrorContext(
                    file: "root.json", field: "version", expected: "\(expected)", found: "\(root.fields.version)",
                    remedy: "Make the change again from the present root."))
        }
    }
}

extension HearthError<Origin> {
    /// The error of a publisher who lacks keys of a role.
    static func keysMissing(_ role: MetadataRole, found: Int, needed: Int) -> Self {
        Self(
            .tooFewSignatures, "\(found) of \(needed) keys are at hand that must sign \(role)",
            context: ErrorContext(
                file: "\(role)", expected: "\(needed)", found: "\(found)", remedy: "Give the keys of \(role.name)."),
            disposition: .usage)
    }
}
