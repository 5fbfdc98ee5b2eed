import Foundation

extension URL {
    /// The address without query, fragment, user and password; `nil` if it cannot be parsed.
    package var withoutSecrets: URL? {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
        guard [parts.user, parts.password, parts.query, parts.fragment].contains(where: { $0 != nil }) else {
            return self
        }
        parts.user = nil
        parts.password = nil
        parts.query = nil
        parts.fragment = nil
        return parts.url
    }

    /// The address for messages and records, without what may be secret.
    package var withoutQuery: String { withoutSecrets?.absoluteString ?? "the address" }
}
