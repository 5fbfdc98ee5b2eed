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
    /// The days of each role. A timer renews the timestamp; with fewer days, devices notice held-back updates sooner.
    private var days: [MetadataRole: Int] = [.root: 730, .targets: 365, .snapshot: 365, .timestamp: 30]

    package init() {}

    /// The days of a role.
    package subscript(role: MetadataRole) -> Int {
        get { days[role] ?? 365 }
        set { days[role] = newValue }
    }

    func expiry(_ role: MetadataRole, now: Date) -> Date { now.addingTimeInterval(Double(self[role]) * 86400) }
}
