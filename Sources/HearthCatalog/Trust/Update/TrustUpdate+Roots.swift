import Foundation
import HearthBase

/// The roots, one after another (section 5.3 of the specification).
extension TrustUpdate {
    func fetchNextRoot() -> Effect {
        .fetch(
            .root, name: MetadataRole.root.addressName(version: root.fields.version + 1),
            limit: MetadataRole.root.sizeLimit)
    }

    /// Takes the next root: signed by the keys of the present one and by its own.
    mutating func followRoot(_ data: Data, _ followed: Int) throws(TrustError) -> [Effect] {
        let file = try SignedMetadata(parsing: data, .root)
        try file.verify(by: root.keys(.root))
        let next = try RootMetadata(file)
        try file.verify(by: next.keys(.root))
        let expected = root.fields.version + 1
        guard next.fields.version == expected else {
            throw .mismatch(
                "\(MetadataRole.root)", "version", expected: "\(expected)", found: "\(next.fields.version)")
        }
        var effects: [Effect] = []
        // An attacker with a stolen key may have set versions so high that no real one is ever newer. Withdrawing the
        // key takes those versions back. They are removed first: after a crash in between the root comes again.
        if [MetadataRole.timestamp, .snapshot].contains(where: { root.withdrawsKeys(of: $0, in: next) }) {
            effects = [.forget(.timestamp), .forget(.snapshot)]
        }
        root = next
        effects.append(.keep(.root, data))
        guard followed + 1 < Self.rootLimit else { return effects + (try endOfRoots()) }
        stage = .roots(followed: followed + 1)
        return effects + [fetchNextRoot()]
    }

    /// Goes on to the timestamp with the last root.
    mutating func endOfRoots() throws(TrustError) -> [Effect] {
        try root.fields.checkExpiry(.root, now: now)
        stage = .storedTimestamp
        return [.load(.timestamp)]
    }
}
