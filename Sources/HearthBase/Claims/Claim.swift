import Foundation

/// A record on the disk that a process holds a resource, or has reached a stage of its work.
///
/// ```json
/// { "format": 1, "token": "…32 hexadecimal digits…",
///   "holder": { "number": 4711, "started": "123456", "boot": "…", "space": "…" },
///   "since": "2026-11-21T10:00:00Z", "renewed": "2026-11-21T10:10:00Z",
///   "purpose": "rollback", "details": { "target": "1.0.0" } }
/// ```
/// A claim is void after its process has ended. If this process cannot look up the holder, which is in another
/// container or machine, the claim is void after it is overdue for a renewal: see ``isStale(at:lifetime:)``.
package struct Claim: Sendable, Hashable {
    /// The largest accepted claim, in bytes.
    package static let sizeLimit = 4096
    private static let defaultSize = 512

    private let format = 1
    /// Identifies the claim; never used twice.
    package var token: String
    package var holder: ProcessIdentity
    /// The time of the claim, in whole seconds.
    package var since: Date
    /// The time of the last renewal, in whole seconds.
    package var renewed: Date
    /// The purpose of the claim, or the stage its holder has reached.
    package var purpose: String?
    /// Further facts, such as the target of a rollback.
    package var details: [String: String]

    /// Makes a claim of this process.
    package init(at date: Date, purpose: String? = nil, details: [String: String] = [:]) {
        token = Self.newToken()
        holder = .current
        since = Self.wholeSeconds(date)
        renewed = since
        self.purpose = purpose
        self.details = details
    }

    /// Makes a new token.
    package static func newToken() -> String { [UInt8].random(16).hexadecimal }

    /// Whether a text has the form of a token.
    package static func isToken(_ text: String) -> Bool {
        text.utf8.count == 32 && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }

    /// Whether the holder still has this claim; `nil` if it belongs to another container, machine or boot.
    package var isHeld: Bool? { holder == .current ? HeldClaim.holds(token) : holder.isRunning }

    /// Whether the claim is void.
    /// - Parameter lifetime: how long a claim is valid without a renewal if this process cannot look up its holder.
    package func isStale(at now: Date, lifetime: Duration) -> Bool {
        isHeld.map { !$0 } ?? isOverdue(at: now, lifetime: lifetime)
    }

    /// Whether the last renewal is further away than `lifetime`, in the past or the future.
    package func isOverdue(at now: Date, lifetime: Duration) -> Bool {
        Swift.abs(now.timeIntervalSince(renewed)) > lifetime.seconds
    }

    /// Records that the holder still runs.
    package mutating func renew(at date: Date) { renewed = Self.wholeSeconds(date) }

    private static func wholeSeconds(_ date: Date) -> Date {
        Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
    }
}

extension Claim: DiskRecord {
    private enum CodingKeys: String, CodingKey { case format, token, holder, since, renewed, purpose, details }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try values.require(format: format, .format)
        // The token becomes part of a file's name.
        token = try values.checked(.token, or: "not a token", Self.isToken)
        holder = try values.checked(.holder, or: "not a process") { $0.number > 0 }
        since = try values.decode(Date.self, forKey: .since)
        renewed = try values.decode(Date.self, forKey: .renewed)
        purpose = try values.optionalText(.purpose)
        details = try values.decode([String: String].self, forKey: .details)
    }

    /// The claim for the disk, padded so that a renewal in place overwrites a longer text completely.
    /// - Parameter size: the length of the file that it replaces in place.
    package func padded(to size: Int = 0) throws -> Data {
        let text = try data()
        return text + Data(repeating: UInt8(ascii: " "), count: max(0, max(size, Self.defaultSize) - text.count))
    }
}
