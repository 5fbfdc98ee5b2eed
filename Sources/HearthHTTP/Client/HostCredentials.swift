import Foundation
import HearthBase

/// A secret whose value never appears in logs, dumps or errors.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The secret itself, for sending.
    package let value: String

    /// A secret of one line, `nil` for an empty text or one that a header cannot contain.
    package init?(_ text: some StringProtocol) {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard (1...4096).contains(trimmed.utf8.count), trimmed.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        value = trimmed
    }

    package var description: String { "(secret)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A client that sends a secret to one host only.
///
/// Requests that other parts of the package might log never contain the secret. It is sent only to the given scheme,
/// host and port; a redirect to another host drops it.
package struct HostCredentials: HTTPClient {
    private let base: any HTTPClient
    private let host: HTTPAddress
    private let secret: Secret

    /// Sends `Authorization: Bearer <secret>` with every request to the host of `url`.
    /// - Throws: ``HTTPError`` with `unsupported-url` for a host to which no request may be sent.
    package init(_ base: any HTTPClient, host url: URL, bearer secret: Secret) throws {
        self.base = base
        host = try HTTPAddress(url)
        self.secret = secret
    }

    package func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        // The client refuses a malformed address with its own error.
        guard let address = try? HTTPAddress(request.url), address.isSameOrigin(as: host), request.authorization == nil
        else { return try await base.execute(request) }
        var request = request
        request.authorization = "Bearer \(secret.value)"
        return try await base.execute(request)
    }
}
