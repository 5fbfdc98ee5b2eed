import Foundation
import HearthBase
import HearthCatalog

/// The keys that a publisher gives a role, and how many of them must sign.
package struct RoleDraft: Sendable, Hashable {
    /// The public keys, 32 bytes each.
    package var publicKeys: [[UInt8]]
    package var threshold: Int

    package init(_ publicKeys: [[UInt8]], threshold: Int = 1) {
        self.publicKeys = publicKeys
        self.threshold = threshold
    }

    /// A role that any of some private keys may sign for.
    package init(keys: [Ed25519Key], threshold: Int = 1) {
        self.init(keys.map(\.publicBytes), threshold: threshold)
    }

    /// The role's entry in a root.
    var entry: JSONValue {
        .object([
            "keyids": .array(publicKeys.map { .string(MetadataKeys.id(publicBytes: $0)) }),
            "threshold": .integer(threshold),
        ])
    }

    /// Refuses a role that no signature could satisfy, or that has a key twice.
    func check(_ role: MetadataRole) throws(TrustError) {
        guard Set(publicKeys).count == publicKeys.count, publicKeys.allSatisfy({ $0.count == 32 }),
            (1...max(1, publicKeys.count)).contains(threshold), !publicKeys.isEmpty
        else {
            throw TrustError(
                .badKey, "\(threshold) of \(publicKeys.count) keys cannot sign for \(role)",
                context: ErrorContext(
                    file: "\(role)", remedy: "Give each key once, and at most as many signatures as keys."),
                disposition: .usage)
        }
    }
}

/// How long metadata is valid after it was signed.
package struct TrustLifetimes: Sendable, Hashable {
    /// Days of the root.
    package var root = 730
    /// Days of the targets.
    package var targets = 365
    /// Days of the snapshot.
    package var snapshot = 365
    /// Days of the timestamp, which a timer renews. Shorter means that devices notice held-back updates sooner.
    package var timestamp = 30

    package init() {}

    func expiry(_ role: MetadataRole, now: Date) -> Date {
        let days =
            switch role {
            case .root: root
            case .snapshot: snapshot
            case .timestamp: timestamp
            default: targets
            }
        return now.addingTimeInterval(Double(days) * 86400)
    }
}
