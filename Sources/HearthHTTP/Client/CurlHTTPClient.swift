#if canImport(CCurl)
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
        try await request.followingRedirects { hop in
            BodyReader(start(hop)) { [self] exchange in
                if exchange.cancel() { loop.post(.cancel(exchange.id)) }
            }
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
}
#endif
