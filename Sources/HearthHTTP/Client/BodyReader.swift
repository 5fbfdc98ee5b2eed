import Foundation
import HearthBase

/// The consumer's reference to an exchange; releasing it closes the connection.
final class BodyReader: Sendable {
    private let exchange: Exchange
    /// Ends the exchange for the consumer, and its connection.
    private let cancel: @Sendable (Exchange) -> Void

    init(_ exchange: Exchange, cancel: @escaping @Sendable (Exchange) -> Void) {
        self.exchange = exchange
        self.cancel = cancel
    }

    deinit { cancel(exchange) }

    func head() async throws -> ResponseHead {
        try await withTaskCancellationHandler {
            try await exchange.head()
        } onCancel: {
            cancel(exchange)
        }
    }

    func next() async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            try await exchange.next()
        } onCancel: {
            cancel(exchange)
        }
    }
}

extension HTTPRequest {
    /// Sends the request and those that its redirects ask for, until a response is final.
    /// - Parameter start: begins one request, without following redirects.
    func followingRedirects(_ start: (Hop) -> BodyReader) async throws -> HTTPResponse {
        let policy = RedirectPolicy(maximum: pinnedAddresses.isEmpty ? maximumRedirects : 0)
        let started = ContinuousClock.now
        var hop = try Hop(self)
        while true {
            try Task.checkCancellation()
            hop.totalTimeout = try totalTimeout.map { total in
                let left = total - started.duration(to: .now)
                guard left > .zero else { throw HTTPError.timedOut(hop.address, .total, after: total) }
                return left
            }
            let reader = start(hop)
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
}
