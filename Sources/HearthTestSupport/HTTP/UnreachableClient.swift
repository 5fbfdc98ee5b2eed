import Foundation
import HearthBase
import HearthHTTP

/// A client without a network that counts the attempts: for code that must never use the network, and for being offline.
public final class UnreachableClient: HTTPClient {
    private let requests = Locked<[HTTPRequest]>([])

    public init() {}

    /// Every request made, in order.
    public var asked: [HTTPRequest] { requests.withLock { $0 } }

    public func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        requests.withLock { $0.append(request) }
        throw HTTPError(.cannotResolve, "there is no network", context: ErrorContext(url: request.url.absoluteString))
    }
}
