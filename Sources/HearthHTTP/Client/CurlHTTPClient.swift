import Foundation
import HearthBase

/// Sends requests with libcurl: HTTP/1.1 and HTTP/2, proxies from the environment, the system's certificates.
///
/// One thread per client runs libcurl; connections are reused. Only `https` is allowed, and `http` to this machine,
/// which is never reached through a proxy. Bodies are not decompressed.
package final class CurlHTTPClient: HTTPClient {
    private let loop: CurlLoop
    private let lastID = Locked<UInt64>(0)

    /// A client with its own thread, which ends with the client and its last body, and its own connections.
    /// - Parameters:
    ///   - version: sent as `hearth/<version>` in the `User-Agent` header.
    ///   - certificateAuthorities: a PEM file of trusted authorities, in place of the system's.
    package init(version: String = "1", certificateAuthorities: Path? = nil) {
        loop = CurlLoop(
            configuration: CurlConfiguration(
                userAgent: "hearth/\(version)", certificateAuthorities: certificateAuthorities))
        loop.start()
    }

    deinit { loop.close() }

    package func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        let policy = RedirectPolicy(
            maximum: request.pinnedAddresses.isEmpty ? request.maximumRedirects : 0)
        let started = ContinuousClock.now
        var hop = try Hop(request)
        while true {
            try Task.checkCancellation()
            hop.totalTimeout = try request.totalTimeout.map { total in
                let left = total - started.duration(to: .now)
                guard left > .zero else { throw HTTPError.timedOut(hop.address, .total, after: total) }
                return left
            }
            let reader = BodyReader(start(hop), client: self)
            let head = try await reader.head()
            let location = head.headers["Location"]
            guard let next = try policy.next(after: hop, status: head.status, location: location) else {
                return HTTPResponse(
                    status: head.status, headers: head.headers, url: hop.url, body: HTTPBody { try await reader.next() }
                )
            }
            // After an empty body, the connection is free for the next hop. Reading any other body would take too long.
            if head.headers["Content-Length"] == "0" { _ = try await reader.next() }
            hop = next
        }
    }

    private func start(_ hop: Hop) -> Exchange {
        let id = lastID.withLock { lastID in
            lastID += 1
            return lastID
        }
        let exchange = Exchange(id: id, hop: hop) { [weak loop] in _ = loop?.post(.resume($0)) }
        if !loop.post(.start(exchange)) { exchange.finish(.failure(CancellationError())) }
        return exchange
    }

    fileprivate func cancel(_ exchange: Exchange) {
        if exchange.cancel() { loop.post(.cancel(exchange.id)) }
    }
}

/// The consumer's reference to an exchange; releasing it closes the connection.
private final class BodyReader: Sendable {
    private let exchange: Exchange
    private let client: CurlHTTPClient

    init(_ exchange: Exchange, client: CurlHTTPClient) {
        self.exchange = exchange
        self.client = client
    }

    deinit { client.cancel(exchange) }

    func head() async throws -> ResponseHead {
        try await withTaskCancellationHandler {
            try await exchange.head()
        } onCancel: {
            client.cancel(exchange)
        }
    }

    func next() async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            try await exchange.next()
        } onCancel: {
            client.cancel(exchange)
        }
    }
}
