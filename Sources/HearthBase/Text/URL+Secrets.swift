import Foundation

extension URL {
    /// The address without query, fragment, user and password; `nil` if it cannot be parsed.
    package var withoutSecrets: URL? {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
        // As written: a part whose triplets are no UTF-8 has no decoded form.
        let secrets = [
            parts.percentEncodedUser, parts.percentEncodedPassword, parts.percentEncodedQuery,
            parts.percentEncodedFragment,
        ]
        guard secrets.contains(where: { $0 != nil }) else { return self }
        parts.percentEncodedUser = nil
        parts.percentEncodedPassword = nil
        parts.percentEncodedQuery = nil
        parts.percentEncodedFragment = nil
        return parts.url
    }

    /// The address for messages and records, without what may be secret.
    package var withoutQuery: String { withoutSecrets?.absoluteString ?? "the address" }
}
