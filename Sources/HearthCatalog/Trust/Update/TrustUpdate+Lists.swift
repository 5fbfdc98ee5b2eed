import Foundation
import HearthBase

/// The timestamp and the snapshot (sections 5.4 and 5.5 of the specification).
extension TrustUpdate {
    mutating func takeTimestamp(_ data: Data) throws(TrustError) -> [Effect] {
        let role = MetadataRole.timestamp
        let file = try SignedMetadata(parsing: data, role)
        try file.verify(by: root.keys(role))
        let received = try TimestampMetadata(file)
        var effects: [Effect] = []
        if let stored = timestamp, stored.fields.version == received.fields.version {
            // Nothing new. The stored one stays, because a second one of the same version is not its successor.
            try stored.fields.checkExpiry(role, now: now)
        } else {
            if let stored = timestamp {
                guard received.fields.version > stored.fields.version else {
                    throw .rollback("\(role)", seen: stored.fields.version, found: received.fields.version)
                }
                guard received.snapshot.version >= stored.snapshot.version else {
                    throw .rollback(
                        "\(MetadataRole.snapshot)", seen: stored.snapshot.version, found: received.snapshot.version)
                }
            }
            try received.fields.checkExpiry(role, now: now)
            timestamp = received
            effects.append(.keep(role, data))
        }
        stage = .storedSnapshot
        return effects + [.load(.snapshot)]
    }

    mutating func takeStoredSnapshot(_ data: Data?) throws(TrustError) -> [Effect] {
        guard let listed = timestamp?.snapshot else { return [] }
        snapshot = trusted(.snapshot, data) { file throws(TrustError) in try SnapshotMetadata(file) }
        if let data, let snapshot, snapshot.fields.version == listed.version, now < snapshot.fields.expires,
            isListed(data, .snapshot, listed)
        {
            return try loadTargets()
        }
        stage = .snapshot
        return [fetch(.snapshot, listed)]
    }

    mutating func takeSnapshot(_ data: Data) throws(TrustError) -> [Effect] {
        let role = MetadataRole.snapshot
        guard let listed = timestamp?.snapshot else { return [] }
        try listed.check(data, role)
        let file = try SignedMetadata(parsing: data, role)
        try file.verify(by: root.keys(role))
        let received = try SnapshotMetadata(file)
        guard received.fields.version == listed.version else {
            throw .mismatch(
                "\(role)", "version", expected: "\(listed.version)", found: "\(received.fields.version)")
        }
        // The stored snapshot counts even if the timestamp lists another: it tells what this device has seen.
        try snapshot?.checkRollback(in: received)
        try received.fields.checkExpiry(role, now: now)
        snapshot = received
        return [.keep(role, data)] + (try loadTargets())
    }

    /// Whether bytes have the length and the digests of a signed list.
    func isListed(_ data: Data, _ role: MetadataRole, _ listed: ListedMetadata) -> Bool {
        do {
            try listed.check(data, role)
            return true
        } catch {
            return false
        }
    }

    private mutating func loadTargets() throws(TrustError) -> [Effect] {
        try load(Visit(role: .targets, keys: root.keys(.targets)))
    }
}
