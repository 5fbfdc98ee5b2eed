import Foundation
import HearthBase

/// The signatures of an origin end soon: updates stop then, and installed models keep working.
package struct ExpiringSignatures: Sendable, Hashable {
    /// The name of the origin.
    package let source: String
    package let expires: Date
    private let rest: TimeInterval

    /// How long before the end a person is told.
    package static let notice: TimeInterval = 7 * 86400

    /// `nil` for an origin that is not signed, or whose signatures are valid for longer than seven days.
    package init?(_ source: String, until expires: Date?, now: Date) {
        guard let expires, case let rest = expires.timeIntervalSince(now), rest < Self.notice else { return nil }
        self.source = source
        self.expires = expires
        self.rest = rest
    }

    /// A sentence for people.
    package var sentence: String {
        let days = Int(rest / 86400)
        let when =
            switch days {
            case _ where rest < 0: "expired on \(expires.timestamp)"
            case 0: "expire on \(expires.timestamp), within a day"
            default: "expire on \(expires.timestamp), in \(days) \(days == 1 ? "day" : "days")"
            }
        return "\(source): its signatures \(when). "
            + "Then it brings no updates until its publisher renews them; what is installed keeps working."
    }
}
