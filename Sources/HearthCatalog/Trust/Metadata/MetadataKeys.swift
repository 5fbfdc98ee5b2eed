import Foundation
import HearthBase

/// The keys that may sign for a role, and how many of them must.
package struct RoleKeys: Sendable, Hashable {
    /// The names of the role's keys, also of those that cannot be used.
    package let ids: Set<String>
    /// The usable keys by name.
    package let keys: [String: VerifyingKey]
    package let threshold: Int
}

/// The keys of a root or of a delegation, by name.
package struct MetadataKeys {
    static let maximumIDLength = 128
    static let keyLimit = 1024

    private let keys: [String: VerifyingKey]

    /// Reads keys. A key of an unknown scheme, or a malformed one, stays: it cannot sign, and others may reach the
    /// threshold without it.
    init(_ reader: MetadataReader) throws(TrustError) {
        var keys: [String: VerifyingKey] = [:]
        for (id, entry) in try reader.objects(limit: Self.keyLimit) {
            guard (1...Self.maximumIDLength).contains(id.utf8.count) else {
                throw reader.failure(id, expected: "a name of at most \(Self.maximumIDLength) bytes")
            }
            _ = try entry.text("keytype")
            let text = try entry.object("keyval").text("public", limit: VerifyingKey.maximumTextLength)
            let scheme = SignatureScheme(rawValue: try entry.text("scheme"))
            keys[id] = scheme.flatMap { VerifyingKey($0, text: text) }
        }
        self.keys = keys
    }

    /// Reads the keys and the threshold of one role.
    func role(_ reader: MetadataReader) throws(TrustError) -> RoleKeys {
        let ids = try reader.texts("keyids", limit: Self.keyLimit)
        let unique = Set(ids)
        guard unique.count == ids.count else { throw reader.failure("keyids", expected: "each key once") }
        let threshold = try reader.integer("threshold", in: 1...UInt64(Self.keyLimit))
        return RoleKeys(ids: unique, keys: keys.filter { unique.contains($0.key) }, threshold: Int(threshold))
    }

    /// The SHA-256 of a key's entry.
    package static func id(_ entry: JSONValue) -> String {
        // An entry has no numbers, so it has a canonical form.
        SHA256Digest(hashing: entry.canonicalData ?? Data()).hex
    }
}
