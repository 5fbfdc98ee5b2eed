import Foundation
import HearthBase
import HearthCatalog

/// The keys that a publisher gives a role, and how many of them must sign.
package struct RoleDraft: Sendable, Hashable {
    package var keys: [MetadataKey]
    package var threshold: Int

    package init(_ keys: [MetadataKey], threshold: Int = 1) {
        self.keys = keys
        self.threshold = threshold
    }

    /// A role that any of some private keys may sign for.
    package init(keys: [Ed25519Key], threshold: Int = 1) {
        self.init(keys.compactMap { MetadataKey(ed25519: $0.publicBytes) }, threshold: threshold)
    }

    /// The role's entry in a root.
    var entry: JSONValue {
        .object(["keyids": .array(keys.map { .string($0.id) }), "threshold": .integer(threshold)])
    }

    /// Refuses a role that no signature could satisfy, or that has a key twice.
    func check(_ role: MetadataRole) throws(TrustError) {
        guard Set(keys).count == keys.count, (1...max(1, keys.count)).contains(threshold), !keys.isEmpty else {
            throw TrustError(
                .badKey, "\(threshold) of \(keys.count) keys cannot sign for \(role)",
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

    /// The days of a role.
    package subscript(role: MetadataRole) -> Int {
        get {
            switch role {
            case .root: root
            case .snapshot: snapshot
            case .timestamp: timestamp
            default: targets
            }
        }
        set {
            switch role {
            case .root: root = newValue
            case .snapshot: snapshot = newValue
            case .timestamp: timestamp = newValue
            default: targets = newValue
            }
        }
    }

    func expiry(_ role: MetadataRole, now: Date) -> Date { now.addingTimeInterval(Double(self[role]) * 86400) }
}
