import Foundation
import HearthBase
import HearthHTTP

/// A client without a network that counts the attempts: for code that must never use the network, and for the offline
/// case.
package final class UnreachableClient: HTTPClient {
    private let requests = Locked<[HTTPRequest]>([])

    package init() {}

    /// Every request made, in order.
    package var asked: [HTTPRequest] { requests.withLock { $0 } }

    package func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        requests.withLock { $0.append(request) }
        throw HTTPError(.cannotResolve, "there is no network", context: ErrorContext(url: request.url.absoluteString))
    }
}
