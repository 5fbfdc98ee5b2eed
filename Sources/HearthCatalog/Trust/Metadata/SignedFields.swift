import Foundation
import HearthBase

/// The fields of every signed part.
package struct SignedFields: Sendable, Hashable {
    package let version: UInt64
    package let expires: Date

    /// The largest integer that all JSON parsers read exactly.
    static let largestInteger: UInt64 = 1 << 53
    static let versions: ClosedRange<UInt64> = 1...largestInteger

    /// Reads and checks the type, the specification's version (1.x), the version and the expiry.
    init(_ reader: MetadataReader, type: String) throws(TrustError) {
        guard try reader.text("_type") == type else { throw reader.failure("_type", expected: type.quoted) }
        let parts = try reader.text("spec_version").split(separator: ".", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), parts[0] == "1", parts.allSatisfy({ UInt32($0) != nil }) else {
            throw reader.failure("spec_version", expected: "1.0 or a later 1.x")
        }
        version = try reader.integer("version", in: Self.versions)
        expires = try reader.moment("expires")
    }

    /// Refuses metadata whose time has passed.
    func checkExpiry(_ role: MetadataRole, now: Date) throws(TrustError) {
        guard now < expires else { throw .expired("\(role)", on: expires) }
    }
}

/// The root: the keys of the four roles.
package struct RootMetadata: Sendable, Hashable {
    package let fields: SignedFields
    package let isConsistent: Bool
    package let roles: [MetadataRole: RoleKeys]

    /// Reads a root whose signatures the caller checks.
    package init(_ file: SignedMetadata) throws(TrustError) {
        let reader = try MetadataReader(file.signed, file: "\(file.role)")
        fields = try SignedFields(reader, type: "root")
        isConsistent = reader.has("consistent_snapshot") ? try reader.boolean("consistent_snapshot") : false
        let keys = try MetadataKeys(reader.object("keys"))
        let entries = try reader.object("roles")
        var roles: [MetadataRole: RoleKeys] = [:]
        for role in MetadataRole.topLevel { roles[role] = try keys.role(entries.object(role.name)) }
        self.roles = roles
    }

    /// The keys of one of the four roles.
    package func keys(_ role: MetadataRole) -> RoleKeys {
        // Reading a root fails unless it has all four.
        roles[role] ?? RoleKeys(ids: [], keys: [:], threshold: .max)
    }

    /// Whether a later root withdraws a key of a role.
    func withdrawsKeys(of role: MetadataRole, in later: RootMetadata) -> Bool {
        !keys(role).ids.isSubset(of: later.keys(role).ids)
    }
}

/// The timestamp: which snapshot is current.
package struct TimestampMetadata: Sendable, Hashable {
    package let fields: SignedFields
    package let snapshot: ListedMetadata

    package init(_ file: SignedMetadata) throws(TrustError) {
        let reader = try MetadataReader(file.signed, file: "\(file.role)")
        fields = try SignedFields(reader, type: "timestamp")
        snapshot = try ListedMetadata(reader.object("meta").object("snapshot.json"))
    }
}

/// The snapshot: the current version of every targets role.
package struct SnapshotMetadata: Sendable, Hashable {
    package let fields: SignedFields
    package let listed: [String: ListedMetadata]

    /// The most roles of an origin.
    static let roleLimit = 16384

    package init(_ file: SignedMetadata) throws(TrustError) {
        let reader = try MetadataReader(file.signed, file: "\(file.role)")
        fields = try SignedFields(reader, type: "snapshot")
        var listed: [String: ListedMetadata] = [:]
        for (name, entry) in try reader.object("meta").objects(limit: Self.roleLimit) {
            listed[name] = try ListedMetadata(entry)
        }
        self.listed = listed
    }

    /// Refuses a snapshot in which a role that this one lists is missing or older.
    func checkRollback(in later: SnapshotMetadata) throws(TrustError) {
        for (name, entry) in listed.sorted(by: { $0.key < $1.key }) {
            guard let found = later.listed[name], found.version >= entry.version else {
                throw .rollback(name.quoted, seen: entry.version, found: later.listed[name]?.version)
            }
        }
    }
}

/// The files that a role vouches for, and the roles to which it delegates others.
package struct TargetsMetadata: Sendable, Hashable {
    package let fields: SignedFields
    package let files: [String: TargetFile]
    package let delegations: Delegations?

    /// The most files of one role.
    static let fileLimit = 65536

    package init(_ file: SignedMetadata) throws(TrustError) {
        let reader = try MetadataReader(file.signed, file: "\(file.role)")
        fields = try SignedFields(reader, type: "targets")
        var files: [String: TargetFile] = [:]
        for (path, entry) in try reader.object("targets").objects(limit: Self.fileLimit) {
            files[path] = TargetFile(
                path: path, length: try entry.integer("length", in: 0...SignedFields.largestInteger),
                digests: try ListedDigests(entry.object("hashes")))
        }
        self.files = files
        delegations = reader.has("delegations") ? try Delegations(reader.object("delegations")) : nil
    }
}
