import Foundation
import HearthBase
import HearthCatalog

/// Writes the signed parts of metadata. Fields of an earlier version that this one does not know are kept.
enum SignedDraft {
    /// The version of the specification that is written.
    static let specification = "1.0.31"

    /// The first root of an origin, or the successor of one.
    static func root(
        after earlier: SignedMetadata?, _ roles: [MetadataRole: RoleDraft], expires: Date
    ) throws(TrustError) -> SignedMetadata {
        var members = try common(after: earlier, .root, expires: expires)
        var keys = members["keys"]?.members ?? [:]
        var entries = members["roles"]?.members ?? [:]
        for (role, draft) in roles {
            try draft.check(role)
            for key in draft.keys { keys[key.id] = key.entry }
            var entry = entries[role.name]?.members ?? [:]
            entry.merge(draft.entry.members ?? [:])
            entries[role.name] = .object(entry)
        }
        // A key that no role names any more is left out, so that a withdrawn key is nowhere in the new root.
        let named = Set(
            entries.values.flatMap { entry -> [JSONValue] in
                if case .array(let ids)? = entry.members?["keyids"] { ids } else { [] }
            })
        members["keys"] = .object(keys.filter { named.contains(.string($0.key)) })
        members["roles"] = .object(entries)
        members["consistent_snapshot"] = .boolean(true)
        return SignedMetadata(.root, signed: .object(members))
    }

    /// The list of files.
    static func targets(
        after earlier: SignedMetadata?, _ files: [TargetFile]?, expires: Date
    ) throws(TrustError) -> SignedMetadata {
        var members = try common(after: earlier, .targets, expires: expires)
        if let files {
            let known = members["targets"]?.members ?? [:]
            var entries: JSONMembers = [:]
            for file in files {
                var entry = known[file.path]?.members ?? [:]
                entry["length"] = .integer(file.length)
                entry["hashes"] = digests(file.digests)
                entries[file.path] = .object(entry)
            }
            members["targets"] = .object(entries)
        }
        return SignedMetadata(.targets, signed: .object(members))
    }

    /// The list of the current targets roles. Delegated roles keep their entries.
    static func snapshot(
        after earlier: SignedMetadata?, targets: SignedMetadata, expires: Date
    ) throws(TrustError) -> SignedMetadata {
        var members = try common(after: earlier, .snapshot, expires: expires)
        var listed = members["meta"]?.members ?? [:]
        listed[MetadataRole.targets.listedName] = try entry(of: targets)
        members["meta"] = .object(listed)
        return SignedMetadata(.snapshot, signed: .object(members))
    }

    /// The timestamp, which names the current snapshot.
    static func timestamp(
        after earlier: SignedMetadata?, snapshot: SignedMetadata, expires: Date
    ) throws(TrustError) -> SignedMetadata {
        var members = try common(after: earlier, .timestamp, expires: expires)
        members["meta"] = .object([MetadataRole.snapshot.listedName: try entry(of: snapshot)])
        return SignedMetadata(.timestamp, signed: .object(members))
    }

    private static func common(
        after earlier: SignedMetadata?, _ role: MetadataRole, expires: Date
    ) throws(TrustError) -> JSONMembers {
        var members = earlier?.signed.members ?? [:]
        let version = try earlier.map { file throws(TrustError) in try file.version() + 1 } ?? 1
        members["_type"] = .string(role.name)
        members["spec_version"] = .string(specification)
        members["version"] = .integer(version)
        members["expires"] = .string(expires.timestamp)
        return members
    }

    private static func entry(of file: SignedMetadata) throws(TrustError) -> JSONValue {
        let data = file.data
        return .object([
            "version": .integer(try file.version()), "length": .integer(data.count),
            "hashes": digests(ListedDigests(of: data)),
        ])
    }

    private static func digests(_ digests: ListedDigests) -> JSONValue {
        var members: JSONMembers = [:]
        members["sha256"] = digests.sha256.map { .string($0.hex) }
        members["sha512"] = digests.sha512.map { .string($0.hexadecimal) }
        return .object(members)
    }
}

extension SignedMetadata {
    /// The version in the signed part.
    /// - Throws: ``TrustError`` with `metadata-invalid`.
    package func version() throws(TrustError) -> UInt64 {
        guard case .number(let digits)? = signed.members?["version"], let version = UInt64(digits), version >= 1 else {
            throw TrustError(
                .metadataInvalid, "\(role) has no version", context: ErrorContext(file: "\(role)", field: "version"))
        }
        return version
    }
}
