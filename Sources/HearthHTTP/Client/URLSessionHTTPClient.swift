#if canImport(Darwin)
import Foundation
import HearthBase

/// Sends requests with `URLSession`: HTTP/1.1 to HTTP/3, the system's proxies and certificates.
///
/// Only `https` is allowed, and `http` to this machine, which is never reached through a proxy. No cookies, caches or stored
/// passwords are used. `Accept-Encoding: identity` is sent, so that bodies are the files' own bytes; the session decodes the body
/// of a server that compresses it nevertheless, whose header still names the coding. Redirects are not followed by the session
/// but by ``RedirectPolicy``, which drops credentials on the way to another host.
///
/// `URLSession` does not tell when a connection was made: the limit for silence holds for connecting, too.
package final class URLSessionHTTPClient: HTTPClient {
    private let delegate: ExchangeDelegate
    /// Through the system's proxies, and past them.
    private let (proxied, direct): (URLSession, URLSession)
    private let lastID = Locked<UInt64>(0)

    /// A client with its own connections, which end with the client and its last body.
    /// - Parameter version: sent as `hearth/<version>` in the `User-Agent` header.
    package init(version: String = "1") {
        let delegate = ExchangeDelegate()
        self.delegate = delegate
        let queue = OperationQueue()
        queue.name = "hearth.http"
        queue.maxConcurrentOperationCount = 1
        func session(_ change: (URLSessionConfiguration) -> Void) -> URLSession {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = ["User-Agent": "hearth/\(version)"]
            configuration.httpCookieStorage = nil
            configuration.httpShouldSetCookies = false
            configuration.urlCache = nil
            configuration.urlCredentialStorage = nil
            configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
            configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
            configuration.waitsForConnectivity = false
            // Callers limit their connections: another limit here would make requests wait for others that stand still.
            configuration.httpMaximumConnectionsPerHost = 256
            change(configuration)
            return URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
        }
        proxied = session { _ in }
        direct = session { $0.connectionProxyDictionary = [:] }
    }

    // A session keeps its delegate until it is told to end.
    deinit {
        proxied.finishTasksAndInvalidate()
        direct.finishTasksAndInvalidate()
    }

    package func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard request.pinnedAddresses.isEmpty else {
            // The session would resolve the name again, and could be led to an address that nothing has checked.
            throw HTTPError(
                .unsupportedURL, "this system's HTTP client cannot keep a name to checked addresses",
                context: ErrorContext(url: request.url.withoutQuery), disposition: .usage)
        }
        return try await request.followingRedirects(start)
    }

    private func start(_ hop: Hop) -> BodyReader {
        let id = lastID.withLock { lastID in
            lastID += 1
            return lastID
        }
        let task = (hop.isDirect ? direct : proxied).dataTask(with: Self.request(hop))
        let exchange = Exchange(id: id, hop: hop) { [weak delegate] _ in delegate?.resume(task) }
        delegate.begin(task, exchange)
        // The reader keeps the client, and with it the session, until the body has ended.
        return BodyReader(exchange) { [self] exchange in
            if exchange.cancel() { delegate.cancel(task) }
        }
    }

    private static func request(_ hop: Hop) -> URLRequest {
        // The delegate keeps the limit for silence; the session's own only has to be longer.
        var request = URLRequest(url: hop.url, timeoutInterval: 2 * hop.idleTimeout.seconds + 60)
        request.httpMethod = hop.method
        request.httpBody = hop.body
        request.httpShouldHandleCookies = false
        var headers = hop.headers
        if headers["Accept-Encoding"] == nil { headers["Accept-Encoding"] = "identity" }
        if let authorization = hop.authorization { headers["Authorization"] = authorization }
        for field in headers.fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
        return request
    }
}
#endif
