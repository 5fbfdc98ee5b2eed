import Foundation

extension URL {
    /// Whether scheme, host and port are the same, so that a secret for one address may be sent to the other. Addresses to
    /// which no request may be sent are of no origin.
    package func isSameOrigin(as other: URL) -> Bool {
        guard let own = try? HTTPAddress(self), let other = try? HTTPAddress(other) else { return false }
        return own.isSameOrigin(as: other)
    }

    /// `host`, or `host:port` for another port than the usual one, in lower case; `nil` for an address to which no request may
    /// be sent.
    package var authority: String? { (try? HTTPAddress(self))?.hostText }
}
