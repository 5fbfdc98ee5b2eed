import Foundation
import HearthBase

/// A secret that shows itself to nobody: not in a log, not in a dump, not in an error.
public struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The secret itself, for the one who sends it.
    public let value: String

    /// A secret of one line, `nil` for an empty text or one that no header can hold.
    public init?(_ text: some StringProtocol) {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard (1...4096).contains(trimmed.utf8.count), trimmed.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return nil
        }
        value = trimmed
    }

    public var description: String { "(secret)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A client that shows one host a secret, and nobody else.
///
/// The secret goes into no request that another part of the package could write down, and only to the scheme, host and
/// port it was given for; a redirect that leaves them drops it.
public struct HostCredentials: HTTPClient {
    private let base: any HTTPClient
    private let host: HTTPAddress
    private let secret: Secret

    /// Sends `Authorization: Bearer <secret>` with every request to the host of `url`.
    /// - Throws: ``HTTPError`` with `unsupported-url` for a host that no request may be sent to.
    public init(_ base: any HTTPClient, host url: URL, bearer secret: Secret) throws {
        self.base = base
        host = try HTTPAddress(url)
        self.secret = secret
    }

    public func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        // An address that cannot be taken apart is refused by the client itself, in its own words.
        guard let address = try? HTTPAddress(request.url), address.isSameOrigin(as: host), request.authorization == nil
        else { return try await base.execute(request) }
        var request = request
        request.authorization = "Bearer \(secret.value)"
        return try await base.execute(request)
    }
}
