import Foundation
import HearthBase
import HearthHTTP

/// A network that nobody reaches, and that counts who tried: for what must never ask it, and for being offline.
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
